"""The front that speaks Messages: callers' bodies in, problems out."""

import msgspec

from zurelay.chat.problems import Problem, Refused
from zurelay.formats import json_body
from zurelay.formats.anthropic import NAME, checks
from zurelay.formats.anthropic import problem as shape
from zurelay.formats.anthropic.identity import person
from zurelay.formats.anthropic.invalid import invalid, missing, of_decoder
from zurelay.formats.anthropic.view import REQUEST, Request
from zurelay.formats.base import Inbound
from zurelay.formats.openai_chat.checks import alternatives
from zurelay.formats.openai_chat.view import text
from zurelay.formats.seen import Seen

_SCHEMAS = ("tools", "output_config")


class MessagesFront:
    """See `formats.base.Front`."""

    name = NAME
    answer_prefix = "msg_"
    keep_alive = b": keep-alive\n\n"
    keep_alive_inside = b'event: ping\ndata: {"type":"ping"}\n\n'
    headers: tuple[str, ...] = ("anthropic-version", "anthropic-beta")

    def read(self, body: bytes) -> Inbound:
        """Validate a decoded body; raises Refused naming the field and what would be right."""
        return _read(body, limited=True)

    def problem_body(self, problem: Problem, request_id: str) -> tuple[int, bytes]:
        """Status and JSON body of an error answer."""
        return shape.status(problem), shape.body(problem, request_id)

    def problem_event(self, problem: Problem, request_id: str) -> bytes:
        """The error event for a stream that is open; never followed by an end mark."""
        return shape.event(problem, request_id)


class CountFront(MessagesFront):
    """Reads what is only to be counted: it needs no token limit."""

    name = f"{NAME}_count"

    def read(self, body: bytes) -> Inbound:
        """As `MessagesFront.read`."""
        return _read(body, limited=False)


def _read(body: bytes, *, limited: bool) -> Inbound:
    fields = json_body.fields(body)
    view = _view(body)
    if not view.model:
        raise Refused(
            missing("model") if view.model is None else invalid("model", "an empty string")
        )
    checks.options(view, limited=limited)
    seen = Seen()
    checks.conversation(view, seen)
    checks.tools(view, seen)
    checks.stored(view, seen)
    effort = checks.output(view, seen)
    seen.texts += [text(fields[name]) for name in _SCHEMAS if name in fields]
    user, metadata = person(view.metadata.user_id if view.metadata else None)
    return Inbound(
        front=NAME,
        body=fields,
        model=view.model,
        stream=bool(view.stream),
        include_usage=True,
        alternatives=alternatives(view.models),
        effort=effort,
        max_output=view.max_tokens,
        needs=seen.needs,
        stop=tuple(view.stop_sequences or ()),
        user=user,
        metadata=metadata,
        text_length=seen.text_length,
        media_count=seen.media_count,
        turns=len(view.messages or ()),
        opening=seen.opening,
        marks=frozenset(seen.marks),
    )


def _view(body: bytes) -> Request:
    try:
        return REQUEST.decode(body)
    except msgspec.ValidationError as error:
        raise Refused(of_decoder(error)) from None
    except msgspec.DecodeError as error:
        raise Refused(json_body.bad(str(error))) from None
