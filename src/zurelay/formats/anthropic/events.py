"""Reads a Messages answer, streamed or plain, into neutral events.

Counts in a stream are cumulative: the last of each holds. An answer is whole with its stop reason.
Tolerates unknown events, blocks and deltas, which are skipped, and frames without an event name.
"""

from dataclasses import dataclass
from typing import Any

from zurelay.chat.events import (
    Event,
    FinishReason,
    RefusalDelta,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.anthropic import ORIGIN, errors
from zurelay.formats.anthropic import usage as counts
from zurelay.formats.base import AnswerContext
from zurelay.formats.event_stream import EventStream
from zurelay.formats.origin import origin
from zurelay.formats.tool_ids import minter
from zurelay.wire import json

Json = dict[str, Any]

FINISH: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""Anything else is `stop`: end_turn, stop_sequence, and pause_turn, which server tools make."""


@dataclass(slots=True)
class _Block:
    """A block under way. `call` is its number among the calls, -1 for other blocks."""

    kind: str
    call: int = -1
    signature: str = ""
    arguments: bool = False


class MessageReader:
    """Reads the events of one answer, already parsed.

    Attributes:
        finished: its stop reason came.
        begun: something was told.
        over: the last event came.
    """

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._origin = origin(context.profile.realm, ORIGIN)
        self._mint = minter(context.answer_id)
        self._blocks: dict[object, _Block] = {}
        self._usage: Json = {}
        self._ids: set[str] = set()
        self._calls = 0
        self.finished = False
        self.begun = False
        self.over = False

    def event(self, event: Json) -> list[Event] | Fault:
        """What one event says."""
        kind = event.get("type")
        if kind == "error":
            return errors.fault_inside(event, self._context.profile)
        if kind == "message_start":
            return self._count(_object(event.get("message")).get("usage"))
        if kind == "content_block_start":
            return self._start(event.get("index"), _object(event.get("content_block")))
        if kind == "content_block_delta":
            return self._delta(event.get("index"), _object(event.get("delta")))
        if kind == "content_block_stop":
            return self._stop(event.get("index"))
        if kind == "message_delta":
            return self._end(_object(event.get("delta")), event.get("usage"))
        if kind == "message_stop":
            self.over = self.finished
        return []

    def whole(self, message: Json) -> list[Event] | Fault:
        """A plain answer, as the events that it would have been."""
        if message.get("type") == "error" or message.get("error"):
            return errors.fault_inside(message, self._context.profile)
        content = message.get("content")
        if not isinstance(content, list):
            return Fault(FaultKind.BAD_ANSWER, "an answer without content", status=200)
        out: list[Event] = []
        for place, block in enumerate(content):
            out += self._start(place, _object(block))
            out += self._stop(place)
        return out + self._end(message, message.get("usage"))

    def _count(self, usage: object) -> list[Event]:
        self._usage = counts.merged(self._usage, usage)
        found = counts.read(self._usage) if isinstance(usage, dict) else None
        return [] if found is None else [UsageSeen(found)]

    def _start(self, index: object, raw: Json) -> list[Event]:
        kind = str(raw.get("type"))
        block = self._blocks[index] = _Block(kind)
        if kind == "text":
            return self._say(raw.get("text"))
        if kind == "thinking":
            block.signature = _word(raw.get("signature"))
            return [ThinkingStarted(), *self._think(raw.get("thinking"))]
        if kind == "redacted_thinking":
            data = _word(raw.get("data"))
            proof = [ThinkingSigned(data, self._origin, redacted=True)] if data else []
            return [ThinkingStarted(), *proof]
        if kind == "tool_use":
            return self._call(block, raw)
        return []

    def _call(self, block: _Block, raw: Json) -> list[Event]:
        block.call = self._calls
        self._calls += 1
        self.begun = True
        call_id = _word(raw.get("id"))
        if not call_id or call_id in self._ids:
            call_id = self._mint(0, block.call)
        self._ids.add(call_id)
        name = _word(raw.get("name"))
        name = self._context.tool_names.get(name, name)
        out: list[Event] = [ToolCallStarted(block.call, call_id, name)]
        if raw.get("input"):  # whole at once: in plain answers, and at some hosts in streams too
            block.arguments = True
            out.append(ToolCallDelta(block.call, json.encode(raw["input"]).decode()))
        return out

    def _delta(self, index: object, delta: Json) -> list[Event]:
        block = self._blocks.get(index) or _Block("text")
        kind = delta.get("type")
        if kind == "text_delta":
            return self._say(delta.get("text"))
        if kind == "thinking_delta":
            return self._think(delta.get("thinking"))
        if kind == "signature_delta":
            block.signature += _word(delta.get("signature"))
        elif kind == "input_json_delta" and block.call >= 0:
            piece = _word(delta.get("partial_json"))
            if piece:
                block.arguments = True
                return [ToolCallDelta(block.call, piece)]
        return []

    def _stop(self, index: object) -> list[Event]:
        block = self._blocks.pop(index, None)
        if block is None:
            return []
        if block.signature:
            return [ThinkingSigned(block.signature, self._origin)]
        if block.call >= 0 and not block.arguments:
            return [ToolCallDelta(block.call, "{}")]
        return []

    def _end(self, delta: Json, usage: object) -> list[Event]:
        out = self._count(usage)
        reason = delta.get("stop_reason")
        if not isinstance(reason, str) or self.finished:
            return out
        for index in list(self._blocks):
            out += self._stop(index)
        if reason == "refusal":
            details = _object(delta.get("stop_details"))
            said = _word(details.get("explanation"))
            out += [RefusalDelta(said)] if said else []
        self.finished = True
        found = FINISH.get(reason, "stop")
        if self._calls and found == "stop":
            found = "tool_calls"
        elif not self._calls and found == "tool_calls":
            found = "stop"
        sequence = delta.get("stop_sequence")
        return [*out, Stopped(found, 0, sequence if isinstance(sequence, str) else None)]

    def _say(self, text: object) -> list[Event]:
        if not isinstance(text, str) or not text:
            return []
        self.begun = True
        return [TextDelta(text)]

    def _think(self, text: object) -> list[Event]:
        if not isinstance(text, str) or not text:
            return []
        self.begun = True
        return [ThinkingDelta(text)]


def event_stream(context: AnswerContext) -> EventStream:
    """A reader for the upstream's event stream."""
    return EventStream(MessageReader(context), "its stop reason")


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
