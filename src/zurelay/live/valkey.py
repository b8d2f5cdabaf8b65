"""One connection to a Valkey or Redis server, kept up; one write for all of a loop turn.

Belongs to the event loop. Whoever sends while the server is away hears so at once, and goes on
without it. Knows no command but those that greet and try out a server; what is kept there is known
to `shared_limits` and the others who share.
"""

import asyncio
import contextlib
import random
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import structlog
from typing_extensions import override

from zurelay.live.valkey_address import ValkeyAddress
from zurelay.upstream.tls import client_context
from zurelay.wire.resp import NOTHING, ErrorReply, ProtocolError, Push, Replies, command

log = structlog.get_logger("zurelay.shared")

Done = Callable[[Any], None]
"""Gets the reply, an `ErrorReply`, or `LOST` where none came."""
Handler = Callable[[bytes], None]
"""Gets a published message."""

LOST = NOTHING
CONNECT_SECONDS = 2.0
STALE_SECONDS = 2.0
"""A server that owes an answer for so long is given up."""

_WATCH_SECONDS = 0.5
_CLOSE_SECONDS = 1.0
_QUIET_SECONDS = 60.0
_LEAST_VERSION = (7, 0)
_BACKOFF = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_GIVE_UP = ("NOSCRIPT", "READONLY", "LOADING", "MASTERDOWN", "NOAUTH")
"""Errors that a new connection cures, now or later: it loads scripts, or finds another server."""


class SharedStateError(Exception):
    """The server cannot be used; the text is one line for an operator, without a password."""


class AwayError(Exception):
    """The server did not answer."""


class _NotToldError(SharedStateError):
    """This user may not give that command."""


_AWAY = (OSError, TimeoutError, AwayError, ProtocolError)


class User(Protocol):
    """Who keeps something there."""

    def opened(self) -> None:
        """A connection is up: its first commands are yours."""
        ...

    def lost(self) -> None:
        """It is down; what was asked and not answered was told `LOST`."""
        ...


def ignore(_reply: Any) -> None:
    """For commands whose answer does not matter."""


