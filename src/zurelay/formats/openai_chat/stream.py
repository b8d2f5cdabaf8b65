"""A stream that stays in this format: the upstream's events under our id and model.

Every event is parsed until the first token came. From then on an event that begins like the last
one, shows nothing remarkable to a typed tap and needs no change gets a new beginning spliced on; a
test holds that this gives the same bytes. Anything else takes the long way.
"""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from zurelay.chat.estimate import weight
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, Progress
from zurelay.formats.openai_chat.chunks import Chunk, ChunkReader
from zurelay.formats.openai_chat.deltas import ChoiceReader
from zurelay.formats.openai_chat.write import ChunkWriter, kept
from zurelay.wire.sse import Frame, FrameReader, FrameTooLong

_MOST_LESSONS = 16
"""How often a beginning is learned; an upstream that changes it with each event is not worth it."""

_DATA = b"data: "
_NO_USAGE = b',"usage":null'
_NULL = Raw(b"null")


class _TapFunction(Struct):
    arguments: str
    name: str | None = None


class _TapCall(Struct):
    index: int
    function: _TapFunction
    id: str | None = None
    type: str | None = None


class _TapDelta(Struct):
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_TapCall] | None = None
    role: str | None = None
    refusal: str | None = None
    reasoning: Raw | UnsetType = UNSET
    reasoning_text: Raw | UnsetType = UNSET
    reasoning_details: Raw | UnsetType = UNSET
    function_call: dict[str, Raw] | None = None


class _TapChoice(Struct):
    index: int
    delta: _TapDelta
    finish_reason: str | None = None
    usage: dict[str, Raw] | None = None


class _Tap(Struct, forbid_unknown_fields=True):
    """An event from its choices on; any other field there takes the long way."""

    choices: list[_TapChoice]
    usage: dict[str, Raw] | None = None
    obfuscation: Raw = _NULL
    system_fingerprint: Raw = _NULL
    service_tier: Raw = _NULL


_TAP = msgspec.json.Decoder(_Tap)
_TAP_START = b'{"choices":'


class ChunkStream:
    """What all readers of a stream share: frames in, chunks out, progress told."""

    def __init__(self, context: AnswerContext) -> None:
        self._frames = FrameReader()
        self._chunks = ChunkReader(context)
        self._finished = False

    @property
    def usage(self) -> Usage | None:
        """The provider's own count, None until it gave one."""
        return self._chunks.usage

    @property
    def finish_reason(self) -> str | None:
        """That of the first choice."""
        return self._chunks.finish_reason

    @property
    def delivered_length(self) -> int:
        """Everything read so far, as `chat.estimate.weight` counts."""
        return self._chunks.delivered

    def feed(self, chunk: bytes) -> Progress:
        """Take the next bytes, cut anywhere."""
        progress = Progress()
        try:
            frames = self._frames.feed(chunk)
        except FrameTooLong as error:
            self._too_long(error, progress)
            return progress
        if frames:
            self._take(frames, progress)
        return progress

    def end(self) -> Progress:
        """The upstream's bytes are over."""
        progress = Progress()
        self._chunks.closing = True
        try:
            self._take(self._frames.end(), progress)
        except FrameTooLong as error:
            self._too_long(error, progress)
        progress.fault = progress.fault or self._chunks.end()
        return progress

    def _too_long(self, error: FrameTooLong, progress: Progress) -> None:
        self._take(error.frames, progress)
        if progress.fault is None and not self._chunks.ended:
            progress.fault = Fault(FaultKind.BAD_ANSWER, str(error), status=200)

    def _take(self, frames: list[Frame], progress: Progress) -> None:
        out: list[bytes] = []
        progress.alive = bool(frames)
        for frame in frames:
            if self._chunks.ended:
                break
            self._one(frame, progress, out)
            if progress.fault is not None:
                break
        progress.out = out[0] if len(out) == 1 else b"".join(out)
        progress.ended = self._chunks.ended

    def _one(self, frame: Frame, progress: Progress, out: list[bytes]) -> None:
        if b"\n" in frame.data:
            # Between JSON tokens only: a string cannot hold one.
            frame = Frame(frame.data.replace(b"\n", b" "), frame.event)
        chunk = self._chunks.read(frame)
        progress.fault = chunk.fault
        if chunk.fault is not None:
            return
        progress.token |= chunk.token
        if not self._finished and self._chunks.finished:
            self._finished = progress.finished = True
        if chunk.choices:
            out.append(self._write(chunk, frame))

    def _write(self, chunk: Chunk, frame: Frame) -> bytes:
        """The event for the caller; readers that keep their chunks return nothing."""
        raise NotImplementedError


