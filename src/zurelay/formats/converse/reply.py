"""Reads a plain Converse answer, as its own stream would be read."""

from dataclasses import replace
from typing import Any

from zurelay.chat.events import Reply
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.base import AnswerContext
from zurelay.formats.converse import errors
from zurelay.formats.converse.blocks import BlockReader
from zurelay.formats.converse.usage import read as read_usage
from zurelay.formats.fold import EventFold
from zurelay.wire import json

Json = dict[str, Any]


def read(body: bytes, context: AnswerContext) -> Reply | Fault:
    """The whole answer, or the fault that it is."""
    try:
        answer = json.decode(json.readable(body.strip()))
    except json.BadJson as error:
        return Fault(FaultKind.BAD_ANSWER, f"unreadable: {error}", status=200)
    content = _content(answer)
    if content is None:
        found = errors.fault_inside("", body, context.profile)
        return found if found.type else Fault(FaultKind.BAD_ANSWER, found.message, status=200)
    reader, fold = BlockReader(context), EventFold()
    for place, block in enumerate(content):
        if isinstance(block, dict):
            for event in reader.whole(place, block):
                fold.add(event)
    stopped = reader.last(answer.get("stopReason"))
    if isinstance(stopped, Fault):
        return stopped
    for event in stopped:
        fold.add(event)
    return replace(fold.reply(), usage=read_usage(answer.get("usage"), answer.get("serviceTier")))


def _content(answer: object) -> list[Any] | None:
    """The blocks of the answer; None where it is none."""
    found: object = answer
    for name in ("output", "message", "content"):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, list) else None
