"""The sandbox as an HTTP server of its own, for `zurelay sandbox` and for tests over real sockets.

A bare ASGI application on uvicorn. Takes any key, or none. Knows HTTP; what is answered and when
stands in `service.py`.
"""

import asyncio
import contextlib
import itertools
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import uvicorn
import uvloop
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from zurelay.chat.problems import too_large
from zurelay.sandbox.base import Answer, Identity
from zurelay.sandbox.service import answer, refuse

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_MOST_BODY = 64 * 1024 * 1024
_ABORT = "zurelay.abort"
"""Our ASGI extension: `close` ends the connection without an answer."""


class App:
    """The ASGI application."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        created = int(self._now())
        identity = Identity(f"sh{created:x}{next(self._numbers):06x}", created)
        started = asyncio.get_running_loop().time()
        body = await _read(receive)
        if body is None:
            told = refuse(too_large("The sandbox takes bodies of at most 64 MB."), identity)
        else:
            told = answer(scope["method"], scope["path"], body, identity)
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await _Performance(scope, send, gone, started).play(told)
        finally:
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone


class _Performance:
    """One answer over one connection."""

    def __init__(
        self, scope: Message, send: Send, gone: "asyncio.Future[None]", started: float
    ) -> None:
        self._abort: Callable[[], None] | None = (
            scope.get("extensions", {}).get(_ABORT, {}).get("close")
        )
        self._send = send
        self._gone = gone
        self._started = started

    async def play(self, told: Answer) -> None:
        """Send `told` in its own time, until it ends or the client is gone."""
        if told.head_at is not None:
            if not await self._wait_until(told.head_at):
                return
            headers = [(name.encode(), value.encode()) for name, value in told.headers]
            await self._send(
                {"type": "http.response.start", "status": told.status, "headers": headers}
            )
        for step in told.steps:
            if not await self._wait_until(step.at):
                return
            await self._send({"type": "http.response.body", "body": step.data, "more_body": True})
        if not await self._wait_until(told.ends_at):
            return
        if told.cut:
            await self._cut()
        else:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait_until(self, at: float) -> bool:
        """Wait for the moment; False when the client went away meanwhile."""
        left = self._started + at - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.wait({self._gone}, timeout=left)
        return not self._gone.done()

    async def _cut(self) -> None:
        """Close the connection as a crashing server would."""
        if self._abort is None:
            raise ConnectionAbortedError("The sandbox closes this connection on purpose.")
        self._abort()
        await self._gone


class _Protocol(HttpToolsProtocol):
    """Lets the application close its connection without an answer, which ASGI cannot say."""

    @override
    def on_headers_complete(self) -> None:
        self.scope["extensions"] = {_ABORT: {"close": self.transport.close}}
        super().on_headers_complete()


async def _read(receive: Receive) -> bytes | None:
    """The whole body, None if it is too long."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size <= _MOST_BODY:
            parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts) if size <= _MOST_BODY else None


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class SandboxServer(uvicorn.Server):
    """uvicorn with our settings; signals are left to whoever runs it."""

    def __init__(self) -> None:
        super().__init__(
            uvicorn.Config(
                App(),
                http=_Protocol,
                ws="none",
                lifespan="off",
                interface="asgi3",
                access_log=False,
                log_config=None,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=1,
            )
        )
        self.listening = asyncio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def run(host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        host: address to listen on.
        port: 0 takes a free one.
        announce: called once with the base URL when calls are taken.

    Raises:
        OSError: the address cannot be listened on.
    """
    listener = socket.create_server((host, port), family=_family(host), backlog=1024)

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        for kind in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(kind, stop.set)
        async with _serving(listener):
            announce(_base_url(listener))
            await stop.wait()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve())


@contextlib.asynccontextmanager
async def running(host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve inside the running loop; gives the base URL, such as `http://127.0.0.1:40123/v1`.

    Raises:
        OSError: the address cannot be listened on.
    """
    listener = socket.create_server((host, port), family=_family(host), backlog=1024)
    async with _serving(listener):
        yield _base_url(listener)


@contextlib.asynccontextmanager
async def _serving(listener: socket.socket) -> AsyncIterator[None]:
    server = SandboxServer()
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    listening = asyncio.ensure_future(server.listening.wait())
    try:
        await asyncio.wait({task, listening}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        yield
    finally:
        listening.cancel()
        server.should_exit = True
        await task
        listener.close()


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _base_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"
