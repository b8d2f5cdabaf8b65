"""One Converse answer, as neutral events: blocks that grow, and whole ones. Knows no frames."""

from collections.abc import Mapping
from typing import Any

from zurelay.chat.events import (
    Event,
    FinishReason,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
)
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.base import AnswerContext
from zurelay.formats.converse import made_here
from zurelay.formats.tool_ids import minter
from zurelay.wire import json

Json = dict[str, Any]

_REASONS: Mapping[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}
_UNSHARED = "[REDACTED]"
"""What Nova 2 writes in place of its thinking (vendor's page on reasoning, 2026-11-29)."""
_MALFORMED = frozenset({"malformed_model_output", "malformed_tool_use"})


class BlockReader:
    """Reads the blocks of one answer.

    Attributes:
        begun: something was told.
        finished: its stop reason was read.
    """

    def __init__(self, context: AnswerContext) -> None:
        self._profile = context.profile
        self._names = context.tool_names
        self._mint = minter(context.answer_id)
        self._calls: dict[object, int] = {}  # place of a block -> number of its call
        self._bare: set[object] = set()  # calls of whose arguments nothing was told
        self._thinking: set[object] = set()
        self._proofs: dict[object, list[str]] = {}
        self._ids: set[str] = set()
        self.begun = False
        self.finished = False

    def start(self, event: Json) -> list[Event]:
        """A block began; only calls say so."""
        call = _object(_object(event.get("start")).get("toolUse"))
        name = _word(call.get("name"))
        if not name:
            return []
        place, index = event.get("contentBlockIndex"), len(self._calls)
        self._calls[place] = index
        self._bare.add(place)
        call_id = _word(call.get("toolUseId"))
        if not call_id or call_id in self._ids:
            call_id = self._mint(0, index)
        self._ids.add(call_id)
        self.begun = True
        return [ToolCallStarted(index, call_id, self._names.get(name, name))]

    def delta(self, event: Json) -> list[Event]:
        """A block grew."""
        place, delta = event.get("contentBlockIndex"), _object(event.get("delta"))
        if text := _word(delta.get("text")):
            self.begun = True
            return [TextDelta(text)]
        if arguments := _word(_object(delta.get("toolUse")).get("input")):
            index = self._calls.get(place)
            self._bare.discard(place)
            return [] if index is None else [ToolCallDelta(index, arguments)]
        if "reasoningContent" in delta:
            return self._think(place, _object(delta["reasoningContent"]))
        return []

    def stop(self, event: Json) -> list[Event]:
        """A block is whole."""
        place = event.get("contentBlockIndex")
        if place in self._bare:
            self._bare.discard(place)
            return [ToolCallDelta(self._calls[place], "{}")]
        proof = "".join(self._proofs.pop(place, ()))
        if not proof:
            return []
        return [ThinkingSigned(proof, made_here(self._profile, redacted=False))]

    def whole(self, place: int, block: Json) -> list[Event]:
        """A block of a plain answer, as the events that would have told it."""
        at = {"contentBlockIndex": place}
        if isinstance(block.get("toolUse"), dict):
            call = block["toolUse"]
            arguments = json.encode(call.get("input") or {}).decode()
            told = self.start({**at, "start": {"toolUse": call}})
            return told + self.delta({**at, "delta": {"toolUse": {"input": arguments}}})
        if isinstance(block.get("reasoningContent"), dict):
            thought = block["reasoningContent"]
            inner = _object(thought.get("reasoningText"))
            pieces = [{"text": inner.get("text")}, {"signature": inner.get("signature")}, thought]
            told = [e for each in pieces for e in self._think(place, each)]
            return told + self.stop(at)
        if isinstance(block.get("citationsContent"), dict):
            cited = block["citationsContent"].get("content")
            texts = [_word(_object(each).get("text")) for each in cited or ()]
            return self.delta({"delta": {"text": "".join(texts)}})
        return self.delta({"delta": {"text": block.get("text")}})

    def last(self, reason: object) -> list[Event] | Fault:
        """The stop reason, which makes the answer complete."""
        if reason in _MALFORMED:
            return Fault(FaultKind.MODEL_FAULT, f"the model stopped with {reason}", status=200)
        out: list[Event] = [e for place in list(self._bare) for e in self._close(place)]
        self.finished = True
        told = _REASONS.get(str(reason), "tool_calls" if self._calls else "stop")
        return [*out, Stopped(told)]

    def _close(self, place: object) -> list[Event]:
        return self.stop({"contentBlockIndex": place})

    def _think(self, place: object, thought: Json) -> list[Event]:
        out: list[Event] = []
        if place not in self._thinking:
            self._thinking.add(place)
            out.append(ThinkingStarted())
        text = _word(thought.get("text"))
        if text and text != _UNSHARED:
            self.begun = True
            out.append(ThinkingDelta(text))
        if proof := _word(thought.get("signature")):
            self._proofs.setdefault(place, []).append(proof)
        if hidden := _word(thought.get("redactedContent")):
            origin = made_here(self._profile, redacted=True)
            out.append(ThinkingSigned(hidden, origin, redacted=True))
        return out


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
