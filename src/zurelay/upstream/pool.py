"""Idle connections, by origin.

Last in, first out, so that a quiet origin's surplus grows old and is closed. Does not know HTTP
or how connections are made.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from zurelay.upstream.exchange import Exchange
from zurelay.upstream.proxies import Proxy


class Pooled(Protocol):
    """What the pool asks of a connection."""

    origin: "Origin"
    expires: float

    @property
    def usable(self) -> bool:
        """It is open and nothing speaks against another call."""
        ...

    def start(self, exchange: Exchange) -> None:
        """Carry a call."""

    def close(self) -> None:
        """Close at once."""


@dataclass(slots=True, eq=False)
class Origin:
    """One place to connect to, and the connections waiting there."""

    scheme: str
    host: str
    port: int
    proxy: Proxy | None = None
    idle: list["Pooled"] = field(default_factory=list)


class Pool:
    """Keeps idle connections for at most `expiry` seconds, at most `most` for each origin."""

    def __init__(self, expiry: float, most: int) -> None:
        self._expiry = expiry
        self._most = most
        self._origins: dict[tuple[str, str, int, Proxy | None], Origin] = {}
        self._sweep: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> int:
        """Connections waiting, at all origins."""
        return sum(len(origin.idle) for origin in self._origins.values())

    def origin(self, scheme: str, host: str, port: int, proxy: Proxy | None) -> Origin:
        """The one `Origin` for these."""
        key = (scheme, host, port, proxy)
        found = self._origins.get(key)
        if found is None:
            found = self._origins[key] = Origin(scheme, host, port, proxy)
        return found

    def take(self, origin: Origin, now: float) -> Pooled | None:
        """The connection that came last, if one is good; stale ones met on the way are closed."""
        idle = origin.idle
        while idle:
            connection = idle.pop()
            if connection.usable and connection.expires > now:
                return connection
            connection.close()
        return None

    def put(
        self,
        connection: Pooled,
        loop: asyncio.AbstractEventLoop,
        hint: float | None = None,
    ) -> None:
        """Keep `connection`, or close it where there are enough.

        `hint` is how many seconds the peer says it keeps it.
        """
        # A second early: the peer's clock started before its hint arrived here.
        wait = self._expiry if hint is None else min(self._expiry, hint - 1.0)
        idle = connection.origin.idle
        if wait <= 0 or len(idle) >= self._most:
            connection.close()
            return
        connection.expires = loop.time() + wait
        idle.append(connection)
        if self._sweep is None:
            self._sweep = loop.call_later(self._expiry / 4, self._swept, loop)

    def discard(self, connection: Pooled) -> None:
        """Forget a connection that was closed, whether or not it is here."""
        idle = connection.origin.idle
        if connection in idle:
            idle.remove(connection)

    def close(self) -> None:
        """Close all idle connections and stop the sweep."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        for origin in self._origins.values():
            for connection in tuple(origin.idle):
                connection.close()
            origin.idle.clear()

    def _swept(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sweep = None
        now = loop.time()
        left = 0
        for origin in self._origins.values():
            for connection in tuple(origin.idle):
                if connection.expires <= now:
                    connection.close()
            origin.idle[:] = [c for c in origin.idle if c.expires > now]
            left += len(origin.idle)
        if left:
            self._sweep = loop.call_later(self._expiry / 4, self._swept, loop)
