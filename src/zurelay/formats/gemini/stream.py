"""Reads this format's event stream into neutral events. See `formats.translate.EventReader`.

There is no end mark: a stream is whole with its finish reason, and ends where its bytes end.
Tolerates padding, unknown fields, `[DONE]`, and pieces after the last.
"""

from zurelay.chat.events import Event
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.base import AnswerContext
from zurelay.formats.gemini.candidates import CandidateReader
from zurelay.formats.translate import Events
from zurelay.wire import json
from zurelay.wire.sse import Frame, FrameReader, FrameTooLong


class GeminiEvents:
    """Reads one answer."""

    def __init__(self, context: AnswerContext) -> None:
        self._frames = FrameReader()
        self._reader = CandidateReader(context)

    def read(self, data: bytes) -> Events:
        """Take the next bytes, cut anywhere."""
        try:
            return self._take(self._frames.feed(data))
        except FrameTooLong as error:
            return self._too_long(error)

    def close(self) -> Events:
        """The bytes are over; without a finish reason the answer is not whole."""
        try:
            batch = self._take(self._frames.end(), closing=True)
        except FrameTooLong as error:
            batch = self._too_long(error)
        batch.ended = self._reader.finished
        if batch.fault is None and not self._reader.finished:
            told = "the stream ended before a finish reason"
            batch.fault = Fault(FaultKind.BROKE_OFF, told, status=200)
        return batch

    def _too_long(self, error: FrameTooLong) -> Events:
        batch = self._take(error.frames)
        if batch.fault is None and not self._reader.finished:
            batch.fault = Fault(FaultKind.BAD_ANSWER, str(error), status=200)
        return batch

    def _take(self, frames: list[Frame], closing: bool = False) -> Events:
        batch = Events(alive=bool(frames))
        for frame in frames:
            told = self._event(frame, closing)
            if isinstance(told, Fault):
                # After the last piece nothing can break the answer any more.
                batch.fault = None if self._reader.finished else told
                break
            batch.events += told
        return batch

    def _event(self, frame: Frame, closing: bool) -> list[Event] | Fault:
        data = json.readable(frame.data)
        try:
            piece = json.decode(data)
        except json.BadJson as error:
            # Before the first token a broken event is a broken answer; later it is skipped.
            if self._reader.begun or closing or not data.startswith(b"{"):
                return []
            return Fault(FaultKind.BAD_ANSWER, f"unreadable event: {error}", status=200)
        if isinstance(piece, list):  # an error may come as in a stream of the other kind
            piece = piece[0] if piece else None
        return self._reader.take(piece) if isinstance(piece, dict) else []
