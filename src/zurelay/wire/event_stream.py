"""The binary event stream of AWS services: bytes in, messages out.

Knows the framing of `application/vnd.amazon.eventstream` (AWS SDK documentation, 2026-11-29): a
prelude of two lengths with its own CRC-32, typed headers, a payload, and a CRC-32 over all of it.
Knows nothing about payloads, providers or sockets.
"""

import struct
from collections.abc import Mapping
from zlib import crc32

import msgspec

MAX_MESSAGE = 24 * 1024 * 1024
"""Most bytes of one message."""

_PRELUDE = 12
_LEAST = _PRELUDE + 4
_WORDS = struct.Struct(">II")
_WORD = struct.Struct(">I")
_SHORT = struct.Struct(">H")
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Header types of a fixed size -> bytes of the value."""
_BYTES, _STRING = 6, 7


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message.

    Attributes:
        headers: those that hold text, such as `:message-type` and `:event-type`.
        payload: its bytes, unread.
    """

    headers: Mapping[str, str]
    payload: bytes


class BrokenStream(ValueError):  # noqa: N818 - says what happened
    """Bytes that are no message, or a checksum that does not fit.

    Attributes:
        messages: those that were whole before it in the same piece of bytes.
    """

    def __init__(self, told: str, messages: list[Message]) -> None:
        super().__init__(told)
        self.messages = messages


class MessageReader:
    """Collects bytes and hands out the messages they complete.

    The same bytes in any pieces give the same messages.

    Attributes:
        between: nothing of a message has been read that is not whole.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = bytearray()

    @property
    def between(self) -> bool:
        """Whether the next byte begins a message."""
        return not self._held

    def feed(self, data: bytes) -> list[Message]:
        """Take the next bytes, cut anywhere. Raises BrokenStream; nothing may be fed after it."""
        held = self._held
        held += data
        messages: list[Message] = []
        start = 0
        try:
            while (length := _length(held, start)) and len(held) - start >= length:
                messages.append(_message(bytes(held[start : start + length])))
                start += length
        except _Bad as bad:
            raise BrokenStream(str(bad), messages) from None
        del held[:start]
        return messages


class _Bad(ValueError):  # noqa: N818 - never leaves this module
    pass


def _length(held: bytearray, start: int) -> int:
    """Bytes of the message that starts there; 0 while its prelude is not whole."""
    if len(held) - start < _PRELUDE:
        return 0
    total, headers = _WORDS.unpack_from(held, start)
    if _WORD.unpack_from(held, start + 8)[0] != crc32(held[start : start + 8]):
        raise _Bad("the prelude of a message does not fit its checksum")
    if not _LEAST + headers <= total <= MAX_MESSAGE:
        raise _Bad(f"a message of {total} bytes with {headers} bytes of headers")
    return int(total)


def _message(whole: bytes) -> Message:
    if _WORD.unpack_from(whole, len(whole) - 4)[0] != crc32(whole[:-4]):
        raise _Bad("a message does not fit its checksum")
    end = _PRELUDE + _WORDS.unpack_from(whole)[1]
    try:
        headers = _headers(whole[_PRELUDE:end])
    except (IndexError, KeyError, struct.error, UnicodeDecodeError):
        raise _Bad("the headers of a message cannot be read") from None
    return Message(headers, whole[end:-4])


def _headers(data: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        name = _piece(data, at + 1, name_end).decode()
        kind = data[name_end]
        at = name_end + 1
        if kind in (_BYTES, _STRING):
            size = _SHORT.unpack_from(data, at)[0]
            at += 2
            value = _piece(data, at, at + size)
            if kind == _STRING:
                headers[name] = value.decode()
        else:
            size = _FIXED[kind]
            _piece(data, at, at + size)
        at += size
    return headers


def _piece(data: bytes, start: int, end: int) -> bytes:
    if end > len(data):
        raise IndexError
    return data[start:end]
