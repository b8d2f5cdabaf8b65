"""Messages as a format that callers speak, as far as translation needs it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zurelay.chat.events import Choice, Reply
from zurelay.chat.parts import Part, RefusalText, Text, Thinking, ToolCall
from zurelay.chat.request import Request
from zurelay.chat.usage import Usage
from zurelay.formats.anthropic import NAME, envelope, read
from zurelay.formats.anthropic import usage as counts
from zurelay.formats.anthropic.writer import MessageWriter, message, stop_reason
from zurelay.formats.base import AnswerContext, Inbound
from zurelay.formats.call_arguments import as_object
from zurelay.formats.tool_ids import legal
from zurelay.wire import json

Json = dict[str, Any]


class MessagesHubFront:
    """See `formats.translate.HubFront`."""

    name = NAME
    words: Mapping[str, str] = {
        "max_completion_tokens": "max_tokens",
        "reasoning_effort": "output_config.effort",
        "response_format": "output_config.format",
        "stop": "stop_sequences",
        "parallel_tool_calls": "tool_choice.disable_parallel_tool_use",
        "tools[].function.strict": "tools[].strict",
    }

    def request(self, inbound: Inbound) -> Request:
        """The caller's request in neutral form."""
        return read.read(inbound)

    def writer(self, context: AnswerContext) -> MessageWriter:
        """A writer for the caller's event stream."""
        return MessageWriter(context)

    def reply(self, reply: Reply, usage: Usage, context: AnswerContext) -> bytes:
        """A plain answer for the caller."""
        choice: Choice = reply.choices[0]
        refused = any(isinstance(part, RefusalText) for part in choice.parts)
        sequence = choice.sequence if choice.finish_reason == "stop" else None
        body = {
            **message(context, usage),
            "content": list(_blocks(_ordered(choice.parts), context.profile.realm)),
            "stop_reason": stop_reason(choice.finish_reason, sequence, refused=refused),
            "stop_sequence": sequence,
            "usage": counts.write(usage),
        }
        return json.encode(body)


def _ordered(parts: Sequence[Part]) -> Sequence[Part]:
    """The parts with no proof after the last text: that stands before it, as clients expect."""
    end = len(parts)
    while end and _is_proof(parts[end - 1]):
        end -= 1
    if end in (0, len(parts)) or not isinstance(parts[end - 1], Text | RefusalText):
        return parts
    return (*parts[: end - 1], *parts[end:], parts[end - 1])


def _is_proof(part: Part) -> bool:
    return isinstance(part, Thinking) and not part.text and part.origin != envelope.NATIVE


def _blocks(parts: Iterable[Part], realm: str) -> Iterable[Json]:
    """Content blocks; a proof without a text of its own belongs to the thinking before it."""
    waiting: Thinking | None = None
    for part in parts:
        if isinstance(part, Thinking):
            bare = part.signature and (part.redacted or part.call_id) and part.origin
            if bare and part.origin != envelope.NATIVE and waiting is not None:
                yield _thinking(waiting.text, part, realm)
                waiting = None
                continue
            if waiting is not None:
                yield _thinking(waiting.text, waiting, realm)
            waiting = part if part.signature is None else None
            if part.signature is not None:
                yield _thinking(part.text, part, realm)
            continue
        if waiting is not None:
            yield _thinking(waiting.text, waiting, realm)
            waiting = None
        yield from _block(part)
    if waiting is not None:
        yield _thinking(waiting.text, waiting, realm)


def _thinking(text: str, proof: Thinking, realm: str) -> Json:
    if proof.signature is None:
        return {"type": "thinking", "thinking": text, "signature": envelope.unsigned(realm)}
    if proof.redacted and proof.origin == envelope.NATIVE and proof.call_id is None:
        return {"type": "redacted_thinking", "data": proof.signature}
    signature = envelope.seal(proof.signature, proof.origin, proof.redacted, proof.call_id)
    return {"type": "thinking", "thinking": text, "signature": signature}


def _block(part: Part) -> Iterable[Json]:
    if isinstance(part, Text | RefusalText) and part.text:
        yield {"type": "text", "text": part.text}
    elif isinstance(part, ToolCall):
        yield {
            "type": "tool_use",
            "id": legal(part.id, "max64"),
            "name": part.name,
            "input": as_object(part.arguments),
        }
