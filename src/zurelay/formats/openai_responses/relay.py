"""An answer that stays in this format: the upstream's events with a few fields changed.

Ids of the response, model and what was asked are the caller's; thinking is wrapped with its
origin; events are counted anew, as those of no documented name are left out. The rest keeps its
bytes.
"""

from typing import Any

from msgspec import Raw

from zurelay.chat.estimate import estimated, weight
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
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.problems import Problem
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, Progress, WholeAnswer
from zurelay.formats.openai_responses import ORIGIN, envelope
from zurelay.formats.openai_responses import response as shape
from zurelay.formats.openai_responses import usage as counts
from zurelay.formats.openai_responses.stream import LAST, ResponseReader
from zurelay.formats.origin import origin
from zurelay.formats.tool_ids import minter
from zurelay.wire import json
from zurelay.wire.sse import Frame, FrameReader, FrameTooLong

Json = dict[str, Any]

_TOKENS = (TextDelta, ThinkingDelta, RefusalDelta, ToolCallStarted, ToolCallDelta)
_SOMETHING = (*_TOKENS, ThinkingSigned)
_CALLS = frozenset({"function_call", "custom_tool_call"})
_COMPLETED = "response.completed"
_BEGIN = ("response.created", "response.in_progress")

_CALLERS = (
    "instructions",
    "metadata",
    "prompt_cache_key",
    "safety_identifier",
    "user",
    "store",
    "background",
    "previous_response_id",
)
"""What a response repeats of its request, and the upstream was not told or not told so."""


class RelayStream:
    """See `formats.base.AnswerStream`."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._frames = FrameReader()
        self._reader = ResponseReader(context)
        self._same = shape.repeated(context.asked)
        self._sequence = 0
        self._items: dict[int, Json] = {}  # whole ones, by place
        self._calls: dict[int, str] = {}  # ids of calls, by place
        self._mint = minter(context.answer_id)
        self._last: Json = {}  # the response object of the last event, its values as bytes
        self._something = False
        self.usage: Usage | None = None
        self.finish_reason: str | None = None
        self.delivered_length = 0

    def feed(self, chunk: bytes) -> Progress:
        """Take the next bytes, cut anywhere."""
        try:
            return self._take(self._frames.feed(chunk))
        except FrameTooLong as error:
            return self._too_long(error)

    def end(self) -> Progress:
        """The upstream's bytes are over."""
        try:
            progress = self._take(self._frames.end())
        except FrameTooLong as error:
            progress = self._too_long(error)
        if progress.fault is None and not self._reader.finished:
            kind = FaultKind.BROKE_OFF if self._something else FaultKind.EMPTY
            progress.fault = Fault(kind, "the stream ended before response.completed", status=200)
        return progress

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        begun = self._begin()
        response = self.response(usage)
        kind = f"response.{shape.status_of(self.finish_reason or '')}"
        return begun + comment + self._tell(kind, {"response": response})

    def failure(self, problem: Problem) -> bytes:
        """See `formats.base.FailingStream`."""
        begun = self._begin()
        response = shape.response(
            self._context, self._same, "failed", self._output(), problem=problem
        )
        return begun + self._tell("response.failed", {"response": response})

    def response(self, usage: Usage | None) -> Json:
        """The response object of the last event, as the caller gets it."""
        found = self._edited(self._last)
        output = json.decode(found["output"]) if isinstance(found.get("output"), Raw) else []
        if not output and self._items:  # some hosts leave out what they streamed
            found["output"] = self._output()
        told = isinstance(found.get("usage"), dict | Raw) and usage is self.usage
        if usage is not None and not told:
            found["usage"] = counts.write(usage)
        return found

    def _output(self) -> list[Json]:
        return [self._items[place] for place in sorted(self._items)]

    def _too_long(self, error: FrameTooLong) -> Progress:
        progress = self._take(error.frames)
        if progress.fault is None and not self._reader.finished:
            progress.fault = Fault(FaultKind.BAD_ANSWER, str(error), status=200)
        return progress

    def _take(self, frames: list[Frame]) -> Progress:
        progress = Progress(alive=bool(frames))
        out = []
        for frame in frames:
            if self._reader.finished:
                break
            # A line end stands between JSON tokens only: a string cannot hold one.
            data = json.readable(frame.data).replace(b"\n", b" ")
            event = self._read(data, frame.event)
            if event is None:
                continue
            if isinstance(event, Fault):
                progress.fault = event
                break
            self._hear(event, progress)
            if progress.fault is not None:
                break
            out.append(self._relayed(event, data))
        self._conclude(progress)
        progress.out = b"".join(out)
        return progress

    def _read(self, data: bytes, name: bytes) -> Json | Fault | None:
        """An event; None for what is none, and for a broken one after the first token."""
        if data.startswith(b"[DONE]"):
            return None
        try:
            event = json.decode(data)
        except json.BadJson as error:
            if self._something or not data.startswith(b"{"):
                return None
            return Fault(FaultKind.BAD_ANSWER, f"unreadable event: {error}", status=200)
        if not isinstance(event, dict):
            return None
        if "type" not in event and name:
            event["type"] = name.decode("utf-8", "replace")
        return event

    def _hear(self, event: Json, progress: Progress) -> None:
        told = self._reader.event(event)
        if isinstance(told, Fault):
            progress.fault = told
            return
        for each in told:
            self._note(each, progress)

    def _conclude(self, progress: Progress) -> None:
        """Judge an answer whose last event has come."""
        if not self._reader.finished or progress.fault is not None:
            return
        if not self._something and self.finish_reason == "stop":
            progress.fault = Fault(FaultKind.EMPTY, status=200)
            return
        progress.finished = progress.ended = True

    def _note(self, event: Event, progress: Progress) -> None:
        self._something |= isinstance(event, _SOMETHING)
        progress.token |= isinstance(event, _TOKENS)
        match event:
            case TextDelta(text) | ThinkingDelta(text) | RefusalDelta(text):
                self.delivered_length += weight(text)
            case ToolCallDelta(_, arguments):
                self.delivered_length += weight(arguments)
            case ThinkingStarted():
                progress.started = True
            case UsageSeen(usage):
                self.usage = usage
            case Stopped(reason):
                self.finish_reason = reason
            case _:
                pass

    def _relayed(self, event: Json, data: bytes) -> bytes:
        kind = event.get("type")
        if not isinstance(kind, str) or not kind.startswith("response."):
            return b""
        if kind in _BEGIN:
            return self._begin()
        fields: Json = dict(json.upstream_fields(data))
        if kind in LAST:
            if isinstance(event.get("response"), dict):
                self._keep(kind, json.upstream_fields(bytes(fields["response"])))
            return b""
        begun = self._begin()
        if isinstance(event.get("item"), dict):
            place = event.get("output_index")
            place = place if isinstance(place, int) else len(self._items)
            fields["item"] = self._item(place, event["item"], fields["item"])
            if kind == "response.output_item.done":
                self._items[place] = fields["item"]
        return begun + self._tell(kind, fields)

    def _keep(self, kind: str, response: Json) -> None:
        self._last = {"status": kind.removeprefix("response."), **response}

    def _edited(self, response: Json) -> Json:
        """A response object of an upstream's as the caller gets it, with all that clients need."""
        found = {
            **shape.response(self._context, self._same, "completed"),
            **response,
            "id": self._context.answer_id,
            "created_at": self._context.created,
            "model": self._context.model,
            **{name: self._same[name] for name in _CALLERS},
        }
        if isinstance(response.get("output"), Raw):
            items = json.decode(response["output"])
            told = [self._item(i, each, each) for i, each in enumerate(items or ())]
            if told != items:
                found["output"] = Raw(json.encode(told))
        return found

    def _item(self, place: int, item: Any, raw: Any) -> Any:
        """An item as the caller gets it; one that need not change keeps its bytes.

        Thinking is wrapped with its origin. Some hosts number their calls anew in each answer, or
        give several the same id.
        """
        if not isinstance(item, dict):
            return raw
        if item.get("type") == "reasoning" and item.get("encrypted_content"):
            made = origin(self._context.profile.realm, ORIGIN)
            sealed = envelope.seal(str(item["encrypted_content"]), made, redacted=True)
            return {**item, "encrypted_content": sealed}
        if item.get("type") in _CALLS:
            call_id = self._call_id(place, item.get("call_id"))
            return raw if call_id == item.get("call_id") else {**item, "call_id": call_id}
        return raw

    def _call_id(self, place: int, given: object) -> str:
        """The id of the call at a place: the upstream's, unless it has none or used it before."""
        if place not in self._calls:
            known = isinstance(given, str) and given and given not in self._calls.values()
            self._calls[place] = str(given) if known else self._mint(0, place)
        return self._calls[place]

    def _begin(self) -> bytes:
        """The two events with which every stream begins, once."""
        if self._sequence:
            return b""
        began = {"response": shape.response(self._context, self._same, "in_progress")}
        return b"".join(self._tell(kind, began) for kind in _BEGIN)

    def _tell(self, kind: str, fields: Json) -> bytes:
        data = json.encode({**fields, "type": kind, "sequence_number": self._sequence})
        self._sequence += 1
        return b"event: " + kind.encode("utf-8", "replace") + b"\ndata: " + data + b"\n\n"


