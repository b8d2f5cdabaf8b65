"""An upstream's event stream, from bytes to neutral events: what is the same for every format.

Events are cut out of bytes and parsed here, broken ones judged, endings checked; what an event
says, each format's own reader knows. See `translate.EventReader`.
"""

from typing import Any, Protocol

from zurelay.chat.events import Event
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.translate import Events
from zurelay.wire import json
from zurelay.wire.sse import Frame, FrameReader, FrameTooLong

Json = dict[str, Any]


class AnswerReader(Protocol):
    """A format's reader of one answer's events, already parsed."""

    @property
    def begun(self) -> bool:
        """Something was told."""
        ...

    @property
    def finished(self) -> bool:
        """The answer is whole."""
        ...

    @property
    def over(self) -> bool:
        """Nothing more that matters can come."""
        ...

    def event(self, event: Json) -> list[Event] | Fault:
        """What one event says."""
        ...


class EventStream:
    """Reads one upstream's bytes. Implements `translate.EventReader`."""

    def __init__(self, reader: AnswerReader, last: str) -> None:
        """Read with `reader`; `last` names what must come for the answer to be whole."""
        self._frames = FrameReader()
        self._reader = reader
        self._last = last

    def read(self, data: bytes) -> Events:
        """Take the next bytes, cut anywhere."""
        try:
            return self._take(self._frames.feed(data))
        except FrameTooLong as error:
            return self._too_long(error)

    def close(self) -> Events:
        """The bytes are over; an answer that is not whole broke off."""
        try:
            batch = self._take(self._frames.end(), closing=True)
        except FrameTooLong as error:
            batch = self._too_long(error)
        batch.ended = self._reader.finished
        if batch.fault is None and not self._reader.finished:
            told = f"the stream ended before {self._last}"
            batch.fault = Fault(FaultKind.BROKE_OFF, told, status=200)
        return batch

    def _too_long(self, error: FrameTooLong) -> Events:
        batch = self._take(error.frames)
        if batch.fault is None and not self._reader.finished:
            batch.fault = Fault(FaultKind.BAD_ANSWER, str(error), status=200)
        return batch

    def _take(self, frames: list[Frame], *, closing: bool = False) -> Events:
        batch = Events(alive=bool(frames))
        reader = self._reader
        for frame in frames:
            if reader.over:
                break
            event = parsed(frame, lenient=closing or reader.begun)
            told = event if isinstance(event, Fault) else reader.event(event)
            if isinstance(told, Fault):
                # After its last event nothing can break an answer any more.
                batch.fault = None if reader.finished else told
                break
            batch.events += told
        batch.ended = reader.over
        return batch


def parsed(frame: Frame, *, lenient: bool) -> Json | Fault:
    """A frame's event, empty for one that says nothing.

    Before the first token an unreadable event is a broken answer; later, or where `lenient`, it is
    skipped. The frame's name stands in for a missing `type`.
    """
    data = json.readable(frame.data)
    try:
        event = json.decode(data)
    except json.BadJson as error:
        if lenient or not data.startswith(b"{"):
            return {}
        return Fault(FaultKind.BAD_ANSWER, f"unreadable event: {error}", status=200)
    if isinstance(event, list):  # some wrap an error as a stream of the other kind would
        event = event[0] if event else None
    if not isinstance(event, dict):
        return {}
    if "type" not in event:
        if frame.event:
            event["type"] = frame.event.decode("utf-8", "replace")
        elif event.get("error"):
            event["type"] = "error"
    return event
