"""The front that speaks Chat Completions: callers' bodies in, problems out."""

import msgspec

from zurelay.chat.problems import Problem, Refused
from zurelay.formats import json_body
from zurelay.formats.base import Inbound
from zurelay.formats.openai_chat import checks, errors, messages
from zurelay.formats.openai_chat.invalid import invalid, missing, of_decoder
from zurelay.formats.openai_chat.view import REQUEST, Request, text
from zurelay.formats.seen import Seen

NAME = "openai_chat"


class ChatFront:
    """See `formats.base.Front`."""

    name = NAME
    answer_prefix = "chatcmpl-"
    keep_alive = keep_alive_inside = b": keep-alive\n\n"
    headers: tuple[str, ...] = ()

    def read(self, body: bytes) -> Inbound:
        """Validate a decoded body; raises Refused naming the field and what would be right."""
        fields = json_body.fields(body)
        try:
            view = REQUEST.decode(body)
        except msgspec.ValidationError as error:
            raise Refused(of_decoder(error)) from None
        except msgspec.DecodeError as error:
            raise Refused(json_body.bad(str(error))) from None
        if not view.model:
            raise Refused(
                missing("model") if view.model is None else invalid("model", "an empty string")
            )
        checks.numbers(view)
        checks.stays_here(view)
        seen = Seen()
        messages.check(view.messages, seen)
        if view.tools is not None or view.tool_choice is not None:
            checks.tools(view, seen)
            if "tools" in fields:
                seen.texts.append(text(fields["tools"]))
        if view.response_format is not None:
            checks.answer_format(view.response_format, seen)
            seen.texts.append(text(fields["response_format"]))
        options = view.stream_options
        return Inbound(
            front=NAME,
            body=fields,
            model=view.model,
            stream=bool(view.stream),
            include_usage=bool(options and options.include_usage),
            alternatives=checks.alternatives(view.models),
            effort=view.reasoning_effort,
            max_output=_limit(view),
            choices=view.n or 1,
            needs=seen.needs,
            stop=checks.stops(view.stop, seen.marks),
            user=view.user,
            metadata=view.metadata,
            safety_identifier=view.safety_identifier,
            cache_key=view.prompt_cache_key,
            text_length=seen.text_length,
            media_count=seen.media_count,
            turns=len(view.messages or ()),
            opening=seen.opening,
            marks=frozenset(seen.marks),
        )

    def problem_body(self, problem: Problem, request_id: str) -> tuple[int, bytes]:  # noqa: ARG002 - other formats show it
        """Status and JSON body of an error answer."""
        return problem.status, errors.problem_body(problem)

    def problem_event(self, problem: Problem, request_id: str) -> bytes:  # noqa: ARG002 - likewise
        """The error event for a stream that is open; never followed by an end mark."""
        return b"data: " + errors.problem_body(problem) + b"\n\n"


def _limit(view: Request) -> int | None:
    if view.max_completion_tokens is not None:
        return view.max_completion_tokens
    return view.max_tokens
