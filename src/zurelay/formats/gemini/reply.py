"""Reads a plain answer, as the one piece of a stream would be read."""

from zurelay.chat.events import Reply
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.base import AnswerContext
from zurelay.formats.fold import EventFold
from zurelay.formats.gemini.candidates import CandidateReader
from zurelay.wire import json


def read(body: bytes, context: AnswerContext) -> Reply | Fault:
    """The whole answer, or the fault that it is. A list holds the pieces of a stream."""
    try:
        value = json.decode(json.readable(body.strip()))
    except json.BadJson as error:
        return Fault(FaultKind.BAD_ANSWER, f"unreadable: {error}", status=200)
    pieces = value if isinstance(value, list) else [value]
    reader, fold = CandidateReader(context), EventFold()
    for piece in pieces:
        if not isinstance(piece, dict):
            return Fault(FaultKind.BAD_ANSWER, "an answer that is no object", status=200)
        events = reader.event(piece)
        if isinstance(events, Fault):
            return events
        for event in events:
            fold.add(event)
    if not reader.finished:
        kind = FaultKind.BROKE_OFF if reader.begun else FaultKind.EMPTY
        return Fault(kind, "an answer without a finish reason", status=200)
    return fold.reply()
