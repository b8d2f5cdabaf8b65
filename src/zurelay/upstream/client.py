"""The upstream client: calls in, answers out, connections kept in between.

On a pooled connection a call is one write and no task. The only deadline here is for connecting;
how long an answer may take is the caller's matter, who cancels. Does not know formats, providers
or retries other than replacing one stale connection.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from typing_extensions import override

from zurelay import __version__
from zurelay.upstream.base import Call, Client, ErrorKind, Receiver, UpstreamError
from zurelay.upstream.connection import Connection
from zurelay.upstream.dialing import Dialer, Resolve
from zurelay.upstream.exchange import Exchange
from zurelay.upstream.pool import Origin, Pool
from zurelay.upstream.proxies import Proxies
from zurelay.upstream.reading import Response, Stream, fetch, opened
from zurelay.upstream.request import encode_head, fixed_lines
from zurelay.upstream.tls import client_context
from zurelay.upstream.url import parse_url

_NO_PROXIES = Proxies({})
# URLs are few (one or two per route); the bound is for callers that make them up.
_MOST_URLS = 4096


@dataclass(frozen=True, slots=True)
class Statistics:
    """Connections now, and events since the start.

    Attributes:
        open: connections now.
        idle: those of them that wait for a call.
        connecting: calls that wait for a connection now.
        connected: connections made.
        reused: calls that went out on a pooled connection.
        replaced: calls whose pooled connection was stale.
    """

    open: int
    idle: int
    connecting: int
    connected: int
    reused: int
    replaced: int


class HttpClient(Client):
    """An HTTP/1.1 client for one event loop.

    Args:
        proxies: of the environment.
        context: gives the TLS context, when first needed; by default the system's trust store.
        agent: `user-agent` of calls that have none.
        idle_expiry: seconds an idle connection is kept.
        most_idle: idle connections kept for each origin.
        allowed: whether an address may be connected to; see `Dialer`.
        resolve: finds a name's addresses; by default the system's resolver.
    """

    def __init__(
        self,
        *,
        proxies: Proxies = _NO_PROXIES,
        context: Callable[[], ssl.SSLContext] = client_context,
        agent: str = f"zurelay/{__version__}",
        idle_expiry: float = 50.0,
        most_idle: int = 256,
        allowed: Callable[[str], bool] | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._proxies = proxies
        self._make_context = context
        self._context: ssl.SSLContext | None = None
        self._agent = agent
        self._pool = Pool(idle_expiry, most_idle)
        self._dialer = Dialer(self._tls, allowed, resolve)
        self._urls: dict[str, tuple[Origin, str]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connections: set[Connection] = set()
        self._connecting: dict[asyncio.Task[None], Exchange] = {}
        self._gone: asyncio.Event | None = None
        self._connected = 0
        self._reused = 0
        self._replaced = 0

    @override
    def send(self, call: Call, receiver: Receiver) -> Exchange:
        """Start `call`.

        Raises:
            ValueError: a URL or header that cannot be sent.
            RuntimeError: the client is closed.
        """
        if self._gone is not None:
            raise RuntimeError("the client is closed")
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        origin, fixed = self._urls.get(call.url) or self._learn(call.url)
        head = encode_head(call.method, fixed, call.headers, len(call.body), self._agent)
        exchange = Exchange(call, head, receiver, loop)
        connection = self._pool.take(origin, loop.time()) if origin.idle else None
        if connection is not None:
            self._reused += 1
            connection.start(exchange)
        else:
            self._connect(origin, exchange)
        return exchange

    async def fetch(self, call: Call) -> Response:
        """Send `call` and wait for the whole answer, of whatever status.

        A call without a limit gets one of 64 MiB. Cancelling closes the connection.

        Raises:
            UpstreamError: no whole answer.
        """
        return await fetch(self, call)

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[Stream]:
        """Send `call` and give its answer once the head is there; leaving the block closes it.

        Raises:
            UpstreamError: no answer; while iterating, no whole one.
        """
        async with opened(self, call) as stream:
            yield stream

    def statistics(self) -> Statistics:
        """Connections now, and events since the start."""
        return Statistics(
            open=len(self._connections),
            idle=self._pool.idle,
            connecting=len(self._connecting),
            connected=self._connected,
            reused=self._reused,
            replaced=self._replaced,
        )

    async def aclose(self) -> None:
        """Close everything and wait until it is; calls under way fail with CLOSED."""
        if self._gone is None:
            self._gone = asyncio.Event()
        tasks = dict(self._connecting)
        for task, exchange in tasks.items():
            task.cancel()
            exchange.failed(_shut(before_answer=True))
        self._dialer.close()
        self._pool.close()
        for connection in tuple(self._connections):
            connection.fail(_shut(before_answer=False))
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._connections:
            await self._gone.wait()

    async def __aenter__(self) -> "HttpClient":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    # What connections report.

    def opened(self, connection: Connection) -> None:
        """A connection can carry calls."""
        self._connected += 1
        self._connections.add(connection)

    def released(self, connection: Connection, hint: float | None) -> None:
        """A connection's call is over and it may carry another."""
        if self._gone is None and self._loop is not None:
            self._pool.put(connection, self._loop, hint)
        else:
            connection.close()

    def stale(self, exchange: Exchange) -> bool:
        """A pooled connection ended before an answer began: replace it.

        The replacement is a fresh connection and so never stale itself: no call is sent thrice.

        A stale connection shows within a round trip. One that ends later than connecting may take
        had been listened to, and the request may have been acted on.
        """
        if exchange.over or self._loop is None or self._gone is not None:
            return False
        if self._loop.time() - exchange.started > exchange.call.connect_deadline:
            return False
        self._replaced += 1
        self._connect(self._urls_origin(exchange.call.url), exchange)
        return True

    def closed(self, connection: Connection) -> None:
        """A connection is gone."""
        self._connections.discard(connection)
        self._pool.discard(connection)
        if self._gone is not None and not self._connections:
            self._gone.set()

    # Inside.

    def _learn(self, url: str) -> tuple[Origin, str]:
        address = parse_url(url)
        proxy = self._proxies.lookup(address.scheme, address.host, address.port)
        origin = self._pool.origin(address.scheme, address.host, address.port, proxy)
        if len(self._urls) >= _MOST_URLS:
            self._urls.clear()
        known = self._urls[url] = (origin, fixed_lines(address, proxy))
        return known

    def _urls_origin(self, url: str) -> Origin:
        return (self._urls.get(url) or self._learn(url))[0]

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = self._make_context()
        return self._context

    def _connect(self, origin: Origin, exchange: Exchange) -> None:
        task = exchange.loop.create_task(self._connect_and_start(origin, exchange))
        exchange.task = task
        self._connecting[task] = exchange
        task.add_done_callback(self._connecting.pop)

    async def _connect_and_start(self, origin: Origin, exchange: Exchange) -> None:
        connection = Connection(origin, self, exchange.loop)
        try:
            async with asyncio.timeout(exchange.call.connect_deadline):
                await self._dialer.connect(origin, connection)
        except BaseException as error:
            connection.abandon()
            exchange.task = None
            exchange.failed(_why(error, origin, exchange.call.connect_deadline))
            if not isinstance(error, UpstreamError | TimeoutError):
                raise
        else:
            exchange.task = None
            connection.start(exchange)


def _shut(*, before_answer: bool) -> UpstreamError:
    return UpstreamError(ErrorKind.CLOSED, "the client was closed", before_answer=before_answer)


def _why(error: BaseException, origin: Origin, deadline: float) -> UpstreamError:
    match error:
        case UpstreamError():
            return error
        case TimeoutError():
            kind = ErrorKind.CONNECT_TIMEOUT
            message = f"no connection to {origin.host}:{origin.port} within {deadline:g} s"
        case asyncio.CancelledError():
            return _shut(before_answer=True)
        case _:
            kind, message = ErrorKind.CONNECT, f"cannot connect to {origin.host}:{origin.port}"
    return UpstreamError(kind, message, before_answer=True)
