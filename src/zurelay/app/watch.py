"""A node's look-out: every half minute it writes down what operators should know.

The node that leads also looks at budgets and balances, and at what has come to its end. Belongs to
an event loop; the work is done in a thread of its own.
"""

import asyncio
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from zurelay.app import seeing
from zurelay.app.alarm import Alarm
from zurelay.config.alerts import Alerts
from zurelay.office import watching
from zurelay.office.desk import Desk
from zurelay.office.telling import Recipients
from zurelay.office.watching import Sighting
from zurelay.store.alerts import count_open
from zurelay.store.errors import StoreError
from zurelay.store.nodes import clock_offset

log = structlog.get_logger("zurelay.app")

ROUND_S: Final = 30.0
_STEADY_ROUNDS: Final = 5
"""After so many rounds in a row every other node has had its say too: ends count from then on."""
_FORGET_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the node runs.

    Attributes:
        name: the machine's.
        data: the data folder.
    """

    name: str
    data: Path


class Watch:
    """Looks out for one node."""

    def __init__(
        self,
        desk: Desk,
        machine: Machine,
        alerts: Callable[[], Alerts],
        look: Callable[[], Sequence[Sighting]],
        leads: Callable[[], bool],
        alarm: Alarm | None = None,
    ) -> None:
        """Make one that is idle until `run`.

        Args:
            desk: where alerts are raised.
            machine: where this node runs.
            alerts: the settings in force.
            look: what this node sees; called on the event loop.
            leads: whether this node is the one that works for all.
            alarm: tells operators while the store does not answer.
        """
        self._desk = desk
        self._machine = machine
        self._alerts = alerts
        self._look = look
        self._leads = leads
        self._alarm = alarm
        self._telling: asyncio.Task[None] | None = None
        self._away_since: float | None = None
        self._thread = ThreadPoolExecutor(1, "watch")
        self._steady = 0
        self._forget_due = 0.0
        self._failing = False
        self._closed = False
        self.open: Mapping[str, int] = {}
        """How many of the operators' alerts hold, by kind, as last seen."""

    async def run(self) -> None:
        """Look out until cancelled."""
        while True:
            await asyncio.sleep(ROUND_S)
            try:
                await self.round()
            except Exception:
                # What one round ran into must not end the watch.
                log.exception("a round of the watch failed")

    async def round(self) -> None:
        """Look once."""
        seen = list(self._look())
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._guarded, seen)
        if self._alarm is not None and (self._telling is None or self._telling.done()):
            # Servers that do not answer must not keep it from looking: what it saw would lapse.
            self._telling = loop.create_task(self._tell(self._alarm))

    async def close(self) -> None:
        """End; may be called again."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._thread.shutdown)
            if self._telling is not None:
                self._telling.cancel()
                await asyncio.wait([self._telling])
            if self._alarm is not None:
                await self._alarm.close()

    async def _tell(self, alarm: Alarm) -> None:
        try:
            await alarm.look(self._away_since)
        except Exception:
            log.exception("operators could not be told")

    # In the thread.

    def _guarded(self, seen: list[Sighting]) -> None:
        try:
            self._work(seen)
        except StoreError as error:
            self._steady = 0
            self._away_since = self._away_since or self._desk.clock()
            if not self._failing:
                log.error("alerts wait", error=str(error))  # noqa: TRY400
            self._failing = True
        except Exception:
            # One bad row must not end the watch over all others.
            log.exception("a round of the watch failed")
        else:
            self._failing = False
            self._away_since = None

    def _work(self, seen: list[Sighting]) -> None:
        alerts, desk = self._alerts(), self._desk
        operators = Recipients(alerts.emails, alerts.webhook, alerts.secret)
        leads = self._leads()
        seen += self._of_machine(alerts)
        if leads:
            seen += watching.silent_nodes(desk)
        for alert in watching.raise_seen(desk, seen, operators):
            log.warning("alert", kind=alert.kind, about=alert.subject.partition(":")[2])
        self._steady = self._steady + 1 if leads else 0
        if leads:
            self._lead(operators)
        with desk.store.read() as connection:
            self.open = count_open(connection)

    def _lead(self, operators: Recipients) -> None:
        watching.raise_spending(self._desk)
        if self._steady >= _STEADY_ROUNDS:
            for alert in watching.end_gone(self._desk, operators):
                log.info("alert is over", kind=alert.kind, about=alert.subject.partition(":")[2])
        now = time.monotonic()
        if now >= self._forget_due:
            watching.forget_old(self._desk)
            self._forget_due = now + _FORGET_S

    def _of_machine(self, alerts: Alerts) -> list[Sighting]:
        ahead = 0.0
        if self._desk.store.kind == "postgresql":
            with self._desk.store.read() as connection:
                ahead = clock_offset(connection)
        usage = shutil.disk_usage(self._machine.data)
        return seeing.machine(self._machine.name, (usage.used, usage.free), ahead, alerts)
