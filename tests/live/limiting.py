"""Both kinds of limits, made to run on a clock that tests set."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from tests.valkey_server import ValkeyServer
from zurelay.chat.problems import Problem, Refused
from zurelay.live.limits import LocalLimits
from zurelay.live.shared_limits import SCRIPT, SharedLimits
from zurelay.live.valkey import Valkey
from zurelay.live.valkey_address import parse
from zurelay.meter.limits import Bound, Grant, Limits

_names = itertools.count()
START_MS = 1_000_000_000_000


class Milliseconds:
    """A clock that moves when told to, and a wall clock beside it."""

    def __init__(self) -> None:
        self.ms = START_MS

    def __call__(self) -> float:
        return (self.ms + 0.5) / 1000

    def server(self) -> int:
        return self.ms


def local(clock: Milliseconds) -> LocalLimits:
    return LocalLimits(clock, clock)


@asynccontextmanager
async def shared(
    server: ValkeyServer,
    clock: Milliseconds | None = None,
    nodes: int = 1,
    deadline_s: float = 10.0,
) -> AsyncIterator[SharedLimits]:
    """A node, connected. Without a clock it goes by the server's own time."""
    connection = Valkey(parse(server.url), [SCRIPT])
    own = clock or Milliseconds()
    limits = SharedLimits(
        connection,
        own,
        own,
        lambda: f"node-{next(_names)}",
        nodes=nodes,
        deadline_s=deadline_s,
        server_ms=clock.server if clock is not None else None,
    )
    await connection.start()
    try:
        yield limits
    finally:
        await limits.leave()
        await connection.aclose()


class Asking:
    """Asks one kind of limits; bounds get names of their own, so that a server can be shared."""

    def __init__(self, limits: Limits, clock: Milliseconds) -> None:
        self.limits = limits
        self.clock = clock
        self._prefix = f"t{next(_names)}:"

    def named(self, bound: Bound) -> Bound:
        return replace(bound, name=self._prefix + bound.name)

    async def ask(
        self, *bounds: Bound, tokens: int = 0, least: int = 0, anthropic: bool = False
    ) -> Grant:
        named = [self.named(one) for one in bounds]
        now = self.limits.admit_now(named, tokens, least, anthropic=anthropic)
        if now is not None:
            return now
        return await self.limits.admit(named, tokens, least, anthropic=anthropic)

    async def refused(self, *bounds: Bound, tokens: int = 0, least: int = 0) -> Problem:
        try:
            await self.ask(*bounds, tokens=tokens, least=least)
        except Refused as refused:
            return refused.problem
        raise AssertionError("it was let in")

    async def wait_of(self, *bounds: Bound, tokens: int = 0) -> int:
        """Milliseconds that a refused request is told to wait."""
        problem = await self.refused(*bounds, tokens=tokens)
        return int(dict(problem.headers)[b"retry-after-ms"])

    async def left(self, *bounds: Bound) -> dict[str, int]:
        """What is left of requests and tokens, looked up by a request that is taken back."""
        grant = await self.ask(*bounds)
        told = dict(grant.headers(self.clock()))
        grant.cancel()
        names = ("requests", "tokens")
        found = {name: told.get(f"x-ratelimit-remaining-{name}".encode()) for name in names}
        return {
            name: int(value) + (name == "requests")
            for name, value in found.items()
            if value is not None
        }