class Valkey:
    """The connection of a process.

    Args:
        address: of the server.
        scripts: sources that `EVALSHA` may name; loaded on each connection.

    Attributes:
        address: as given.
        up: commands are answered.
        reconnects: connections opened so far.
    """

    def __init__(self, address: ValkeyAddress, scripts: Sequence[bytes] = ()) -> None:
        self.address = address
        self.up = False
        self.reconnects = 0
        self._scripts = scripts
        self._users: list[User] = []
        self._handlers: dict[bytes, Handler] = {}
        self._link: _Link | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._told = ""
        self._quiet_until = 0.0

    def use(self, user: User) -> None:
        """Tell `user` of connections; before `start`."""
        self._users.append(user)

    def subscribe(self, channel: bytes, handler: Handler) -> None:
        """Hear what others publish there, whenever connected; before `start`."""
        self._handlers[channel] = handler

    async def start(self) -> None:
        """Connect, or go on trying.

        Raises:
            SharedStateError: there is a server, and it cannot be used.
        """
        link: _Link | None = None
        try:
            link = await self._open()
        except _AWAY as error:
            self._say_away(error)
        except SharedStateError as error:
            raise SharedStateError(f"shared state at {self.address}: {error}") from None
        self._keeper = asyncio.create_task(self._keep(link))
        if link is not None:
            self._opened(link)

    async def examine(self) -> str:
        """What serves there, such as `Valkey 9.1.2`; instead of `start`.

        Raises:
            SharedStateError: it cannot be used, or reached.
        """
        try:
            link = await self._open()
        except (*_AWAY, SharedStateError) as error:
            raise SharedStateError(str(error) or "it does not answer") from None
        told = _told(await _asked(link.send, ("INFO", "server")))
        link.close()
        await link.closed
        version = told.get("valkey_version")
        return f"Valkey {version}" if version else f"Redis {told.get('redis_version', '')}"

    async def aclose(self) -> None:
        """Close it; what was sent before still goes out."""
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        link = self._link
        if link is not None:
            link.close()
            await asyncio.wait({link.closed}, timeout=_CLOSE_SECONDS)
            link.abort("it is closed")
            self._lost()

    def send(self, data: bytes, done: Done = ignore) -> None:
        """Send a command made by `wire.resp.command`; `done` gets its reply, or `LOST` at once."""
        link = self._link
        if link is None:
            done(LOST)
        else:
            link.send(data, done)

    async def ask(self, *parts: bytes | str | float) -> Any:
        """The reply to a command.

        Raises:
            AwayError: none came.
            SharedStateError: it failed.
        """
        return await _asked(self.send, parts)

    def heard(self, reply: Any) -> None:
        """A reply that should be none: an error is told to the operator, once in a minute."""
        if isinstance(reply, ErrorReply):
            now = asyncio.get_running_loop().time()
            if now >= self._quiet_until:
                self._quiet_until = now + _QUIET_SECONDS
                log.error("shared state failed", server=str(self.address), why=reply.text[:300])

    def drop(self, why: str) -> None:
        """Leave this connection and make another."""
        if self._link is not None:
            self._link.abort(why)

    # Our own.

    async def _keep(self, link: "_Link | None") -> None:
        tries = 0
        while True:
            if link is not None:
                tries = 0
                await self._watch(link)
                self._lost()
                self._say_away(link.why)
            delay = _BACKOFF[min(tries, len(_BACKOFF) - 1)]
            await asyncio.sleep(delay * (0.5 + random.random()))  # noqa: S311 - spreads nodes out
            tries += 1
            try:
                link = await self._open()
            except (*_AWAY, SharedStateError) as error:
                link = None
                self._say_away(error)
            else:
                self._opened(link)

    async def _watch(self, link: "_Link") -> None:
        """Return when the link has ended; ends it when the server goes silent."""
        while not link.closed.done():
            await asyncio.wait({link.closed}, timeout=_WATCH_SECONDS)
            if not link.waiting:
                link.send(command("PING"), ignore)
            elif link.silent_for() > STALE_SECONDS:
                link.abort("it does not answer")

    def _opened(self, link: "_Link") -> None:
        self._link = link
        self.up = True
        self.reconnects += 1
        if self._told:
            self._told = ""
            log.info("shared state is back", server=str(self.address))
        for user in self._users:
            user.opened()

    def _lost(self) -> None:
        self._link = None
        self.up = False
        for user in self._users:
            user.lost()

    def _say_away(self, why: object) -> None:
        """Once for each outage, and again when a server is there that cannot be used."""
        text = str(why) or type(why).__name__
        if not self._told or (isinstance(why, SharedStateError) and text != self._told):
            self._told = text
            log.warning("shared state is away", server=str(self.address), why=text)

    async def _open(self) -> "_Link":
        """A connection, greeted and tried out."""
        context = await asyncio.to_thread(_context) if self.address.tls else None
        async with asyncio.timeout(CONNECT_SECONDS):
            loop = asyncio.get_running_loop()
            _, link = await loop.create_connection(
                lambda: _Link(loop, self._handlers),
                self.address.host,
                self.address.port,
                ssl=context,
            )
            try:
                await self._greet(link)
            except BaseException:
                link.abort("it cannot be used")
                raise
        return link

    async def _greet(self, link: "_Link") -> None:
        address = self.address
        hello: list[bytes | str | int] = ["HELLO", 3]
        if address.password or address.user:
            hello += ["AUTH", address.user or "default", address.password]
        await _asked(link.send, [*hello, "SETNAME", "zurelay"])
        if address.database:
            await _asked(link.send, ("SELECT", address.database))
        try:
            _examine(await _asked(link.send, ("INFO", "server", "cluster", "memory")))
        except _NotToldError:
            log.warning("shared state may not be examined", server=str(address), allow="INFO")
        for script in self._scripts:
            await _asked(link.send, ("SCRIPT", "LOAD", script))
        for channel in self._handlers:
            link.send(command("SUBSCRIBE", channel), None)


