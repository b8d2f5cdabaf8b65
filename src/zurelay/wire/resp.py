"""The protocol of Valkey and Redis, version 3: commands as bytes, replies out of bytes.

Knows no socket and no command. After the specification of RESP3 (redis.io/docs, November 2026).
"""

from dataclasses import dataclass
from typing import Any, Final

_LARGEST = 64 * 1024 * 1024
_DEEPEST = 16


class ProtocolError(Exception):
    """The other side does not speak this protocol."""


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """A command that failed; `text` begins with a word in capitals."""

    text: str


@dataclass(frozen=True, slots=True)
class Push:
    """What came without being asked for, such as a published message."""

    parts: list[Any]


class _Nothing:
    pass


NOTHING: Final = _Nothing()
"""No reply is whole yet."""


def command(*parts: bytes | str | float) -> bytes:
    """A command and its arguments, as it is sent."""
    out = [b"*%d\r\n" % len(parts)]
    for part in parts:
        text = part if isinstance(part, bytes) else str(part).encode()
        out += (b"$%d\r\n" % len(text), text, b"\r\n")
    return b"".join(out)


class Replies:
    """Bytes in, replies out.

    A reply is bytes, int, float, bool, None, a list, a dict, an `ErrorReply` or a `Push`; plain
    texts are bytes too.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = 0

    def feed(self, data: bytes) -> None:
        """More bytes."""
        if self._at:
            del self._data[: self._at]
            self._at = 0
        self._data += data

    def next(self) -> Any:
        """The next whole reply, or `NOTHING`.

        Raises:
            ProtocolError: these bytes are no reply.
        """
        start = self._at
        found = self._value(_DEEPEST)
        if found is NOTHING:
            self._at = start
        return found

    def _line(self) -> bytes | None:
        end = self._data.find(b"\r\n", self._at)
        if end < 0:
            return None
        line = bytes(self._data[self._at : end])
        self._at = end + 2
        return line

    def _value(self, depth: int) -> Any:
        line = self._line()
        if line is None:
            return NOTHING
        kind, rest = line[:1], line[1:]
        try:
            match kind:
                case b"$" | b"=" | b"!":
                    return self._bulk(kind, int(rest))
                case b":":
                    return int(rest)
                case b"+" | b"(":
                    return rest
                case b"-":
                    return ErrorReply(rest.decode("utf-8", "replace"))
                case b"*" | b"~" | b">" | b"%" | b"|":
                    return self._many(kind, int(rest), depth)
                case b"_":
                    return None
                case b"#":
                    return rest == b"t"
                case b",":
                    return float(rest)
                case _:
                    pass
        except ValueError:
            pass
        raise ProtocolError(f"not a reply: {line[:40]!r}")

    def _bulk(self, kind: bytes, length: int) -> Any:
        if length < 0:
            return None
        if length > _LARGEST:
            raise ProtocolError(f"a reply of {length} bytes")
        end = self._at + length
        if len(self._data) < end + 2:
            return NOTHING
        text = bytes(self._data[self._at : end])
        self._at = end + 2
        if kind == b"=":
            return text[4:]  # after the name of its format
        return ErrorReply(text.decode("utf-8", "replace")) if kind == b"!" else text

    def _many(self, kind: bytes, count: int, depth: int) -> Any:
        if count < 0:
            return None
        if not depth:
            raise ProtocolError("replies too deep inside each other")
        parts = []
        for _ in range(count * 2 if kind in b"%|" else count):
            part = self._value(depth - 1)
            if part is NOTHING:
                return NOTHING
            parts.append(part)
        if kind == b">":
            return Push(parts)
        if kind == b"|":  # attributes of the value that follows; nobody asks for them
            return self._value(depth - 1)
        return dict(zip(parts[::2], parts[1::2], strict=True)) if kind == b"%" else parts
