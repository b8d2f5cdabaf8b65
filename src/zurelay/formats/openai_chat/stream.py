"""A stream that stays in this format: the upstream's events under our id and model.

Every event is parsed until the first token came. From then on an event that begins like the last
one, shows nothing remarkable to a typed tap and needs no change gets a new beginning spliced on; a
test holds that this gives the same bytes. Anything else takes the long way.
"""

import msgspec
from msgspec import Raw, Struct

from zurelay.chat.estimate import weight
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, Progress
from zurelay.formats.openai_chat.chunks import Chunk, ChunkReader
from zurelay.formats.openai_chat.write import ChunkWriter, kept
from zurelay.wire.sse import Frame, FrameReader, FrameTooLong

_MOST_LESSONS = 16
"""How often a beginning is learned; an upstream that changes it with each event is not worth it."""

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
    reasoning: str | None = None
    reasoning_text: str | None = None
    reasoning_details: list[Raw] | None = None
    function_call: dict[str, Raw] | None = None


class _TapChoice(Struct):
    index: int
    delta: _TapDelta
    finish_reason: str | None = None
    usage: dict[str, Raw] | None = None


class _Tap(Struct, forbid_unknown_fields=True):
    choices: list[_TapChoice]
    usage: dict[str, Raw] | None = None
    id: Raw = _NULL
    object: Raw = _NULL
    created: Raw = _NULL
    model: Raw = _NULL
    system_fingerprint: Raw = _NULL
    service_tier: Raw = _NULL
    obfuscation: Raw = _NULL


class _ProviderTap(_Tap, forbid_unknown_fields=True):
    """For streams whose events name the provider before the choices (OpenRouter)."""

    provider: Raw = _NULL


_TAP = msgspec.json.Decoder(_Tap)
_PROVIDER_TAP = msgspec.json.Decoder(_ProviderTap)


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
        self._tap: msgspec.json.Decoder[_Tap] | msgspec.json.Decoder[_ProviderTap] = _TAP
        self._prefix = b""  # what the upstream's events begin with, up to the choices
        self._size = 0
        self._beginning = b""  # what ours begin with
        self._lessons = 0
        self._may_splice = not context.stop

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        return self._writer.finale(usage if self._context.include_usage else None, comment)

    def _one(self, frame: Frame, progress: Progress, out: list[bytes]) -> None:
        if self._size and frame.data.startswith(self._prefix) and self._plain(frame.data):
            rest = frame.data[self._size :]
            if _NO_USAGE in rest:
                rest = rest.replace(_NO_USAGE, b"")
            out.append(self._beginning + rest + b"\n\n")
            progress.token = True
            return
        super()._one(frame, progress, out)

    def _plain(self, data: bytes) -> bool:
        """Whether the event is one delta of an open choice, fit to pass as it is."""
        try:
            tap = self._tap.decode(data)
        except (msgspec.DecodeError, RecursionError):
            return False
        if len(tap.choices) != 1 or tap.usage is not None:
            return False
        choice = tap.choices[0]
        delta = choice.delta
        if (
            choice.finish_reason is not None
            or choice.usage is not None
            or delta.role is not None
            or delta.refusal is not None
            or delta.reasoning is not None
            or delta.reasoning_text is not None
            or delta.reasoning_details is not None
            or delta.function_call is not None
            or b"\n" in data
        ):
            return False
        reader = self._chunks.choices.get(choice.index)
        if reader is None or reader.finish_reason is not None or not reader.plain:
            return False
        length = 0
        if delta.content:
            length = weight(delta.content)
        if delta.reasoning_content is not None:
            if not delta.reasoning_content:
                return False
            length += weight(delta.reasoning_content)
        for call in delta.tool_calls or ():
            arguments = call.function.arguments
            if not arguments or call.id is not None or call.type is not None:
                return False
            if call.function.name is not None or not reader.calls.is_open(call.index):
                return False
            length += weight(arguments)
        reader.delivered += length
        return length > 0

    def _write(self, chunk: Chunk, frame: Frame) -> bytes:
        rest = kept(chunk.fields)
        if not chunk.unchanged:
            rest["choices"] = chunk.choices
        out = self._writer.event(rest)
        if chunk.token and chunk.unchanged and self._may_splice and self._lessons < _MOST_LESSONS:
            self._learn(frame.data, chunk, rest, out)
        return out

    def _learn(self, data: bytes, chunk: Chunk, rest: dict[str, object], out: bytes) -> None:
        """Learn the beginning that this event has in common with the next ones."""
        self._lessons += 1
        self._size = 0
        size = data.find(b"[", data.find(b'"choices"'))
        before: dict[str, object] = {}
        for name, value in rest.items():
            if name == "choices":
                break
            before[name] = value
        ours = self._writer.event({**before, "choices": []}).removesuffix(b"[]}\n\n")
        spliced = ours + data[size:].replace(_NO_USAGE, b"") + b"\n\n"
        if size < 0 or spliced != out:
            return  # other spacing, other order: the long way
        self._tap = _PROVIDER_TAP if "provider" in chunk.fields else _TAP
        try:
            self._tap.decode(data)
        except msgspec.DecodeError:
            return
        self._prefix, self._size, self._beginning = data[:size], size, ours