class Assembler(RelayStream):
    """See `formats.base.AnswerAssembler`."""

    def __init__(self, context: AnswerContext) -> None:
        super().__init__(context)
        self._fault: Fault | None = None

    def end(self) -> Progress:
        """The upstream's bytes are over."""
        progress = super().end()
        self._fault = progress.fault
        return progress

    def take(self, response: bytes) -> None:
        """The whole response in place of a stream's events.

        Raises:
            BadJson: it is no JSON object.
        """
        fields = json.upstream_fields(response)
        progress = Progress()
        self._hear({"type": _COMPLETED, "response": json.decode(response)}, progress)
        self._keep(_COMPLETED, fields)
        self._conclude(progress)
        self._fault = progress.fault

    def whole(self, usage: Usage | None = None) -> WholeAnswer:
        """The response object of the last event; call after `end`."""
        if self._fault is not None:
            return WholeAnswer(usage=self.usage, fault=self._fault)
        usage = usage or self.usage
        usage = usage or estimated(self._context.prompt_estimate, self.delivered_length)
        body = json.encode(self.response(usage))
        return WholeAnswer(body, usage, self.finish_reason, self.delivered_length)

    def _begin(self) -> bytes:
        return b""  # a plain answer has no events

    def _tell(self, kind: str, fields: Json) -> bytes:  # noqa: ARG002 - likewise
        return b""


def whole(body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
    """Read a plain answer to a plain request."""
    assembler = Assembler(context)
    try:
        assembler.take(json.readable(body.strip()))
    except json.BadJson as error:
        fault = Fault(FaultKind.BAD_ANSWER, f"unreadable: {error}", status=200)
        return WholeAnswer(fault=fault)
    return assembler.whole(usage)
