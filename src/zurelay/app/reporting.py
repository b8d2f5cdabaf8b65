"""What a process that shares its store tells the others of its routes, every few seconds.

For people who ask another process; nothing that answers requests reads or waits for it. Belongs to
an event loop; the work is done in a thread of its own.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

import structlog

from zurelay.plan.health import Health
from zurelay.plan.report import encoded, is_idle, marks, routes_of, shown
from zurelay.plan.route import RoutingTable
from zurelay.plan.standing import RouteState
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.route_reports import still, take_back, tell

log = structlog.get_logger("zurelay.app")

ROUND_S: Final = 5.0
_AT_ONCE: Final = 20
"""Routes looked at before others have their turn on the loop."""

Redact = Callable[[str], str]


class Reporting:
    """Tells for one process, until it ends."""

    def __init__(
        self,
        store: Store,
        process: tuple[str, str],
        table: Callable[[], RoutingTable],
        health: Health,
        redact: Callable[[], Redact],
    ) -> None:
        """Make one that is idle until `run`.

        Args:
            store: that processes share.
            process: its id among them, and its name for people.
            table: what is served now.
            health: of its routes; read on the event loop.
            redact: gives what makes a provider's own words fit to be shown, by the settings in
                force; the same one as long as these are.
        """
        self._store = store
        self._id, self._name = process
        self._table = table
        self._health = health
        self._redact = redact
        self._said: tuple[Redact, dict[str, str]] = (str, {})
        self._thread = ThreadPoolExecutor(1, "reporting")
        self._told: object = None
        self._failing = False
        self._closed = False

    async def run(self) -> None:
        """Tell until cancelled."""
        while True:
            try:
                await self.round()
            except Exception:
                # What one round ran into must not end the telling.
                log.exception("how routes stand could not be told")
            await asyncio.sleep(ROUND_S)

    async def round(self) -> None:
        """Tell once what is to be told of; nothing but a sign of life if it is told already."""
        loop = asyncio.get_running_loop()
        seen = {}
        for number, route in enumerate(routes_of(self._table())):
            if number and not number % _AT_ONCE:
                await asyncio.sleep(0)
            now = loop.time()
            known = self._health.snapshot(route, now)
            if not is_idle(known):
                seen[route.id] = known, now
        await loop.run_in_executor(self._thread, self._tell, seen)

    async def close(self) -> None:
        """Take back what was told: this process ends. May be called again."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._take_back)
            self._thread.shutdown()

    # In the thread.

    def _tell(self, seen: dict[str, tuple[RouteState, float]]) -> None:
        wanted = marks(seen)
        try:
            with self._store.write(alone=False) as connection:
                if self._told != wanted or not still(connection, self._id):
                    states = {id_: known for id_, (known, _) in seen.items()}
                    text = encoded(shown(states, self._fit()))
                    tell(connection, self._id, self._name, text)
        except StoreError as error:
            self._told = None
            if not self._failing:
                log.error("how routes stand is not told", error=str(error))  # noqa: TRY400
            self._failing = True
        else:
            self._told = wanted
            self._failing = False

    def _fit(self) -> Redact:
        """What makes words fit; those of the last round are done already, as most come again."""
        redact = self._redact()
        by, before = self._said
        if by is not redact:
            before = {}
        done: dict[str, str] = {}
        self._said = (redact, done)

        def fit(message: str) -> str:
            found = before.get(message)
            done[message] = found = redact(message) if found is None else found
            return found

        return fit

    def _take_back(self) -> None:
        # A store that does not answer forgets it by itself.
        with suppress(StoreError), self._store.write(alone=False) as connection:
            take_back(connection, self._id)
