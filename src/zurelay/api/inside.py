"""Model requests that come from inside this process: the console's playground.

They take the path of every other request, from the check of the body to the log row, under a key
that was looked up and not shown. Only the way in and out is another: no connection, no HTTP.
"""

import asyncio
from collections import deque
from typing import Final

from uvicorn.server import ServerState

from zurelay.access.keys import Key
from zurelay.api import completions
from zurelay.api.core import Core
from zurelay.api.exchange import Headers, HttpExchange
from zurelay.formats import registry

PATH: Final = "/v1/chat/completions"
MOST_BUFFERED: Final = 256 * 1024
"""Bytes of an answer that may wait to be read before its source is stopped."""


class _Nowhere:
    """Stands where an exchange has its connection; nothing is ever written to it."""

    transport: asyncio.Transport
    server_state: ServerState

    def __init__(self, loop: asyncio.AbstractEventLoop, host: str) -> None:
        self.loop = loop
        self.client: tuple[str, int] | None = (host, 0) if host else None

    def on_response_complete(self) -> None:
        """No next request waits."""

    def hold_body(self, held: bool) -> None:
        """The body is whole."""

    def linger(self) -> None:
        """The body is whole."""


class InsideExchange(HttpExchange):
    """A request whose answer is read here, piece by piece.

    Attributes:
        cut: the answer ended before its end.
    """

    __slots__ = ("_buffered", "_head_told", "_pieces", "_woken", "cut")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, headers: list[tuple[bytes, bytes]], host: str
    ) -> None:
        super().__init__(
            connection=_Nowhere(loop, host),
            method="POST",
            path=PATH,
            query="",
            headers=headers,
            http_1_0=False,
            keep_alive=True,
            expects_continue=False,
            started=loop.time(),
        )
        self.cut = False
        self._head_told: tuple[int, Headers] | None = None
        self._pieces: deque[bytes] = deque()
        self._buffered = 0
        self._woken = asyncio.Event()

    # For whoever reads the answer.

    async def head(self) -> tuple[int, Headers] | None:
        """Status and headers once they are there; None if none will come, or after `leave`."""
        while self._head_told is None and not self.disconnected and not self.response_complete:
            await self._wait()
        return self._head_told

    async def piece(self) -> bytes | None:
        """More of the answer; None at its end."""
        while not self._pieces and not self.response_complete and not self.disconnected:
            await self._wait()
        if not self._pieces:
            return None
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._buffered = 0
        if self.paused:
            self.set_paused(False)
        return data

    def leave(self) -> None:
        """Whoever asked is gone; an answer that is under way is given up."""
        self.lost()
        self._woken.set()

    # What the relay calls.

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """A whole answer."""
        if self.disconnected or self.response_started:
            return
        self.open(status, headers, body)
        self._complete()

    def open(self, status: int, headers: Headers, first: bytes = b"") -> None:
        """The head of a stream, and its first bytes."""
        if self.disconnected or self.response_started:
            return
        self.response_started = True
        self._head_told = (status, [*self.common_headers, *self.at_head(), *headers])
        self._take(first)

    def write(self, data: bytes) -> None:
        """More of an open stream."""
        if not self.disconnected and not self.response_complete:
            self._take(data)

    def close(self, last: bytes = b"") -> None:
        """The last bytes of an open stream."""
        if not self.disconnected and not self.response_complete:
            self._take(last)
            self._complete()

    def abort(self) -> None:
        """End it, without what would make it look whole."""
        self.cut = True
        self._complete()

    # Our own.

    def _take(self, data: bytes) -> None:
        if data:
            self._pieces.append(data)
            self._buffered += len(data)
        self._woken.set()
        if self._buffered > MOST_BUFFERED and not self.paused:
            self.set_paused(True)

    def _complete(self) -> None:
        super()._complete()
        self._woken.set()

    async def _wait(self) -> None:
        self._woken.clear()
        await self._woken.wait()


async def ask(
    core: Core, digest: bytes, body: bytes, headers: list[tuple[bytes, bytes]], host: str
) -> InsideExchange:
    """Let a Chat Completions request in, under the key with that hash.

    Args:
        core: the data plane.
        digest: the key's hash, from the store.
        body: the request.
        headers: of the call that brought it, names in lower case: for the log.
        host: where that call came from.

    Raises:
        Refused: 401 or 503: the key does not work, or cannot be checked.
    """
    key: Key = await core.parts.keys.known(digest)
    exchange = InsideExchange(core.loop, headers, host)
    exchange.request_id = core.parts.ids.request()
    exchange.common_headers = [(b"x-request-id", exchange.request_id.encode("ascii"))]
    exchange.body_parts = [body]
    exchange.body_size = len(body)
    exchange.body_complete = True
    front = next(one for one in registry.FRONTS if one.name == "openai_chat")
    completions.serve_for(core, exchange, front, key)
    return exchange
