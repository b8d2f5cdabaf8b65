"""What a scripted upstream does with one request, as a list of steps.

Pure: steps are values, and the functions here build lists of them. Does not know sockets.
"""

import asyncio
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Headers = Mapping[str, str]


class Step:
    """One of `Send`, `Pause`, `Close`, `Reset`, `Stall`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Send(Step):
    """Write bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause(Step):
    """Wait for some seconds, or until an event is set."""

    until: float | asyncio.Event


@dataclass(frozen=True, slots=True)
class Close(Step):
    """Close the connection in order, after what was written."""


@dataclass(frozen=True, slots=True)
class Reset(Step):
    """Break the connection so that the peer sees a reset."""


@dataclass(frozen=True, slots=True)
class Stall(Step):
    """Do nothing more until the peer goes away."""


Script = Sequence[Step]


def head(status: int = 200, headers: Headers | None = None, reason: str = "Scripted") -> Send:
    """A status line and headers, with the blank line."""
    lines = [f"HTTP/1.1 {status} {reason}\r\n"]
    lines += [f"{name}: {value}\r\n" for name, value in (headers or {}).items()]
    return Send(("".join(lines) + "\r\n").encode("latin-1"))


def chunk(data: bytes) -> Send:
    """`data` as one chunk of a chunked body; empty data is the last chunk."""
    return Send(b"%x\r\n%s\r\n" % (len(data), data))


LAST_CHUNK = chunk(b"")


def reply(body: bytes = b"", status: int = 200, headers: Headers | None = None) -> Script:
    """A whole answer with `content-length`, written at once."""
    start = head(status, {"content-length": str(len(body)), **(headers or {})})
    return [Send(start.data + body)]


def json_reply(content: Any, status: int = 200, headers: Headers | None = None) -> Script:
    """A whole JSON answer."""
    return reply(
        json.dumps(content).encode(),
        status,
        {"content-type": "application/json", **(headers or {})},
    )


def sse_event(data: str | Mapping[str, Any], event: str | None = None) -> bytes:
    """One server-sent event, as bytes; a mapping is written as JSON."""
    text = data if isinstance(data, str) else json.dumps(data)
    lines = [f"event: {event}\n"] if event is not None else []
    lines += [f"data: {line}\n" for line in text.split("\n")]
    return ("".join(lines) + "\n").encode()


def sse_reply(
    events: Iterable[str | Mapping[str, Any] | bytes],
    gap: float | asyncio.Event | None = None,
    headers: Headers | None = None,
    *,
    compressed: bool = False,
) -> Script:
    """A chunked stream of server-sent events, one chunk each.

    Args:
        events: the data of each (see `sse_event`), or bytes sent as they are.
        gap: what to wait for between two of them (see `Pause`).
        headers: besides those of a stream.
        compressed: gzip, each event flushed so that it can be read when it comes.
    """
    fields = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
    if compressed:
        fields["content-encoding"] = "gzip"
    steps: list[Step] = [head(200, {**fields, **(headers or {})})]
    packer = zlib.compressobj(wbits=31) if compressed else None
    for number, event in enumerate(events):
        if number and gap is not None:
            steps.append(Pause(gap))
        data = event if isinstance(event, bytes) else sse_event(event)
        if packer is not None:
            data = packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)
        steps.append(chunk(data))
    if packer is not None:
        steps.append(chunk(packer.flush()))
    return [*steps, LAST_CHUNK]


def gzip_reply(body: bytes, status: int = 200, headers: Headers | None = None) -> Script:
    """A whole answer with `content-encoding: gzip`."""
    return reply(
        gzip.compress(body, mtime=0), status, {"content-encoding": "gzip", **(headers or {})}
    )


def wire(script: Script) -> bytes:
    """All bytes a script sends."""
    return b"".join(step.data for step in script if isinstance(step, Send))


def byte_by_byte(script: Script) -> Script:
    """The same with every byte sent on its own, the loop run in between."""
    steps: list[Step] = []
    for step in script:
        if isinstance(step, Send):
            for byte in step.data:
                steps += [Send(bytes([byte])), Pause(0)]
        else:
            steps.append(step)
    return steps


def cut(script: Script, length: int, ending: Close | Reset | Stall | None = None) -> Script:
    """The first `length` bytes of a script, then its end: closed in order unless said otherwise."""
    return [Send(wire(script)[:length]), ending or Close()]
