"""A stream that stays in this format: the upstream's events under our id and model.

A delta of text, thinking or arguments passes as it is after one look by a typed view. The end of
the message is told by `finale`, so that nothing stands after it.
"""

from typing import Any

import msgspec
from msgspec import Struct

from zurelay.chat.estimate import estimated, weight
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.anthropic import errors
from zurelay.formats.anthropic import usage as counts
from zurelay.formats.anthropic.events import FINISH
from zurelay.formats.anthropic.writer import MESSAGE_STOP, frame
from zurelay.formats.base import AnswerContext, Progress, WholeAnswer
from zurelay.formats.event_stream import parsed
from zurelay.wire import json
from zurelay.wire.sse import Frame, FrameReader, FrameTooLong

Json = dict[str, Any]

PRIVATE = frozenset({"error", "provider", "cost"})
"""Fields by which hosts talk about themselves."""

_DELTA = b"event: content_block_delta\ndata: "
_SILENT = frozenset({"ping", "message_stop"})
"""Events that are not handed on: silences are filled here, and the end comes last."""


class _TapDelta(Struct):
    type: str
    text: str = ""
    thinking: str = ""
    partial_json: str = ""


class _Tap(Struct):
    type: str
    delta: _TapDelta


_TAP = msgspec.json.Decoder(_Tap)
_TOKENS = frozenset({"text_delta", "thinking_delta", "input_json_delta"})


def is_empty(reason: str | None, *, said: bool, context: AnswerContext) -> bool:
    """Whether an answer holds nothing and nothing explains it."""
    return not said and not context.may_be_empty and reason in (None, "end_turn", "tool_use")


class MessageStream:
    """What all readers of a stream share: frames in, events out, progress told."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._frames = FrameReader()
        self._usage: Json = {}
        self._said = False
        self._ended = False
        self.usage: Usage | None = None
        self.finish_reason: str | None = None
        self.delivered_length = 0

    def feed(self, chunk: bytes) -> Progress:
        """Take the next bytes, cut anywhere."""
        progress = Progress()
        try:
            frames = self._frames.feed(chunk)
        except FrameTooLong as error:
            return self._too_long(error)
        self._take(frames, progress)
        return progress

    def end(self) -> Progress:
        """The upstream's bytes are over."""
        progress = Progress()
        try:
            self._take(self._frames.end(), progress, closing=True)
        except FrameTooLong as error:
            progress = self._too_long(error)
        if progress.fault is None and self.finish_reason is None:
            told = "the stream ended before its stop reason"
            progress.fault = Fault(FaultKind.BROKE_OFF, told, status=200)
        return progress

    def _too_long(self, error: FrameTooLong) -> Progress:
        progress = Progress()
        self._take(error.frames, progress)
        if progress.fault is None and self.finish_reason is None:
            progress.fault = Fault(FaultKind.BAD_ANSWER, str(error), status=200)
        return progress

    def _take(self, frames: list[Frame], progress: Progress, *, closing: bool = False) -> None:
        out: list[bytes] = []
        progress.alive = bool(frames)
        for one in frames:
            if self._ended:
                break
            event = parsed(one, lenient=closing or self._said)
            fault = event if isinstance(event, Fault) else self._one(event, one, progress, out)
            if fault is not None:
                progress.fault = fault
                break
        progress.out = b"".join(out)
        progress.ended = self._ended

    def _one(self, event: Json, one: Frame, progress: Progress, out: list[bytes]) -> Fault | None:
        kind = event.get("type")
        if kind == "error":
            if self.finish_reason is not None:
                return None
            return errors.fault_inside(event, self._context.profile)
        if kind == "message_start":
            self._start(event)
        elif kind == "content_block_start":
            self._block(event, progress)
        elif kind == "content_block_delta":
            progress.token |= self._delta(event.get("delta"))
        elif kind == "message_delta":
            fault = self._stop(event, progress)
            if fault is not None:
                return fault
        elif kind == "message_stop":
            self._ended = self.finish_reason is not None
        if kind and kind not in _SILENT:
            out.append(self._write(str(kind), event, one))
        return None

    def _start(self, event: Json) -> None:
        message = event.get("message")
        if isinstance(message, dict):
            self._count(message.get("usage"))
            named = {key: value for key, value in message.items() if key not in PRIVATE}
            event["message"] = {
                **named,
                "id": self._context.answer_id,
                "model": self._context.model,
            }

    def _block(self, event: Json, progress: Progress) -> None:
        block = event.get("content_block")
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("thinking", "redacted_thinking"):
            progress.started = True
        elif kind != "text" or (isinstance(block, dict) and block.get("text")):
            # Calls, and what a provider's own tools do: an answer that is under way.
            progress.token = self._said = True
            self.delivered_length += weight(str(block.get("text") or "")) if block else 0

    def _delta(self, delta: object) -> bool:
        """Count a delta; whether it is a token."""
        if not isinstance(delta, dict) or delta.get("type") not in _TOKENS:
            return False
        text = delta.get("text") or delta.get("thinking") or delta.get("partial_json")
        if not isinstance(text, str) or not text:
            return False
        self.delivered_length += weight(text)
        self._said = True
        return True

    def _stop(self, event: Json, progress: Progress) -> Fault | None:
        self._count(event.get("usage"))
        delta = event.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, dict) else None
        if not isinstance(reason, str) or self.finish_reason is not None:
            return None
        if is_empty(reason, said=self._said, context=self._context):
            return Fault(FaultKind.EMPTY, status=200)
        self.finish_reason = FINISH.get(reason, "stop")
        progress.finished = True
        return None

    def _count(self, usage: object) -> None:
        self._usage = counts.merged(self._usage, usage)
        self.usage = counts.read(self._usage) or self.usage

    def _write(self, kind: str, event: Json, one: Frame) -> bytes:
        """The event for the caller."""
        raise NotImplementedError