async def _asked(send: Callable[[bytes, Done], None], parts: Sequence[bytes | str | float]) -> Any:
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def done(reply: Any) -> None:
        if not future.done():
            future.set_result(reply)

    send(command(*parts), done)
    reply = await future
    if reply is LOST:
        raise AwayError("the connection broke")
    if isinstance(reply, ErrorReply):
        text = f"{parts[0]!s} was refused: {reply.text[:200]}"
        passing = reply.text.startswith(("READONLY", "LOADING", "MASTERDOWN"))
        if reply.text.startswith("NOPERM"):
            raise _NotToldError(text)
        raise AwayError(text) if passing else SharedStateError(text)
    return reply


def _examine(info: Any) -> None:
    """Refuse a server that would lose or scatter what is kept there."""
    told = _told(info)
    version = told.get("redis_version", "")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers and numbers < _LEAST_VERSION:
        raise SharedStateError(f"it is version {version}; Valkey, or Redis from 7.0 on, is needed")
    if told.get("cluster_enabled") == "1":
        raise SharedStateError(
            "it runs in cluster mode, which is not supported: give the address of a single"
            " server, with replicas if you like"
        )
    policy = told.get("maxmemory_policy", "noeviction")
    if told.get("maxmemory", "0") != "0" and policy != "noeviction":
        raise SharedStateError(
            f"its maxmemory-policy is {policy}, so that limits would be forgotten when memory is"
            " short: set it to noeviction"
        )


def _told(info: Any) -> dict[str, str]:
    lines = bytes(info).decode("utf-8", "replace").split("\r\n")
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _context() -> ssl.SSLContext:
    context = client_context()
    context.set_alpn_protocols([])
    return context


class _Link(asyncio.Protocol):
    """One connection. Commands are answered in their order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, handlers: dict[bytes, Handler]) -> None:
        self._loop = loop
        self._handlers = handlers
        self._transport: asyncio.Transport | None = None
        self._replies = Replies()
        self._out: list[bytes] = []
        self._owed_since = 0.0
        self.waiting: deque[Done] = deque()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.why = "the connection broke"

    def send(self, data: bytes, done: Done | None) -> None:
        """Send with the others of this loop turn; without `done` no reply is awaited."""
        if self.closed.done():
            if done is not None:
                done(LOST)
            return
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(data)
        if done is not None:
            if not self.waiting:
                self._owed_since = self._loop.time()
            self.waiting.append(done)

    def silent_for(self) -> float:
        """Seconds for which an answer has been owed and nothing came."""
        return self._loop.time() - self._owed_since if self.waiting else 0.0

    def close(self) -> None:
        """End it once all is sent."""
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def abort(self, why: str) -> None:
        """End it now."""
        if not self.closed.done():
            self.why = why
        if self._transport is not None:
            self._transport.abort()

    def _flush(self) -> None:
        out, self._out = self._out, []
        # One that closes tells those who wait; writing to it would raise.
        if out and self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(out))

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    @override
    def data_received(self, data: bytes) -> None:
        self._owed_since = self._loop.time()
        try:
            self._replies.feed(data)
            while (reply := self._replies.next()) is not NOTHING:
                self._take(reply)
        except ProtocolError as error:
            self.abort(str(error))

    def _take(self, reply: Any) -> None:
        if isinstance(reply, Push):
            if reply.parts[0] == b"message":
                handler = self._handlers.get(reply.parts[1])
                if handler is not None:
                    handler(reply.parts[2])
            return
        if not self.waiting:
            raise ProtocolError("a reply to nothing")
        done = self.waiting.popleft()
        if isinstance(reply, ErrorReply) and reply.text.startswith(_GIVE_UP):
            self.abort(reply.text[:200])
        done(reply)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None and self.why == "the connection broke":
            self.why = f"the connection broke: {exc}"
        if not self.closed.done():
            self.closed.set_result(None)
        waiting, self.waiting = self.waiting, deque()
        for done in waiting:
            done(LOST)
