"""Reading answers with await, for callers that are not in a hurry.

Built on `Client.send` alone. Does not know connections.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec
from typing_extensions import override

from zurelay.upstream.base import Call, Client, Handle, Receiver, UpstreamError

_FETCH_LIMIT = 64 * 1024 * 1024
# Unread bytes of a stream at which reading stops.
_HIGH_WATER = 256 * 1024


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer, content encoding removed. Header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def fetch(client: Client, call: Call) -> Response:
    """Send `call` and wait for the whole answer.

    Raises:
        UpstreamError: no whole answer.
    """
    if call.limit is None:
        call = msgspec.structs.replace(call, limit=_FETCH_LIMIT)
    collector = _Collector(asyncio.get_running_loop().create_future())
    handle = client.send(call, collector)
    try:
        return await collector.answer
    finally:
        handle.cancel()


class _Collector(Receiver):
    def __init__(self, answer: asyncio.Future[Response]) -> None:
        self.answer = answer
        self._status = 0
        self._headers: Mapping[str, str] = {}
        self._chunks: list[bytes] = []

    @override
    def head(self, status: int, headers: Mapping[str, str]) -> None:
        self._status, self._headers = status, headers

    @override
    def data(self, chunk: bytes) -> None:
        self._chunks.append(chunk)

    @override
    def end(self) -> None:
        if not self.answer.done():
            response = Response(self._status, self._headers, b"".join(self._chunks))
            self.answer.set_result(response)

    @override
    def failed(self, error: UpstreamError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class Stream(Receiver):
    """An answer whose body is read as it comes: `async for chunk in stream`.

    Reading stops while 256 KiB wait to be taken. Only one task may iterate.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self._handle: Handle | None = None
        self._chunks: deque[bytes] = deque()
        self._waiting = 0
        self._over = False
        self._error: UpstreamError | None = None
        self._news = asyncio.Event()

    async def start(self, client: Client, call: Call) -> None:
        """Send `call` and wait for the head.

        Raises:
            UpstreamError: no answer.
        """
        self._handle = client.send(call, self)
        await self._news.wait()
        if self._error is not None and not self.status:
            raise self._error

    def cancel(self) -> None:
        """Close the connection unless the answer is over."""
        if self._handle is not None:
            self._handle.cancel()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            while self._chunks:
                chunk = self._chunks.popleft()
                self._waiting -= len(chunk)
                if self._handle is not None and self._waiting < _HIGH_WATER:
                    self._handle.resume()
                yield chunk
            if self._error is not None:
                raise self._error
            if self._over:
                return
            self._news.clear()
            await self._news.wait()

    @override
    def head(self, status: int, headers: Mapping[str, str]) -> None:
        self.status, self.headers = status, headers
        self._news.set()

    @override
    def data(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._waiting += len(chunk)
        if self._handle is not None and self._waiting >= _HIGH_WATER:
            self._handle.pause()
        self._news.set()

    @override
    def end(self) -> None:
        self._over = True
        self._news.set()

    @override
    def failed(self, error: UpstreamError) -> None:
        self._error = error
        self._news.set()


@asynccontextmanager
async def opened(client: Client, call: Call) -> AsyncIterator[Stream]:
    """An answer that is closed when the block is left.

    Raises:
        UpstreamError: no answer.
    """
    stream = Stream()
    try:
        await stream.start(client, call)
        yield stream
    finally:
        stream.cancel()
