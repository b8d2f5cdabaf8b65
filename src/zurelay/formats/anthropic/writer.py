"""Writes neutral events as a Messages stream. See `formats.translate.EventWriter`.

One content block is open at a time, so calls that come interleaved wait for the one before them:
the first open call streams, what comes beside it is kept in its order.

An answer never ends with a proof of another vendor that came after its text: Anthropic's do not,
and clients take the last block for the answer. Nobody asks for that proof; it is left out.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from zurelay.chat.events import (
    Event,
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
from zurelay.chat.usage import Usage
from zurelay.formats.anthropic import envelope
from zurelay.formats.anthropic import usage as counts
from zurelay.formats.base import AnswerContext
from zurelay.formats.call_arguments import complete
from zurelay.formats.tool_ids import legal
from zurelay.wire import json

Json = dict[str, Any]

STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
MESSAGE_STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


def stop_reason(reason: str, sequence: str | None, *, refused: bool) -> str:
    """The stop reason callers see. `refused`: the model said in its own words that it will not."""
    if reason == "stop" and sequence is not None:
        return "stop_sequence"
    return "refusal" if reason == "stop" and refused else STOP_REASONS[reason]


def frame(kind: str, fields: Json) -> bytes:
    """One event."""
    data = json.encode({"type": kind, **fields})
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"


def message(context: AnswerContext, usage: Usage) -> Json:
    """A message as it begins."""
    return {
        "id": context.answer_id,
        "type": "message",
        "role": "assistant",
        "model": context.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counts.write(usage),
    }


class MessageWriter:
    """The writer of one answer."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._usage = Usage(input=context.prompt_estimate, estimated=True)
        self._started = False
        self._out: list[bytes] = []
        self._index = -1
        self._open = ""  # the type of the open block
        self._call = -1  # the open call's number
        self._arguments = ""
        self._waiting: deque[Event] = deque()
        self._proofs: list[ThinkingSigned] = []  # after a text; told if anything follows
        self._refused = False
        self._reason = "end_turn"
        self._sequence: str | None = None

    def write(self, events: Sequence[Event]) -> bytes:
        """The events for some neutral ones."""
        for event in events:
            if isinstance(event, UsageSeen):
                self._usage = event.usage
            elif isinstance(event, Stopped):
                self._stop(event)
            elif getattr(event, "choice", 0) == 0 and not isinstance(event, ThinkingStarted):
                self._take(event)
        out, self._out = b"".join(self._out), []
        return out

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        self._start()
        delta = {"stop_reason": self._reason, "stop_sequence": self._sequence}
        self._out.append(frame("message_delta", {"delta": delta, "usage": counts.write(usage)}))
        out, self._out = b"".join(self._out), []
        return out + comment + MESSAGE_STOP

    def _stop(self, event: Stopped) -> None:
        if event.choice:
            return
        self._start()
        self._close()
        while self._waiting:
            self._drain()
            self._close()
        sequence = event.sequence if event.reason == "stop" else None
        self._reason = stop_reason(event.reason, sequence, refused=self._refused)
        self._sequence = sequence

    def _take(self, event: Event) -> None:
        if self._call >= 0:
            if isinstance(event, ToolCallDelta) and event.index == self._call:
                self._one(event)
                return
            self._waiting.append(event)
            if complete(self._arguments):
                self._close()
                self._drain()
            return
        self._one(event)

    def _drain(self) -> None:
        """Write what waited, up to a call whose arguments are still to come."""
        while self._waiting:
            event = self._waiting.popleft()
            self._one(event)
            if not isinstance(event, ToolCallStarted):
                continue
            rest: deque[Event] = deque()
            for other in self._waiting:
                if isinstance(other, ToolCallDelta) and other.index == event.index:
                    self._one(other)
                else:
                    rest.append(other)
            self._waiting = rest
            if not rest or not complete(self._arguments):
                return
            self._close()

    def _one(self, event: Event) -> None:
        if isinstance(event, ThinkingSigned):
            if self._open == "text" and event.origin != envelope.NATIVE:
                self._proofs.append(event)
            else:
                self._sign(event)
            return
        follows = isinstance(event, ToolCallStarted) or bool(getattr(event, "text", None))
        if self._proofs and follows:
            for proof in self._proofs:
                self._sign(proof)
            self._proofs = []
        match event:
            case TextDelta(text):
                self._say("text", text)
            case RefusalDelta(text):
                self._refused = True
                self._say("text", text)
            case ThinkingDelta(text):
                self._say("thinking", text)
            case ToolCallStarted(index, call_id, name):
                self._begin("tool_use", {"id": legal(call_id, "max64"), "name": name, "input": {}})
                self._call, self._arguments = index, ""
            case ToolCallDelta(index, arguments):
                if index == self._call and arguments:
                    self._arguments += arguments
                    self._delta({"type": "input_json_delta", "partial_json": arguments})
            case _:
                pass

    def _say(self, kind: str, text: str) -> None:
        if not text:
            return
        if self._open != kind:
            proof = {"signature": ""} if kind == "thinking" else {}
            self._begin(kind, {kind: "", **proof})
        self._delta({"type": f"{kind}_delta", kind: text})

    def _sign(self, event: ThinkingSigned) -> None:
        if event.redacted and event.origin == envelope.NATIVE and event.call_id is None:
            self._begin("redacted_thinking", {"data": event.signature})
            self._close()
            return
        if self._open != "thinking":
            self._begin("thinking", {"thinking": "", "signature": ""})
        self._close(envelope.seal(event.signature, event.origin, event.redacted, event.call_id))

    def _begin(self, kind: str, fields: Json) -> None:
        self._start()
        self._close()
        self._index += 1
        self._open = kind
        block = {"type": kind, **fields}
        self._out.append(
            frame("content_block_start", {"index": self._index, "content_block": block})
        )

    def _delta(self, delta: Json) -> None:
        self._out.append(frame("content_block_delta", {"index": self._index, "delta": delta}))

    def _close(self, signature: str = "") -> None:
        if not self._open:
            return
        if self._open == "thinking":
            proof = signature or envelope.unsigned(self._context.profile.realm)
            self._delta({"type": "signature_delta", "signature": proof})
        self._out.append(frame("content_block_stop", {"index": self._index}))
        self._open, self._call = "", -1

    def _start(self) -> None:
        if self._started:
            return
        self._started = True
        self._out.append(frame("message_start", {"message": message(self._context, self._usage)}))
