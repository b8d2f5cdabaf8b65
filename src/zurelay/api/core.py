"""What every endpoint of the data plane shares: parts, settings in force, who is calling.

Knows no endpoint.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from zurelay.access.keys import Key
from zurelay.api.addresses import client_address
from zurelay.api.exchange import HttpExchange
from zurelay.api.offload import Reader
from zurelay.api.refusals import Refusals
from zurelay.api.snapshot import Snapshot
from zurelay.chat.problems import Refused
from zurelay.formats.base import Inbound
from zurelay.live.bounds import Bounds
from zurelay.live.contents import Contents
from zurelay.live.idempotency import Idempotency
from zurelay.live.ids import Ids
from zurelay.live.keys import KeyRing
from zurelay.live.ledger import JournalLedger
from zurelay.live.shared_answers import SharedAnswers
from zurelay.live.tokens import TokenRing
from zurelay.meter.limits import Limits
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Purse, purse_of
from zurelay.plan.planner import Plan, make_plan
from zurelay.relay.job import Services
from zurelay.relay.runner import Run
from zurelay.telemetry.metrics import Metrics


class KeyUnknown(Exception):  # noqa: N818 - a turn of the path, not an error
    """A well-formed key that is not in memory: it may have been made a moment ago."""


@dataclass(slots=True)
class Parts:
    """What the composition root puts together; alive as long as the process.

    Attributes:
        contents: takes down messages of keys that have them stored.
        scrape: gives the metrics of all processes that share the address, where there are several.
    """

    services: Services
    keys: KeyRing
    ledger: JournalLedger
    metrics: Metrics
    ids: Ids
    reader: Reader
    idempotency: Idempotency
    wall: Callable[[], float]
    ready: Callable[[], dict[str, object]]
    tokens: TokenRing
    limits: Limits
    bounds: Bounds
    answers: SharedAnswers | None = None
    contents: Contents | None = None
    scrape: Callable[[], Awaitable[bytes]] | None = None


class Core:
    """The data plane without its endpoints; one a process.

    Attributes:
        snapshot: settings in force for new requests.
        runs: requests being relayed.
        streams: how many of them are streams.
        draining: the process is about to end: connections are not kept.
        waiting: tasks of requests that wait for something outside before they may be relayed.
        ending: every request is to end now.
        refusals: of this second.
    """

    def __init__(self, parts: Parts, snapshot: Snapshot, loop: asyncio.AbstractEventLoop) -> None:
        self.parts = parts
        self.snapshot = snapshot
        self.loop = loop
        self.runs: set[Run] = set()
        self.streams = 0
        self.draining = False
        self.waiting: set[asyncio.Task[object]] = set()
        self.ending = False
        self.refusals = Refusals(loop.call_later, self.record)
        self._purses: dict[str, tuple[Key, Snapshot, Purse]] = {}

    @property
    def exposes_routes(self) -> bool:
        """Whether callers see providers and their own error texts."""
        exposed = self.snapshot.expose_routes
        return self.parts.keys.accounts <= 1 if exposed is None else exposed

    def begin(self, run: Run) -> None:
        """A run starts."""
        self.runs.add(run)
        self.streams += run.streaming
        if self.ending:
            self.loop.call_soon(run.shut_down)

    def end_runs(self) -> None:
        """End every request that is being relayed or waits, and whatever is still admitted."""
        self.ending = True
        for task in list(self.waiting):
            task.cancel()
        for run in list(self.runs):
            run.shut_down()

    def end(self, run: Run) -> None:
        """A run is over."""
        self.runs.discard(run)
        self.streams -= run.streaming

    def record(self, record: RequestRecord) -> None:
        """Take the entry of a request into the log that set nothing aside; nobody waits for it."""
        self.parts.ledger.settle(None, record, _nothing)

    def plan(self, inbound: Inbound, key: Key) -> Plan:
        """Where that caller's request may go now.

        Raises:
            Refused: no model or route can take it; see `plan.planner.make_plan`.
        """
        services = self.parts.services
        return make_plan(
            self.snapshot.table,
            inbound,
            may_use=key.may_use,
            health=services.health,
            affinity=services.affinity,
            account=key.account,
            now=self.loop.time(),
            draw=services.jitter,
            hedge=self.snapshot.timing.hedge,
            key=key,
            wall=self.parts.wall,
        )

    def purse(self, key: Key, now: float) -> Purse:
        """What that key's requests are paid from at Unix time `now`."""
        known = self._purses.get(key.id)
        snapshot = self.snapshot
        if known is not None and known[0] is key and known[1] is snapshot and now < known[2].until:
            return known[2]
        made = purse_of(key, now, prepaid=snapshot.prepaid, zone=snapshot.zone)
        self._purses[key.id] = (key, snapshot, made)
        return made

    def address(self, exchange: HttpExchange) -> str | None:
        """Where the caller is, for the log."""
        trusted = self.snapshot.trusted_proxies
        if not trusted:
            return exchange.client_host or None
        forwarded = b",".join(v for name, v in exchange.headers if name == b"x-forwarded-for")
        return client_address(exchange.client_host, forwarded, trusted) or None

    def authenticate(self, exchange: HttpExchange) -> Key:
        """The caller's key.

        Raises:
            Refused: 401, or 503 while keys cannot be checked.
            KeyUnknown: only the store can tell.
        """
        try:
            key = self.parts.keys.identify(exchange.headers)
        except Refused:
            self.parts.metrics.invalid_key()
            raise
        if key is None:
            raise KeyUnknown
        return key


def _nothing() -> None:
    """Nobody waits."""
