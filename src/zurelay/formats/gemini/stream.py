"""Reads this format's event stream into neutral events. See `formats.translate.EventReader`.

There is no end mark: a stream is whole with its finish reason, and ends where its bytes end.
Tolerates padding, unknown fields, `[DONE]`, and pieces after the last.
"""

from zurelay.formats.base import AnswerContext
from zurelay.formats.event_stream import EventStream
from zurelay.formats.gemini.candidates import CandidateReader


def event_stream(context: AnswerContext) -> EventStream:
    """A reader for the upstream's event stream."""
    return EventStream(CandidateReader(context), "a finish reason")
