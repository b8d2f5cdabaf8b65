"""Reads a plain Responses answer, as its own stream's last event would be read."""

from zurelay.chat.events import Reply
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.base import AnswerContext
from zurelay.formats.fold import EventFold
from zurelay.formats.openai_responses.stream import ResponseReader
from zurelay.wire import json


def read(body: bytes, context: AnswerContext) -> Reply | Fault:
    """The whole answer, or the fault that it is."""
    try:
        response = json.decode(json.readable(body.strip()))
    except json.BadJson as error:
        return Fault(FaultKind.BAD_ANSWER, f"unreadable: {error}", status=200)
    if not isinstance(response, dict):
        return Fault(FaultKind.BAD_ANSWER, "an answer that is no object", status=200)
    events = ResponseReader(context).last(response)
    if isinstance(events, Fault):
        return events
    fold = EventFold()
    for event in events:
        fold.add(event)
    return fold.reply()
