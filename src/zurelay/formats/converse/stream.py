"""Reads a Converse event stream into neutral events. See `formats.translate.EventReader`.

The stop reason makes an answer complete; the usage comes in an event of its own, before or after
it. Exceptions are messages among the others. Unknown events are signs of life and nothing more.
"""

from typing import Any

from zurelay.chat.events import Event, UsageSeen
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.base import AnswerContext
from zurelay.formats.converse import errors
from zurelay.formats.converse.blocks import BlockReader
from zurelay.formats.converse.usage import read as read_usage
from zurelay.formats.translate import Events
from zurelay.wire import json
from zurelay.wire.event_stream import BrokenStream, Message, MessageReader

Json = dict[str, Any]


class ConverseEvents:
    """The reader of an upstream's bytes."""

    def __init__(self, context: AnswerContext) -> None:
        self._messages = MessageReader()
        self._profile = context.profile
        self._blocks = BlockReader(context)
        self._counted = False

    def read(self, data: bytes) -> Events:
        """Take the next bytes, cut anywhere."""
        try:
            return self._take(self._messages.feed(data))
        except BrokenStream as broken:
            batch = self._take(broken.messages)
            if batch.fault is None and not self._blocks.finished:
                batch.fault = Fault(FaultKind.BAD_ANSWER, str(broken), status=200)
            batch.ended |= self._blocks.finished
            return batch

    def close(self) -> Events:
        """The bytes are over; without a stop reason the answer is not whole."""
        batch = Events(ended=self._blocks.finished)
        if not batch.ended:
            told = "the stream ended before messageStop"
            batch.fault = Fault(FaultKind.BROKE_OFF, told, status=200)
        return batch

    def _take(self, messages: list[Message]) -> Events:
        batch = Events(alive=bool(messages))
        for message in messages:
            told = self._message(message)
            if isinstance(told, Fault):
                # A complete answer stays one, whatever comes behind it.
                batch.fault = None if self._blocks.finished else told
                batch.ended = self._blocks.finished
                return batch
            batch.events += told
        batch.ended = self._blocks.finished and self._counted
        return batch

    def _message(self, message: Message) -> list[Event] | Fault:
        told = errors.fault_told(message, self._profile)
        if told is not None:
            return told
        try:
            event = json.decode(json.readable(message.payload))
        except json.BadJson as error:
            return Fault(FaultKind.BAD_ANSWER, f"unreadable event: {error}", status=200)
        return self._event(
            message.headers.get(":event-type"), event if isinstance(event, dict) else {}
        )

    def _event(self, name: str | None, event: Json) -> list[Event] | Fault:
        if name == "metadata":
            self._counted = True
            usage = read_usage(event.get("usage"), event.get("serviceTier"))
            return [] if usage is None else [UsageSeen(usage)]
        if self._blocks.finished:
            return []
        if name == "contentBlockStart":
            return self._blocks.start(event)
        if name == "contentBlockDelta":
            return self._blocks.delta(event)
        if name == "contentBlockStop":
            return self._blocks.stop(event)
        if name == "messageStop":
            return self._blocks.last(event.get("stopReason"))
        return []
