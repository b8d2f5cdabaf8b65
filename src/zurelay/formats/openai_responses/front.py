"""The front that speaks Responses: callers' bodies in, problems out."""

import msgspec

from zurelay.chat.problems import Problem, Refused
from zurelay.formats import json_body
from zurelay.formats.base import AnswerContext, Inbound
from zurelay.formats.openai_chat import errors
from zurelay.formats.openai_chat.checks import alternatives, stays_here
from zurelay.formats.openai_chat.view import text
from zurelay.formats.openai_responses import checks, conversation
from zurelay.formats.openai_responses.back import NAME
from zurelay.formats.openai_responses.invalid import invalid, missing, of_decoder
from zurelay.formats.openai_responses.toolbox import LITE
from zurelay.formats.openai_responses.view import REQUEST, Request
from zurelay.formats.openai_responses.writer import ResponseWriter

_SCHEMAS = ("tools", "text")


class ResponsesFront:
    """See `formats.base.Front`."""

    name = NAME
    answer_prefix = "resp_"
    keep_alive = keep_alive_inside = b": keep-alive\n\n"
    headers: tuple[str, ...] = (LITE,)

    def read(self, body: bytes) -> Inbound:
        """Validate a decoded body; raises Refused naming the field and what would be right."""
        fields = json_body.fields(body)
        view = _view(body)
        if not view.model:
            raise Refused(
                missing("model") if view.model is None else invalid("model", "an empty string")
            )
        checks.stateless(view)
        checks.numbers(view)
        stays_here(view)
        seen = conversation.Seen()
        conversation.check(view.instructions, view.input, seen)
        checks.tools(view, seen)
        checks.text(view, seen)
        seen.texts += [text(fields[name]) for name in _SCHEMAS if name in fields]
        return Inbound(
            front=NAME,
            body=fields,
            model=view.model,
            stream=bool(view.stream),
            include_usage=True,
            alternatives=alternatives(view.models),
            effort=view.reasoning.effort if view.reasoning else None,
            max_output=view.max_output_tokens,
            needs=seen.needs,
            user=view.user,
            metadata=view.metadata,
            safety_identifier=view.safety_identifier,
            cache_key=view.prompt_cache_key,
            text_length=seen.text_length,
            media_count=seen.media_count,
            turns=len(view.input) if isinstance(view.input, list) else 1,
            opening=seen.opening,
            marks=frozenset(seen.marks),
        )

    def problem_body(self, problem: Problem, request_id: str) -> tuple[int, bytes]:  # noqa: ARG002 - other formats show it
        """Status and JSON body of an error answer."""
        return problem.status, errors.problem_body(problem)

    def problem_event(self, problem: Problem, request_id: str) -> bytes:  # noqa: ARG002 - likewise
        """The event for a stream of which nothing is known."""
        error = {
            "type": "error",
            "code": problem.code,
            "message": problem.message,
            "param": problem.param,
            "sequence_number": 0,
        }
        return b"event: error\ndata: " + msgspec.json.encode(error) + b"\n\n"

    def failure(self, problem: Problem, context: AnswerContext) -> bytes:
        """See `formats.base.FailingFront`."""
        return ResponseWriter(context).failure(problem)


def _view(body: bytes) -> Request:
    try:
        return REQUEST.decode(body)
    except msgspec.ValidationError as error:
        raise Refused(of_decoder(error)) from None
    except msgspec.DecodeError as error:
        raise Refused(json_body.bad(str(error))) from None
