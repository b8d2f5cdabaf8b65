"""The load generator: asyncio protocols over keep-alive connections, as little work as possible.

It measures what callers see: answers, latencies, events, first tokens. It knows nothing of the
program under test but an address, a path, headers and a body.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import cast

import httptools

from bench.upstream import MODEL

EVENT = b'data: {"'
OPENING_S = 10
"""How long streams may take to open before a window of measuring begins without them."""
QUESTION = "Write one sentence about a fox and a dog, please, and keep it short and plain."


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go: loopback port, path and the caller's key."""

    port: int
    path: str = "/v1/chat/completions"
    key: str = "sk-bench"
    model: str = MODEL

    def request(self, *, stream: bool) -> bytes:
        """A whole HTTP request for a chat answer."""
        asked = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": "You are a helpful assistant."},
                {"role": "user", "content": QUESTION},
            ],
            "temperature": 0.7,
            "stream": stream,
        }
        body = json.dumps(asked, separators=(",", ":")).encode()
        head = (
            f"POST {self.path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n"
            f"authorization: Bearer {self.key}\r\ncontent-type: application/json\r\n"
            f"accept: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


@dataclass(slots=True)
class Plain:
    """What a run of plain requests came to. Times in seconds."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    errors: int = 0
    first_error: str = ""

    @property
    def rate(self) -> float:
        """Good answers per second."""
        return len(self.latencies) / self.seconds if self.seconds else 0.0

    def percentile(self, share: float) -> float:
        """The latency that `share` of the answers did not exceed; 0 without answers."""
        ranked = sorted(self.latencies)
        return ranked[min(int(share * len(ranked)), len(ranked) - 1)] if ranked else 0.0


class _Caller(asyncio.Protocol):
    """Asks again as soon as an answer is whole, until told to stop."""

    def __init__(self, request: bytes, result: Plain) -> None:
        self._request = request
        self._result = result
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport
        self._asked = 0.0
        self._over = False
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def _ask(self) -> None:
        self._asked = perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        if self._over:
            return
        status = self._parser.get_status_code()
        if status == 200:
            self._result.latencies.append(perf_counter() - self._asked)
        else:
            self._result.errors += 1
            self._result.first_error = self._result.first_error or f"status {status}"
        self._ask()

    def connection_lost(self, _exc: Exception | None) -> None:
        if not self._over:
            self._result.errors += 1
            self._result.first_error = self._result.first_error or "connection closed"
        if not self.closed.done():
            self.closed.set_result(None)

    def stop(self) -> None:
        self._over = True
        self._transport.abort()


async def plain(target: Target, connections: int, seconds: float) -> Plain:
    """Keep `connections` busy with plain requests for `seconds`."""
    loop = asyncio.get_running_loop()
    result = Plain()
    request = target.request(stream=False)
    began = perf_counter()
    callers = [
        (await loop.create_connection(lambda: _Caller(request, result), "127.0.0.1", target.port))[
            1
        ]
        for _ in range(connections)
    ]
    await asyncio.sleep(seconds)
    result.seconds = perf_counter() - began
    for caller in callers:
        caller.stop()
    await asyncio.gather(*(caller.closed for caller in callers))
    return result


class Listener(asyncio.Protocol):
    """Reads one stream and counts its events that hold data."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._transport: asyncio.Transport
        self._tail = b""
        self._asked = 0.0
        self.events = 0
        self.first: float | None = None
        self.status = b""
        loop = asyncio.get_running_loop()
        self.started = loop.create_future()
        self.closed = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._asked = perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if not self.status:
            self.status = data[9:12]
        text = self._tail + data
        self.events += text.count(EVENT)
        self._tail = text[-len(EVENT) + 1 :]
        if self.first is None and b'"content":" ' in text:
            self.first = perf_counter() - self._asked
            self.started.set_result(None)

    def connection_lost(self, _exc: Exception | None) -> None:
        for future in (self.started, self.closed):
            if not future.done():
                future.set_result(None)

    def stop(self) -> None:
        self._transport.abort()


async def listen(target: Target, count: int, patience: float) -> list[Listener]:
    """Open `count` streams and wait, at most `patience` seconds, for a first token on each."""
    loop = asyncio.get_running_loop()
    request = target.request(stream=True)
    listeners: list[Listener] = []
    for _ in range(count):
        _, listener = await loop.create_connection(
            lambda: Listener(request), "127.0.0.1", target.port
        )
        listeners.append(listener)
    await asyncio.wait([listener.started for listener in listeners], timeout=patience)
    return listeners


async def leave(listeners: list[Listener]) -> None:
    """Close streams from the caller's side."""
    for listener in listeners:
        listener.stop()
    await asyncio.gather(*(listener.closed for listener in listeners))


@dataclass(slots=True)
class Streams:
    """What a window of open streams came to.

    Attributes:
        seconds: length of the window.
        events: events that arrived in it.
        cpu: seconds of processor time the program under test used in it.
        open: streams that had their first token when it began.
    """

    seconds: float
    events: int
    cpu: float
    open: int


async def streams(target: Target, count: int, seconds: float, cpu: Callable[[], float]) -> Streams:
    """Hold `count` streams open and measure a window of `seconds` once they run."""
    listeners = await listen(target, count, OPENING_S)
    try:
        await asyncio.sleep(0.2)
        live = [x for x in listeners if x.first is not None]
        began, used, seen = perf_counter(), cpu(), sum(x.events for x in live)
        await asyncio.sleep(seconds)
        return Streams(
            seconds=perf_counter() - began,
            events=sum(x.events for x in live) - seen,
            cpu=cpu() - used,
            open=len(live),
        )
    finally:
        await leave(listeners)


async def first_tokens(target: Target, seconds: float) -> Plain:
    """Streams one after the other on fresh connections: the time to each one's first token."""
    result = Plain()
    began = perf_counter()
    while perf_counter() - began < seconds:
        (listener,) = await listen(target, 1, 10)
        if listener.first is None:
            result.errors += 1
            result.first_error = result.first_error or f"status {listener.status.decode()}"
        else:
            result.latencies.append(listener.first)
        await leave([listener])
    result.seconds = perf_counter() - began
    return result


WRK_SCRIPT = """wrk.method = "POST"
wrk.body = {body}
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer {key}"
"""


def read_wrk(printed: str) -> float:
    """Good answers per second in what `wrk` printed; 0 where any answer was an error."""
    rate = re.search(r"Requests/sec:\s+([0-9.]+)", printed)
    return float(rate[1]) if rate and "Non-2xx" not in printed else 0.0


async def wrk(target: Target, connections: int, seconds: float, folder: Path) -> float | None:
    """Requests per second as `wrk` counts them; None where it is not installed."""
    if shutil.which("wrk") is None:
        return None
    body = target.request(stream=False).split(b"\r\n\r\n", 1)[1].decode()
    script = folder / f"wrk-{target.port}.lua"
    script.write_text(WRK_SCRIPT.format(body=json.dumps(body), key=target.key), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *("wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "-s", str(script)),
        f"http://127.0.0.1:{target.port}{target.path}",
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    return read_wrk(printed.decode())