class RelayStream(MessageStream):
    """See `formats.base.AnswerStream`."""

    def feed(self, chunk: bytes) -> Progress:
        """Take the next bytes, cut anywhere."""
        if (
            self._said
            and chunk.startswith(_DELTA)
            and chunk.endswith(b"\n\n")
            and chunk.count(b"\n") == 3
            and b"\r" not in chunk
            and self._frames.between
            and self.finish_reason is None
        ):
            length = _plain(chunk[len(_DELTA) :])
            if length:
                self.delivered_length += length
                return Progress(chunk, True, False, True)
        return super().feed(chunk)

    def finale(self, usage: Usage, comment: bytes) -> bytes:  # noqa: ARG002 - told as it came
        """The last events of a good answer."""
        return comment + MESSAGE_STOP

    def _write(self, kind: str, event: Json, one: Frame) -> bytes:
        if kind == "message_start":
            return frame(kind, {key: value for key, value in event.items() if key != "type"})
        data = one.data.replace(b"\n", b" ")  # between JSON tokens only: a string cannot hold one
        return b"event: " + kind.encode("utf-8", "replace") + b"\ndata: " + data + b"\n\n"


def _plain(data: bytes) -> int:
    """The length of the one delta in `data`; 0 if it is anything else."""
    try:
        tap = _TAP.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return 0
    delta = tap.delta
    if tap.type != "content_block_delta" or delta.type not in _TOKENS:
        return 0
    text = delta.text or delta.thinking or delta.partial_json
    return len(text) if text.isascii() else weight(text)


