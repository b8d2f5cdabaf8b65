"""The ledger of one process: reserve in memory, settle into the journal, project into the log.

Settling queues. Once per turn of the loop everything queued becomes one group in the journal, and
with that is durable; then the answers may end. A thread moves groups on into the request log, and
the mark of how far it came is written in the same transaction, so that a start after any kind of
end moves each entry exactly once. Until then entries are read from memory.

If the journal cannot be written, new requests are refused, answers under way end a second later,
and their records wait in memory for a journal that works again: nothing billed is ever dropped.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple

import structlog

from zurelay.chat.problems import Refused, overloaded_here
from zurelay.live.journal import Journal, JournalError
from zurelay.live.ports import Entry, RequestLog, WalletSource
from zurelay.live.records import bound, encode_record
from zurelay.live.wallets import Hold, Wallets
from zurelay.meter import ports
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Wallet
from zurelay.telemetry.metrics import StoreHealth

_BATCH: Final = 512
"""Entries per transaction on the log, give or take a group; so many do not wait for more company.

A transaction holds up the loop once, and half of what a row costs in one of 64 is the transaction.
"""

_REPLAY: Final = 1000
"""Entries per transaction at the start."""

_log = structlog.get_logger("zurelay.ledger")


class Group(NamedTuple):
    """Entries that became durable together and are on their way into the log.

    `seq` is its number in the journal, `entries` None where only the journal still has them; `size`
    is how many they are, `at` the Unix time of the commit.
    """

    seq: int
    entries: list[Entry] | None
    size: int
    at: float


class JournalLedger:
    """A `meter.ports.Ledger` on a journal and a log. Belongs to one event loop.

    Attributes:
        wallets: what this process may spend.
        held: nano-dollars set aside for requests under way; `holds` how many these are.
        overrun: nano-dollars so far that requests cost beyond what their wallets had.
        broken: why the journal cannot be written; None while it can.
    """

    def __init__(
        self,
        journal: Journal,
        log: RequestLog,
        wallets: WalletSource,
        *,
        power_safe: bool = False,
        delay_s: float = 0.25,
        retry_s: float = 1.0,
        keep: int = 50_000,
        clock: Callable[[], float] = time.time,
        observe: Callable[[float], object] = float,
    ) -> None:
        """Make a ledger; nothing runs before `start`.

        Args:
            journal: owned from now on.
            log: where entries end up; called from a thread.
            wallets: where money is kept; called from a thread.
            power_safe: the journal waits for the disk, so it is written from a thread.
            delay_s: how long entries may wait for company on their way into the log.
            retry_s: pause after a failure of journal or log.
            keep: entries kept in memory until the log has them; more wait in the journal alone.
            clock: Unix time.
            observe: told of each group how many seconds its first entry waited to be durable.
        """
        self._journal = journal
        self._log = log
        self._delay_s = delay_s
        self._retry_s = retry_s
        self._keep = keep
        self._clock = clock
        self._observe = observe
        self._writer = ThreadPoolExecutor(1, "journal") if power_safe else None
        self._projector = ThreadPoolExecutor(1, "projector")
        self._running: dict[str, RequestRecord] = {}
        self._unlogged: dict[str, RequestRecord] = {}
        self._queue: list[tuple[RequestRecord, bytes]] = []
        self._waiting: list[Callable[[], None]] = []
        self._failed_once = 0  # of `_waiting`
        self._since: float | None = None  # when the first of `_queue` came, by the loop's clock
        self._writing_since: float | None = None  # likewise, of the group being written
        self._flushing = False
        self._pending: deque[Group] = deque()
        self._projecting: Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._applied = 0
        self._log_fails = False
        self._closing = False
        self.wallets = Wallets(wallets, undelivered=lambda: self.backlog)
        self.held = 0
        self.holds = 0
        self.overrun = 0
        self.broken: str | None = None
        self._commits = 0
        self._last_commit = 0.0
        self._refused = 0

    async def start(self) -> None:
        """Move what an earlier process left in the journal into the log, then take requests.

        Raises:
            JournalError: the journal is damaged.
            Exception: the log cannot be written.
        """
        self._loop = asyncio.get_running_loop()
        await self._loop.run_in_executor(self._projector, self._replay)
        await self.wallets.start()

    async def close(self) -> None:
        """Make everything durable and bring it into the log; no request may be under way."""
        settled = self._loop.create_future()
        self._wait(lambda: settled.set_result(None))
        await settled
        if self._queue:
            self._flush_last()
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        try:
            await self._loop.run_in_executor(self._projector, self._replay)
        except Exception as error:  # noqa: BLE001 - the journal keeps what the log refused
            _log.error("log_write_failed", error=str(error), left_in_journal=len(self._pending))
        else:
            self._pending.clear()
            self._unlogged.clear()
        await self.wallets.close()
        if self._writer is not None:
            self._writer.shutdown()
        self._projector.shutdown()
        self._journal.close()

    def _flush_last(self) -> None:
        """One more try; what cannot be written is told, whole, so that it can be billed by hand."""
        try:
            self._journal.append([text for _, text in self._queue], self._applied)
        except JournalError as error:
            for _, text in self._queue:
                _log.critical("request_not_recorded", error=str(error), record=text.decode())

    def reserve(self, wallets: Sequence[Wallet], ceiling: int) -> Hold:
        """Set `ceiling` nano-dollars aside in each wallet, or in none.

        Raises:
            Refused: 503 while nothing can be recorded.
            Short: this process has too little of a wallet; `fund` may help.
        """
        self._check_open()
        return self._counted(self.wallets.hold(wallets, ceiling))

    async def fund(self, wallets: Sequence[Wallet], ceiling: int) -> Hold | None:
        """As `reserve`, after asking the store for more; None if there is not so much.

        Raises:
            Refused: 503 while nothing can be recorded, or the store cannot be asked.
        """
        self._check_open()
        hold = await self.wallets.fund(wallets, ceiling)
        return None if hold is None else self._counted(hold)

    def release(self, hold: Hold) -> None:
        """Give up a hold of a request that will not be relayed."""
        self._uncount(hold)
        self.wallets.settle(hold, 0)

    def begin(self, record: RequestRecord) -> None:
        """Show the request as running until it is settled."""
        self._running[record.id] = record

    def settle(
        self, hold: ports.Hold | None, record: RequestRecord, done: Callable[[], None]
    ) -> None:
        """Charge, release and record a request; once per id. See `meter.ports.Ledger`."""
        id_ = record.id
        bound(record)
        if isinstance(hold, Hold):
            if hold.settled:
                self._settled_twice(record, done)
                return
            self._uncount(hold)
            if id_ in self._unlogged:
                self.wallets.settle(hold, 0)
            else:
                self._take(hold, record)
        if id_ in self._unlogged:
            self._settled_twice(record, done)
            return
        self._running.pop(id_, None)
        self._unlogged[id_] = record
        if self._since is None:
            self._since = self._loop.time()
        self._queue.append((record, encode_record(record)))
        self._wait(done)

    def find(self, id_: str) -> RequestRecord | None:
        """A request that is running or not yet in the log."""
        return self._running.get(id_) or self._unlogged.get(id_)

    async def read(self, id_: str, account: str | None) -> RequestRecord | None:
        """A request by id, wherever it is, if it belongs to that account; None looks in all."""
        record = self.find(id_)
        if record is not None:
            return record if account in (None, record.account) else None
        return await asyncio.to_thread(self._log.get, id_, account)

    def unlogged(self) -> list[RequestRecord]:
        """Requests that are running or not yet in the log, newest first."""
        return sorted(
            {**self._unlogged, **self._running}.values(), key=lambda r: r.id, reverse=True
        )

    async def standing(self, key: str, wallets: Sequence[Wallet]) -> tuple[int, int | None]:
        """What a key has spent, in its budget's period if it has one; and what it has left.

        Nano-dollars; None for no limit.

        Raises:
            Refused: 503 while the store cannot be asked.
        """
        limited = [wallet for wallet in wallets if wallet.limited]
        account = wallets[0].account
        since = next((wallet.since for wallet in wallets if wallet.owner == key), 0)
        left = await self.wallets.left(limited)
        spent = await self.wallets.spent(since, account, key)
        unlogged = [r for r in self._unlogged.values() if r.account == account and r.cost]
        spent += sum(r.cost for r in unlogged if r.key == key)
        lefts = [
            max(0, amount - sum(r.postings.get(wallet.id, 0) for r in unlogged))
            for wallet, amount in zip(limited, left, strict=True)
        ]
        return spent, min(lefts, default=None)

    def store_health(self) -> StoreHealth:
        """How journal and log keep up, for a scrape."""
        oldest = self._pending[0].at if self._pending else None
        return StoreHealth(
            pending=len(self._queue),
            lag_s=0.0 if oldest is None else max(0.0, self._clock() - oldest),
            spooled=sum(group.size for group in self._pending) if self._log_fails else 0,
            last_commit=self._last_commit,
            commits=self._commits,
            refused=self._refused,
        )

    @property
    def backlog(self) -> int:
        """Groups that are durable but not yet in the log."""
        return len(self._pending)

    def _check_open(self) -> None:
        if self.broken is not None:
            self._refused += 1
            raise Refused(overloaded_here("The gateway cannot record requests just now."))

    def _counted(self, hold: Hold) -> Hold:
        self.held += hold.ceiling
        self.holds += 1
        return hold

    def _uncount(self, hold: Hold) -> None:
        hold.settled = True
        self.held -= hold.ceiling
        self.holds -= 1

    def _take(self, hold: Hold, record: RequestRecord) -> None:
        """Let the wallets pay, and tell what the one that had least could not."""
        record.postings, lacking = self.wallets.settle(hold, record.cost)
        if lacking > 0:
            self.overrun += lacking
            _log.warning("overrun", request_id=record.id, nano_usd=lacking)

    def _settled_twice(self, record: RequestRecord, done: Callable[[], None]) -> None:
        _log.error("settled_twice", request_id=record.id)
        self._wait(done)

    def _wait(self, done: Callable[[], None]) -> None:
        self._waiting.append(done)
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    # Into the journal.

    def _flush(self) -> None:
        queue, waiting = self._queue, self._waiting
        if not queue:
            self._flushing = False
            self._waiting = []
            _run(waiting)
            return
        self._queue, self._waiting = [], []
        self._writing_since, self._since = self._since, None
        texts = [text for _, text in queue]
        if self._writer is not None:
            writing = self._writer.submit(self._journal.append, texts, self._applied)
            writing.add_done_callback(
                lambda f: self._loop.call_soon_threadsafe(self._flushed, f, queue, waiting)
            )
            return
        try:
            seq = self._journal.append(texts, self._applied)
        except JournalError as error:
            self._not_durable(error, queue, waiting)
        else:
            self._durable(seq, queue, waiting)

    def _flushed(
        self, written: Future[int], queue: list[Entry], waiting: list[Callable[[], None]]
    ) -> None:
        error = written.exception()
        if error is not None:
            self._not_durable(error, queue, waiting)
        else:
            self._durable(written.result(), queue, waiting)

    def _durable(self, seq: int, group: list[Entry], waiting: list[Callable[[], None]]) -> None:
        if self.broken is not None:
            _log.warning("journal_works_again")
            self.broken = None
            self._projector.submit(self._journal.restore_ballast)
        self._failed_once = 0
        if self._writing_since is not None:
            self._observe(self._loop.time() - self._writing_since)
        self._commits += 1
        self._last_commit = self._clock()
        kept: list[Entry] | None = group
        if len(self._unlogged) > self._keep:
            for record, _ in group:
                del self._unlogged[record.id]
            kept = None
        self._pending.append(Group(seq, kept, len(group), self._last_commit))
        if self._waiting or self._queue:
            self._loop.call_soon(self._flush)
        else:
            self._flushing = False
        _run(waiting)
        if self._timer is None:
            if self._projecting is None:
                self._timer = self._loop.call_later(self._delay_s, self._project)
        elif self._batch_waits() and not self._log_fails:
            self._timer.cancel()
            self._project()

    def _not_durable(
        self,
        error: BaseException,
        queue: list[Entry],
        waiting: list[Callable[[], None]],
    ) -> None:
        if self.broken is None:
            _log.error("journal_write_failed", error=str(error), effect="new requests get 503")
        self.broken = str(error)
        released, kept = waiting[: self._failed_once], waiting[self._failed_once :]
        self._since = self._writing_since
        self._queue = queue + self._queue
        self._waiting = kept + self._waiting
        self._failed_once = len(kept)
        self._loop.call_later(self._retry_s, self._flush)
        _run(released)

    # Into the log.

    def _batch_waits(self) -> bool:
        """Whether the log lacks a whole batch; what the journal alone has comes after many."""
        if not self._pending:
            return False
        return len(self._unlogged) >= _BATCH or self._pending[0].entries is None

    def _project(self) -> None:
        self._timer = None
        groups = []
        entries = 0
        for group in self._pending:
            groups.append(group)
            entries += group.size
            if entries >= _BATCH:
                break
        self._projecting = self._projector.submit(self._apply, groups)
        self._projecting.add_done_callback(
            lambda f: self._loop.call_soon_threadsafe(self._projected, f, groups)
        )

    def _apply(self, groups: Sequence[Group]) -> None:
        """In the projector's thread."""
        entries: list[Entry] = []
        for group in groups:
            if group.entries is None:
                for _, records in self._journal.groups(group.seq - 1, group.seq):
                    entries += [(record, encode_record(record)) for record in records]
            else:
                entries += group.entries
        self._log.apply(self._journal.id, groups[-1].seq, entries)
        self._journal.checkpoint()

    def _projected(self, applied: Future[None], groups: Sequence[Group]) -> None:
        self._projecting = None
        if self._closing:
            return
        error = applied.exception()
        self._log_fails = error is not None
        if error is not None:
            _log.error("log_write_failed", error=str(error), left_in_journal=len(self._pending))
            self._timer = self._loop.call_later(self._retry_s, self._project)
            return
        for group in groups:
            self._pending.popleft()
            for record, _ in group.entries or ():
                self._unlogged.pop(record.id, None)
        self._applied = groups[-1].seq
        if self._batch_waits():
            self._project()
        elif self._pending:
            self._timer = self._loop.call_later(self._delay_s, self._project)

    def _replay(self) -> None:
        """In the projector's thread: everything the journal has and the log lacks."""
        applied = self._log.applied(self._journal.id)
        self._journal.continue_after(applied)
        entries: list[Entry] = []
        last = applied
        for seq, records in self._journal.groups(applied):
            entries += [(record, encode_record(record)) for record in records]
            last = seq
            if len(entries) >= _REPLAY:
                self._log.apply(self._journal.id, last, entries)
                entries = []
        if entries:
            self._log.apply(self._journal.id, last, entries)
        self._applied = last


def _run(waiting: Sequence[Callable[[], None]]) -> None:
    for done in waiting:
        try:
            done()
        except Exception:  # noqa: BLE001 - one answer's fault must not stop the others
            _log.exception("settle_callback_failed")