class RelayStream(ChunkStream):
    """See `formats.base.AnswerStream`."""

    def __init__(self, context: AnswerContext) -> None:
        super().__init__(context)
        self._context = context
        self._writer = ChunkWriter(context)
        self._prefix = b""  # what the upstream's events begin with, up to the choices
        self._size = 0
        self._beginning = b""  # what ours begin with
        self._spaced = False  # the upstream writes blanks between its fields
        self._lessons = 0 if context.stop or context.json_text else _MOST_LESSONS

    def feed(self, chunk: bytes) -> Progress:
        """Take the next bytes, cut anywhere."""
        if (
            self._size
            and chunk.startswith(self._prefix)
            and chunk.find(b"\n") == len(chunk) - 2
            and chunk.endswith(b"\n\n")
            and b"\r" not in chunk
            and self._frames.between
        ):
            rest = chunk[self._size :]
            if self._plain(rest):
                return Progress(self._beginning + rest.replace(_NO_USAGE, b""), True, False, True)
        return super().feed(chunk)

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        return self._writer.finale(usage if self._context.include_usage else None, comment)

    def _one(self, frame: Frame, progress: Progress, out: list[bytes]) -> None:
        size = self._size
        if size and not frame.event and b"\n" not in frame.data:
            event = _DATA + frame.data + b"\n\n"
            if event.startswith(self._prefix) and self._plain(event[size:]):
                out.append(self._beginning + event[size:].replace(_NO_USAGE, b""))
                progress.token = True
                return
        super()._one(frame, progress, out)

    def _plain(self, rest: bytes) -> bool:
        """Whether an event, from its choices on, is one delta that may pass as it is."""
        if self._spaced and not rest.endswith(b"}]}\n\n"):
            return False
        try:
            tap = _TAP.decode(_TAP_START + rest)
        except (msgspec.DecodeError, RecursionError):
            return False
        choices = tap.choices
        if len(choices) != 1 or tap.usage is not None:
            return False
        choice = choices[0]
        delta = choice.delta
        if (
            choice.finish_reason is not None
            or delta.role is not None
            or delta.reasoning is not UNSET
            or choice.usage is not None
            or delta.refusal is not None
            or delta.reasoning_text is not UNSET
            or delta.reasoning_details is not UNSET
            or delta.function_call is not None
        ):
            return False
        reader = self._chunks.choices.get(choice.index)
        if reader is None or not reader.passes:
            return False
        content, thinking = delta.content, delta.reasoning_content
        length = 0
        if content:
            length = len(content) if content.isascii() else weight(content)
        if thinking is not None:
            if not thinking:
                return False
            length += weight(thinking)
        if delta.tool_calls is not None:
            pieces = _pieces(delta.tool_calls, reader)
            if not pieces:
                return False
            length += pieces
        reader.delivered += length
        return length > 0

    def _write(self, chunk: Chunk, frame: Frame) -> bytes:
        rest = kept(chunk.fields)
        if not chunk.unchanged:
            rest["choices"] = chunk.choices
        out = self._writer.event(rest)
        if chunk.token and chunk.unchanged and self._lessons:
            self._learn(_DATA + frame.data + b"\n\n", rest, out)
        return out

    def _learn(self, event: bytes, rest: dict[str, Any], out: bytes) -> None:
        """Learn the beginning that this event has in common with the next ones."""
        self._lessons -= 1
        self._size = 0
        size = event.find(b"[", event.find(b'"choices"'))
        before: dict[str, Any] = {}
        for name, value in rest.items():
            if name == "choices":
                break
            before[name] = value
        beginning = self._writer.event({**before, "choices": []}).removesuffix(b"[]}\n\n")
        if beginning + event[size:].replace(_NO_USAGE, b"") == out:
            # Else other spacing, other order: the long way.
            self._prefix, self._size, self._beginning = event[:size], size, beginning
            self._spaced = event[size - 1 : size] != b":"


def _pieces(calls: list[_TapCall], reader: ChoiceReader) -> int:
    """Length of the arguments in deltas of open calls; 0 if a delta is anything else."""
    length = 0
    for call in calls:
        arguments = call.function.arguments
        if (
            not arguments
            or call.id is not None
            or call.type is not None
            or call.function.name is not None
            or not reader.calls.is_open(call.index)
        ):
            return 0
        length += weight(arguments)
    return length
