"""Work that one of all nodes does for their store: leases of the dead return, old entries go.

Belongs to an event loop; the work is done in a thread of its own.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import structlog

from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.route_reports import forget_silent
from zurelay.store.upkeep import Upkeep
from zurelay.store.wallet_source import database_time
from zurelay.store.wallets import expire

log = structlog.get_logger("zurelay.app")

ROUND_SECONDS = 30.0
_UPKEEP_SECONDS = 3600.0


class Housekeeping:
    """Takes part in the choice of the node that works, and works while it is this one."""

    def __init__(self, store: Store, keep_s: Callable[[], float | None]) -> None:
        """Make one that is idle until `run`.

        Args:
            store: the nodes'.
            keep_s: tells how many seconds log entries are kept; None for ever.
        """
        self._store = store
        self._keep_s = keep_s
        self._upkeep = Upkeep(store)
        self._thread = ThreadPoolExecutor(1, "housekeeping")
        self._due = 0.0
        self._failing = False
        self._closed = False
        self.leading = False
        """Whether this node was the one that works when it last looked."""

    async def run(self) -> None:
        """Work until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await loop.run_in_executor(self._thread, self._round)
            await asyncio.sleep(ROUND_SECONDS)

    async def close(self) -> None:
        """Let another node work; may be called again."""
        if self._closed:
            return
        self._closed = True
        self.leading = False
        await asyncio.get_running_loop().run_in_executor(self._thread, self._upkeep.close)
        self._thread.shutdown()

    def _round(self) -> None:
        """In the thread."""
        try:
            self._work(time.time())
        except StoreError as error:
            self.leading = False
            if not self._failing:
                log.error("upkeep failed", error=str(error))  # noqa: TRY400
            self._failing = True
        else:
            self._failing = False

    def _work(self, now: float) -> None:
        self.leading = self._upkeep.leader.leads()
        if not self.leading:
            self._due = 0.0
            return
        if self._store.kind == "postgresql":  # SQLite's leases are never given up
            with self._store.write() as connection:
                lost = expire(connection, database_time(connection))
                forget_silent(connection)
            if lost:
                log.warning("leases of nodes that are gone returned", nodes=lost)
        if now >= self._due and self._upkeep.run(now, self._keep_s()):
            self._due = now + _UPKEEP_SECONDS
