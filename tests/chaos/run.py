"""A gateway among failing upstreams: the run, and what must hold after it.

Knows neither how the gateway was started nor who reads the figures.
"""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from tests.chaos.callers import Caller, Seen
from tests.chaos.faults import Mischief
from zurelay.meter.record import RequestRecord
from zurelay.telemetry.looplag import LoopLag
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

ROUTES = 5
ATTEMPTS = 6
DEADLINE_S = 3
"""For a first token, and for the next event."""
BUSY_S = 1.0
"""Callers and upstreams that are this late prove nothing: a route that is well misses deadlines."""


@dataclass(slots=True)
class Upstreams:
    """The routes' upstreams, one of them always well.

    Attributes:
        done: what they did -> how often.
    """

    servers: list[ScriptedUpstream] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    healthy: int = 0

    @property
    def requests(self) -> int:
        """Requests that reached one of them."""
        return sum(self.done.values())

    @property
    def open(self) -> int:
        """Connections to them."""
        return sum(server.open for server in self.servers)

    @contextlib.asynccontextmanager
    async def running(self, seed: int, pace: float) -> AsyncIterator["Upstreams"]:
        """Listen until the block is left; one of them is not there now and then."""
        self.healthy = random.Random(seed).randrange(ROUTES)
        async with contextlib.AsyncExitStack() as stack:
            for number in range(ROUTES):
                mischief = Mischief(
                    f"{seed}-{number}", self.done, healthy=number == self.healthy, pace=pace
                )
                server = ScriptedUpstream(answer=mischief.answer)
                self.servers.append(await stack.enter_async_context(server))
            flapping = asyncio.create_task(self._flap(random.Random(seed + 1)))
            try:
                yield self
            finally:
                flapping.cancel()
                await asyncio.wait([flapping])

    async def _flap(self, rng: random.Random) -> None:
        sick = [server for at, server in enumerate(self.servers) if at != self.healthy]
        while True:
            await asyncio.sleep(rng.uniform(0.5, 3))
            server = rng.choice(sick)
            server.refuse()
            server.drop_all()
            await asyncio.sleep(rng.uniform(0.1, 1))
            await server.accept()


def configuration(upstreams: Upstreams, models: int, *, hedge: bool) -> str:
    """A route to each upstream for each model, deadlines shortened."""
    names = [f"route-{number}" for number in range(len(upstreams.servers))]
    providers = "".join(
        f'[providers.{name}]\nkind = "groq"\nbase_url = "{server.base_url}/v1"\n'
        f'api_key = "SECRET-{name}-1234"\ncatalogue = false\n'
        for name, server in zip(names, upstreams.servers, strict=True)
    )
    served = ""
    for number in range(models):
        routes = ", ".join(f'{{ provider = "{name}", model = "up-{number}" }}' for name in names)
        served += (
            f'[models."model-{number}"]\nroutes = [{routes}]\ncontext = 100000\n'
            'price = { input = "1.00", output = "5.00" }\n'
        )
    return (
        "[server]\nexpose_routes = false\nshutdown_grace_s = 5\ndrain_delay_s = 0\n"
        "[limits]\nconcurrency = 100000\n"
        "[streaming]\nearly_open_s = 0.3\nkeep_alive_s = 0.2\n"
        f"[routing]\nattempts = {ATTEMPTS}\nconnect_deadline_s = 2\n"
        f"start_deadline_s = {DEADLINE_S}\n"
        f"idle_deadline_s = {DEADLINE_S}\nhedge = {str(hedge).lower()}\n[sandbox]\nenabled = false\n"
        f"{providers}{served}"
    )


async def besiege(
    origin: str, key: str, *, models: int, streams: int, seconds: float, seed: int
) -> Seen:
    """`streams` callers that ask for so many seconds, and wait for their last answers."""
    seen = Seen()
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    names = [f"model-{number}" for number in range(models)]

    def late(by: float) -> None:
        seen.lag = max(seen.lag, by)

    lag = LoopLag(loop, late)
    lag.start()
    async with HttpClient() as client:
        callers = [
            Caller(n, client, origin, key, names, seen, random.Random(f"{seed}/{n}"))
            for n in range(streams)
        ]
        await asyncio.gather(*(c.ask_until(lambda: loop.time() >= end) for c in callers))
    lag.stop()
    return seen


def judge_log(rows: Sequence[RequestRecord], seen: Seen, upstreams: Upstreams) -> None:
    """One row for each request, each with an end, attempts within bounds."""
    tags = Counter(row.client_request_id for row in rows)
    for tag, count in tags.items():
        if count != 1 or tag not in seen.tags:
            seen.note(f"{tag}: {count} log rows")
    missing = seen.tags - set(tags)
    if missing:
        seen.note(f"{len(missing)} requests without a log row, such as {min(missing)}")
    for row in rows:
        if row.status == "running" or row.duration_ms is None:
            seen.note(f"{row.client_request_id}: the log says it still runs")
        calls = Counter(attempt.route for attempt in row.attempts)
        if len(row.attempts) > ATTEMPTS or max(calls.values(), default=0) > 2:
            seen.note(f"{row.client_request_id}: too many attempts: {calls}")
        if any(attempt.status == "running" or attempt.end_ms is None for attempt in row.attempts):
            seen.note(f"{row.client_request_id}: an attempt has no end")
    attempts = sum(len(row.attempts) for row in rows)
    # A connection that had gone stale is replaced once, unseen.
    if upstreams.requests > attempts * 1.05 + 20:
        seen.note(f"{upstreams.requests} requests upstream, {attempts} attempts in the log")
    repeats = sum(len(row.attempts) - len({a.route for a in row.attempts}) for row in rows)
    if repeats > 0.1 * len(rows) + 10 * 90:
        seen.note(f"{repeats} second tries for {len(rows)} requests")
