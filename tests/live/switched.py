"""A ledger on a log that can be switched off, and waiting for what it does."""

import asyncio
import contextlib
import functools
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.store.rows import ACCOUNT, NOON, spent_by_day
from zurelay.live.journal import Journal
from zurelay.live.ledger import JournalLedger
from zurelay.live.ports import Entry
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Wallet
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.log import StoredLog
from zurelay.store.requests import Filter
from zurelay.store.wallet_source import StoredWallets

WALLETS = (Wallet(f"balance:{ACCOUNT.id}", ACCOUNT.id, ACCOUNT.id, limited=False),)
"""Of an account that need not pay beforehand."""


class SwitchedLog(StoredLog):
    """A log that can be away, and that can be made to wait."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.store = store
        self.away = False
        self.go = threading.Event()
        self.go.set()
        self.applications = 0

    def apply(self, journal: str, upto: int, entries: Sequence[Entry]) -> None:
        self._answer()
        super().apply(journal, upto, entries)

    def add(self, node: str, entries: Sequence[Entry]) -> None:
        self._answer()
        super().add(node, entries)

    def _answer(self) -> None:
        self.go.wait(10)
        if self.away:
            raise StoreError("zurelay.db: away")
        self.applications += 1


def a_ledger(folder: Path, log: SwitchedLog, **options: object) -> JournalLedger:
    chosen: dict[str, object] = {"delay_s": 0.0, "retry_s": 0.01, "clock": lambda: NOON}
    journal = Journal(folder, ballast_mb=0)
    wallets = StoredWallets(log.store, journal.id, alone=True)
    return JournalLedger(journal, log, wallets, **(chosen | options))  # type: ignore[arg-type]


async def settled(ledger: JournalLedger, *records: RequestRecord) -> None:
    """Settle at once, and come back when all are durable."""
    waits = []
    for record in records:
        done = asyncio.get_running_loop().create_future()
        hold = ledger.reserve(WALLETS, 10)
        ledger.settle(hold, record, functools.partial(done.set_result, None))
        waits.append(done)
    await asyncio.gather(*waits)


async def until_logged(ledger: JournalLedger) -> None:
    while ledger.backlog:
        await asyncio.sleep(0.001)


async def until_it_works(ledger: JournalLedger) -> None:
    while ledger.broken is not None:
        await asyncio.sleep(0.001)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else can write the file."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


def spent(log: SwitchedLog) -> list[tuple[str, int, int]]:
    """What keys ever spent: (key id, days since 1970, nano-dollars)."""
    with log.store.read() as connection:
        return spent_by_day(connection)


def logged(log: StoredLog) -> set[str]:
    return {record.id for record in log.recent(Filter(), 10_000)}
