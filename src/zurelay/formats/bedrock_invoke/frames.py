"""Events of Messages out of the binary stream that InvokeModel wraps them in.

Each message carries one event's JSON in base64; what comes out is the event stream that Anthropic
itself would have sent. Exceptions are messages among the others. Knows no event.
"""

from base64 import b64decode

import msgspec

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.converse import errors
from zurelay.wire.event_stream import BrokenStream, Message, MessageReader


class _Chunk(msgspec.Struct):
    bytes: str


class _Event(msgspec.Struct):
    type: str = ""


_CHUNK = msgspec.json.Decoder(_Chunk)
_EVENT = msgspec.json.Decoder(_Event)


class Unwrapper:
    """Takes the upstream's bytes, cut anywhere, and gives server-sent events.

    Attributes:
        fault: the exception or the broken frame that ended the stream; None before.
    """

    def __init__(self, profile: Profile) -> None:
        self._messages = MessageReader()
        self._profile = profile
        self.fault: Fault | None = None

    def feed(self, data: bytes) -> bytes:
        """The events that are complete, up to a fault; after it nothing more is read."""
        if self.fault is not None:
            return b""
        broken: Fault | None = None
        try:
            messages = self._messages.feed(data)
        except BrokenStream as error:
            messages = error.messages
            broken = Fault(FaultKind.BAD_ANSWER, str(error), status=200)
        out: list[bytes] = []
        for message in messages:
            told = self._event(message)
            if isinstance(told, Fault):
                self.fault = told
                return b"".join(out)
            out.append(told)
        self.fault = broken
        return b"".join(out)

    def _event(self, message: Message) -> bytes | Fault:
        told = errors.fault_told(message, self._profile)
        if told is not None:
            return told
        if message.headers.get(":event-type") != "chunk":
            return b""
        try:
            event = b64decode(_CHUNK.decode(message.payload).bytes)
            name = _EVENT.decode(event).type
        except (msgspec.DecodeError, ValueError) as error:
            return Fault(FaultKind.BAD_ANSWER, f"unreadable event: {error}", status=200)
        # One line: JSON holds no raw line ends inside its strings.
        line = event.replace(b"\r", b"").replace(b"\n", b"")
        return b"event: %s\ndata: %s\n\n" % (name.encode(), line)
