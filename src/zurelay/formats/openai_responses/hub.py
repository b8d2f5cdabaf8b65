"""Responses as a format that callers speak, as far as translation needs it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zurelay.chat.events import Reply
from zurelay.chat.parts import Part, RefusalText, Text, Thinking, ToolCall
from zurelay.chat.request import Request
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, Inbound
from zurelay.formats.call_arguments import complete
from zurelay.formats.openai_responses import read, toolbox
from zurelay.formats.openai_responses import response as shape
from zurelay.formats.openai_responses.back import NAME
from zurelay.formats.openai_responses.output import (
    NO_ARGUMENTS,
    call_item,
    called,
    custom_input,
    message_item,
    proof_item,
    text_part,
)
from zurelay.formats.openai_responses.writer import ResponseWriter
from zurelay.formats.tool_ids import legal
from zurelay.wire import json

Json = dict[str, Any]


class ResponsesHubFront:
    """See `formats.translate.HubFront`."""

    name = NAME
    words: Mapping[str, str] = {
        "max_completion_tokens": "max_output_tokens",
        "max_tokens": "max_output_tokens",
        "messages": "input",
        "messages[].content[].image_url.detail": "input[].content[].detail",
        "reasoning_effort": "reasoning.effort",
        "response_format": "text.format",
        "tools[].function.strict": "tools[].strict",
        "verbosity": "text.verbosity",
    }

    def request(self, inbound: Inbound) -> Request:
        """The caller's request in neutral form."""
        return read.read(inbound)

    def writer(self, context: AnswerContext) -> ResponseWriter:
        """A writer for the caller's event stream."""
        return ResponseWriter(context)

    def reply(self, reply: Reply, usage: Usage, context: AnswerContext) -> bytes:
        """A plain answer for the caller."""
        choice = reply.choices[0]
        status = shape.status_of(choice.finish_reason)
        same = shape.repeated(context.asked)
        output = _output(choice.parts, context, status)
        return json.encode(
            shape.response(context, same, status, output, usage, reason=choice.finish_reason)
        )


def _output(parts: Sequence[Part], context: AnswerContext, status: str) -> list[Json]:
    """The items that the stream of the same answer would tell."""
    offered = toolbox.of_request(context.asked)
    groups = list(_groups(parts))
    out: list[Json] = []
    for place, group in enumerate(groups):
        first = group[0]
        last = place == len(groups) - 1
        broken = isinstance(first, ToolCall) and not complete(first.arguments)
        ends = status if last or broken else "completed"
        if isinstance(first, Thinking):
            own = shape.item_id(context, "rs", place)
            out.append(proof_item(own, first.text, group[-1] if group[-1].signature else None))
        elif isinstance(first, ToolCall):
            tool = called(first.name, offered)
            own = shape.item_id(context, "ctc" if tool.custom else "fc", place)
            said = custom_input(first.arguments) if tool.custom else first.arguments or NO_ARGUMENTS
            out.append(call_item(own, legal(first.id, "max64"), tool, said, ends))
        else:
            content = [
                text_part("refusal" if isinstance(part, RefusalText) else "text", part.text)
                for part in group
            ]
            out.append(message_item(shape.item_id(context, "msg", place), ends, content))
    return out


def _groups(parts: Iterable[Part]) -> Iterable[list[Any]]:
    """Parts that make one item: all that is said in a row; a thought and the proof after it."""
    group: list[Any] = []
    for part in parts:
        if isinstance(part, Text | RefusalText) and not part.text:
            continue
        if isinstance(part, Thinking) and not (part.text or part.signature):
            continue
        if group and not _joins(group, part):
            yield group
            group = []
        group.append(part)
    if group:
        yield group


def _joins(group: list[Any], part: Part) -> bool:
    last = group[-1]
    if isinstance(part, Text | RefusalText):
        return isinstance(last, Text | RefusalText)
    bare = isinstance(part, Thinking) and bool(part.signature) and not part.text
    return bare and isinstance(last, Thinking) and last.signature is None