class Assembler(MessageStream):
    """See `formats.base.AnswerAssembler`."""

    def __init__(self, context: AnswerContext) -> None:
        super().__init__(context)
        self._message: Json = {}
        self._blocks: dict[object, Json] = {}
        self._arguments: dict[object, str] = {}
        self._fault: Fault | None = None

    def end(self) -> Progress:
        """The upstream's bytes are over."""
        progress = super().end()
        self._fault = progress.fault
        return progress

    def finale(self, usage: Usage, comment: bytes) -> bytes:  # noqa: ARG002 - no stream, no end
        """Nothing: a plain answer has no last events."""
        return b""

    def whole(self, usage: Usage | None = None) -> WholeAnswer:
        """The folded answer; call after `end`."""
        if self._fault is not None:
            return WholeAnswer(usage=self.usage, fault=self._fault)
        for index, text in self._arguments.items():
            self._blocks[index]["input"] = _parsed(text)
        told = self._usage if usage is None else {}
        found = usage or self.usage
        found = found or estimated(self._context.prompt_estimate, self.delivered_length)
        body = {
            **self._message,
            "content": list(self._blocks.values()),
            "usage": told or counts.write(found),
        }
        return WholeAnswer(
            json.encode(body),
            found,
            self.finish_reason,
            self.delivered_length,
            called=any(map(_calls, self._blocks.values())),
        )

    def _write(self, kind: str, event: Json, one: Frame) -> bytes:  # noqa: ARG002 - kept, not sent
        index = event.get("index")
        if kind == "message_start":
            message = event.get("message")
            self._message = dict(message) if isinstance(message, dict) else {}
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            self._blocks[index] = dict(event["content_block"])
        elif kind == "content_block_delta" and index in self._blocks:
            self._grow(index, event.get("delta"))
        elif kind == "message_delta" and isinstance(event.get("delta"), dict):
            self._message |= event["delta"]
        return b""

    def _grow(self, index: object, delta: object) -> None:
        block = self._blocks[index]
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                block["text"] = str(block.get("text") or "") + text
            case {"type": "thinking_delta", "thinking": str(text)}:
                block["thinking"] = str(block.get("thinking") or "") + text
            case {"type": "signature_delta", "signature": str(text)}:
                block["signature"] = str(block.get("signature") or "") + text
            case {"type": "input_json_delta", "partial_json": str(text)} if text:
                self._arguments[index] = self._arguments.get(index, "") + text
            case {"type": "citations_delta", "citation": citation}:
                block["citations"] = [*(block.get("citations") or ()), citation]
            case _:
                pass


def _parsed(arguments: str) -> Any:
    try:
        return json.decode(arguments.encode("utf-8", "surrogatepass"))
    except json.BadJson:
        return {}


def whole(body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
    """Read a plain upstream answer."""
    try:
        fields = json.upstream_fields(json.readable(body.strip()))
        error = json.decode(fields.get("error", b"null"))
        if error:
            fault = errors.fault_inside({"error": error}, context.profile)
            return WholeAnswer(fault=fault)
        content = json.decode(fields.get("content", b"null"))
        reason = json.decode(fields.get("stop_reason", b"null"))
        counted = json.decode(fields.get("usage", b"null"))
    except json.BadJson as bad:
        return WholeAnswer(fault=Fault(FaultKind.BAD_ANSWER, f"unreadable: {bad}", status=200))
    if not isinstance(content, list):
        fault = Fault(FaultKind.BAD_ANSWER, "an answer without content", status=200)
        return WholeAnswer(fault=fault)
    if is_empty(reason, said=any(map(_says, content)), context=context):
        return WholeAnswer(usage=counts.read(counted), fault=Fault(FaultKind.EMPTY, status=200))
    delivered = sum(map(_length, content))
    found = usage or counts.read(counted) or estimated(context.prompt_estimate, delivered)
    out: Json = {
        **{name: raw for name, raw in fields.items() if name not in PRIVATE},
        "id": context.answer_id,
        "model": context.model,
    }
    if usage is not None or not counted:
        out["usage"] = counts.write(found)
    finish = FINISH.get(str(reason), "stop")
    called = any(map(_calls, content))
    return WholeAnswer(json.encode(out), found, finish, delivered, called=called)


def _calls(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def _says(block: object) -> bool:
    return isinstance(block, dict) and (block.get("type") != "text" or bool(block.get("text")))


def _length(block: object) -> int:
    if not isinstance(block, dict):
        return 0
    told = block.get("text") or block.get("thinking") or ""
    inside = json.encode(block["input"]).decode() if "input" in block else ""
    return weight(str(told)) + weight(inside)
