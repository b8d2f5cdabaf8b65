"""A server that does to HTTP clients what it is told to, for tests.

Listens on a free loopback port, notes every request, and plays one script for each. Knows just
enough HTTP to cut requests out of bytes. Does not know chat formats.
"""

import asyncio
import json
import socket
import ssl
import struct
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from typing_extensions import override

from zurelay.testing.script import Close, Pause, Reset, Script, Send, Stall, json_reply


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived.

    Attributes:
        path: with its query.
        headers: lower-case names; repeated ones are joined by a comma.
        connection: number of the connection it came on, from 1.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int = field(default=0, compare=False)

    @property
    def json(self) -> Any:
        """The body, parsed.

        Raises:
            ValueError: it is no JSON.
        """
        return json.loads(self.body)


Answer = Callable[[Request], Script]


class ScriptedUpstream:
    """The server; an async context manager.

    Scripts given here or by `enqueue` are played in order, one for each request. When none is left
    `answer` is asked; without it the reply is a 500 that says so.

    Args:
        scripts: the first scripts.
        answer: gives the script for a request.
        ssl_context: makes it an HTTPS server.
    """

    def __init__(
        self,
        *scripts: Script,
        answer: Answer | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self._scripts = deque(scripts)
        self._answer = answer
        self._ssl = ssl_context
        self._server: asyncio.Server | None = None
        self._port = 0
        self._connections: set[_Connection] = set()
        self._changed = asyncio.Event()
        self.connections = 0
        """Connections accepted so far."""
        self.left = 0
        """Connections that the peer closed, not this server."""
        self.sent = 0
        """Bytes handed to the system for sending."""
        self.failures: list[Exception] = []
        """What went wrong in `answer` or a script; the first is raised when the block is left."""

    @property
    def base_url(self) -> str:
        """Scheme, address and port, without a slash at the end."""
        return f"{'https' if self._ssl else 'http'}://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        """The port it listens on; known after it is closed, too."""
        if not self._port:
            raise RuntimeError("the scripted upstream was not started")
        return self._port

    @property
    def open(self) -> int:
        """Connections now."""
        return len(self._connections)

    def enqueue(self, *scripts: Script) -> None:
        """Add scripts for requests to come."""
        self._scripts.extend(scripts)

    async def wait_closed(self, count: int = 1) -> None:
        """Wait until the peer has closed `count` connections in all."""
        await self._until(lambda: self.left >= count)

    async def wait_connections(self, count: int = 1) -> None:
        """Wait until `count` connections have been accepted in all."""
        await self._until(lambda: self.connections >= count)

    async def wait_requests(self, count: int = 1) -> None:
        """Wait until `count` requests have arrived in all."""
        await self._until(lambda: len(self.requests) >= count)

    def drop_all(self) -> None:
        """Close every connection now, as a server does that restarts."""
        for connection in tuple(self._connections):
            connection.close()

    def refuse(self) -> None:
        """Refuse new connections from now on, as a server does that is down."""
        if self._server is not None:
            self._server.close()

    async def accept(self) -> None:
        """Listen, on the same port as before if there was one."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _Connection(self), "127.0.0.1", self._port, ssl=self._ssl, backlog=1024
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def __aenter__(self) -> "ScriptedUpstream":
        await self.accept()
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._server is not None:
            self._server.close()
            tasks = [c.task for c in self._connections if c.task is not None]
            for connection in tuple(self._connections):
                connection.abort()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._until(lambda: not self._connections)
            await self._server.wait_closed()
        if self.failures and exc[0] is None:
            raise self.failures[0]

    # What connections report.

    def accepted(self, connection: "_Connection") -> int:
        """A connection was made; returns its number."""
        self._connections.add(connection)
        self.connections += 1
        self.notify()
        return self.connections

    def script_for(self, request: Request) -> Script:
        """Note `request` and decide what to do with it."""
        self.requests.append(request)
        self.notify()
        if self._scripts:
            return self._scripts.popleft()
        if self._answer is None:
            return json_reply({"error": {"message": "no script is left"}}, 500)
        try:
            return self._answer(request)
        except Exception as error:  # noqa: BLE001 - shown when the block is left
            self.failures.append(error)
            return json_reply({"error": {"message": "the test's answer raised"}}, 500)

    def gone(self, connection: "_Connection", *, by_peer: bool) -> None:
        """A connection ended."""
        self._connections.discard(connection)
        self.left += by_peer
        self.notify()

    def notify(self) -> None:
        """Something that tests wait for may have changed."""
        self._changed.set()

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            self._changed.clear()
            await self._changed.wait()


class _Connection(asyncio.Protocol):
    """One connection: requests cut out of bytes, a task for each script."""

    def __init__(self, upstream: ScriptedUpstream) -> None:
        self.task: asyncio.Task[None] | None = None
        self._upstream = upstream
        self._number = 0
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._ours = False  # this side ends it
        self._writable = asyncio.Event()
        self._writable.set()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # small, so that `sent` says what the peer has taken
        self._transport.set_write_buffer_limits(high=64 * 1024)
        self._number = self._upstream.accepted(self)

    @override
    def data_received(self, data: bytes) -> None:
        self._received += data
        self._next()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._writable.set()
        if self.task is not None:
            self.task.cancel()
        self._upstream.gone(self, by_peer=not self._ours)

    @override
    def pause_writing(self) -> None:
        self._writable.clear()

    @override
    def resume_writing(self) -> None:
        self._writable.set()

    def close(self) -> None:
        """Close in order, after what was written."""
        self._ours = True
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._ours = True
        if self._transport is not None:
            self._transport.abort()
        if self.task is not None:
            self.task.cancel()

    def _next(self) -> None:
        if self.task is not None or self._transport is None:
            return
        request = _cut_request(self._received, self._number)
        if request is not None:
            script = self._upstream.script_for(request)
            self.task = asyncio.get_running_loop().create_task(self._run(script))

    async def _run(self, script: Script) -> None:
        try:
            await self._play(script)
        except Exception as error:  # noqa: BLE001 - shown when the block is left
            self._upstream.failures.append(error)
            self.abort()

    async def _play(self, script: Script) -> None:
        for step in script:
            match step:
                case Send(data):
                    await self._send(data)
                case Pause(until):
                    await (
                        until.wait() if isinstance(until, asyncio.Event) else asyncio.sleep(until)
                    )
                case Close():
                    self.close()
                    return
                case Reset():
                    self._reset()
                    return
                case Stall():
                    await asyncio.get_running_loop().create_future()
                case _:
                    raise TypeError(f"not a step: {step!r}")
        self.task = None
        self._next()

    async def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view and self._transport is not None:
            piece, view = view[: 16 * 1024], view[16 * 1024 :]
            self._transport.write(piece)
            self._upstream.sent += len(piece)
            await self._writable.wait()

    def _reset(self) -> None:
        self._ours = True
        if self._transport is not None:
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()


def _cut_request(received: bytearray, connection: int) -> Request | None:
    """Take the first whole request out of `received`, None if there is none yet."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    first, *lines = received[:end].decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    start = end + 4
    if headers.get("transfer-encoding", "").lower() == "chunked":
        found = _cut_chunks(received, start)
        if found is None:
            return None
        body, stop = found
    else:
        stop = start + int(headers.get("content-length", "0"))
        if len(received) < stop:
            return None
        body = bytes(received[start:stop])
    del received[:stop]
    return Request(method, path, headers, body, connection)


def _cut_chunks(received: bytearray, start: int) -> tuple[bytes, int] | None:
    """A chunked body from `start` on and where it ends; None if it is not whole yet."""
    body = bytearray()
    while True:
        line_end = received.find(b"\r\n", start)
        if line_end < 0:
            return None
        size = int(received[start:line_end].split(b";")[0], 16)
        start = line_end + 2
        if size == 0:
            trailer_end = received.find(b"\r\n", start)
            return None if trailer_end < 0 else (bytes(body), trailer_end + 2)
        if len(received) < start + size + 2:
            return None
        body += received[start : start + size]
        start += size + 2
