"""The ledger of one process: reserve in memory, settle so that it is durable, then let answers end.

Settling queues. Once per turn of the loop everything queued becomes one group in the journal, and
with that is durable; from there it is projected into the request log. Where several nodes share a
log that outlives them, groups are committed there at once instead, and the journal takes those that
the log does not take in time. Either way an entry counts once, however often it arrives. Until the
log has them, entries are read from memory.

If the journal cannot be written, new requests are refused, answers under way end a second later,
and their records wait in memory for a journal that works again: nothing billed is ever dropped.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final

import structlog

from zurelay.chat.problems import Refused, overloaded_here
from zurelay.live.journal import Journal, JournalError
from zurelay.live.ports import Entry, RequestLog, WalletSource
from zurelay.live.projection import Projection
from zurelay.live.records import bound, encode_record
from zurelay.live.underway import PATIENCE_S, UnderWay
from zurelay.live.wallets import Hold, Wallets
from zurelay.meter import ports
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Wallet
from zurelay.telemetry.metrics import StoreHealth

_PATIENCE_S: Final = 0.25
"""How long a commit on the log may take before the journal has the group too."""

_log = structlog.get_logger("zurelay.ledger")


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
        direct: bool = False,
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
            direct: what is settled is committed on the log itself, not first in the journal.
            delay_s: how long entries may wait for company on their way into the log.
            retry_s: pause after a failure of journal or log.
            keep: entries kept in memory until the log has them; more wait in the journal alone.
            clock: Unix time.
            observe: told of each group how many seconds its first entry waited to be durable.
        """
        self._journal = journal
        self._log = log
        self._retry_s = retry_s
        self._clock = clock
        self._observe = observe
        self._writer = ThreadPoolExecutor(1, "journal") if power_safe else None
        self._committer = ThreadPoolExecutor(1, "committer") if direct else None
        self._projection = Projection(
            journal, log, self._moved, delay_s=delay_s, retry_s=retry_s, keep=keep
        )
        self._running: dict[str, RequestRecord] = {}
        self._underway = UnderWay(self._running)
        self._marking: asyncio.TimerHandle | None = None
        self._unlogged: dict[str, RequestRecord] = {}
        self._queue: list[tuple[RequestRecord, bytes]] = []
        self._waiting: list[Callable[[], None]] = []
        self._failed_once = 0  # of `_waiting`
        self._since: float | None = None  # when the first of `_queue` came, by the loop's clock
        self._writing_since: float | None = None  # likewise, of the group being written
        self._flushing = False
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
        await self._projection.start()
        await self.wallets.start()
        self._mark()

    async def close(self) -> None:
        """Make everything durable and bring it into the log; no request may be under way."""
        settled = self._loop.create_future()
        self._wait(lambda: settled.set_result(None))
        await settled
        self._mark()
        if self._marking is not None:
            self._marking.cancel()
        if self._queue:
            self._flush_last()
        if self._committer is not None:
            self._committer.shutdown(wait=False)
        if await self._projection.close():
            self._unlogged.clear()
        await self.wallets.close()
        if self._writer is not None:
            self._writer.shutdown()
        self._journal.close()

    def _flush_last(self) -> None:
        """One more try; what cannot be written is told, whole, so that it can be billed by hand."""
        try:
            self._journal.append([text for _, text in self._queue], self._projection.applied)
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
        spent += sum(r.cost for r in unlogged if r.key == key and r.created >= since)
        lefts = [
            max(0, amount - sum(r.postings.get(wallet.id, 0) for r in unlogged))
            for wallet, amount in zip(limited, left, strict=True)
        ]
        return spent, min(lefts, default=None)

    def store_health(self) -> StoreHealth:
        """How journal and log keep up, for a scrape."""
        projection = self._projection
        return StoreHealth(
            pending=len(self._queue),
            lag_s=projection.lag(self._clock()),
            spooled=projection.size if projection.fails or self._committer is not None else 0,
            last_commit=self._last_commit,
            commits=self._commits,
            refused=self._refused,
        )

    @property
    def backlog(self) -> int:
        """Groups that are durable but not yet in the log."""
        return self._projection.backlog

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

    # Requests under way.

    def _mark(self) -> None:
        """Let the journal know which requests run; what it could not take is no loss of money."""
        self._marking = self._loop.call_later(PATIENCE_S, self._mark)
        begun, over = self._underway.changes(self._clock())
        if not begun and not over:
            return
        if self._writer is not None:
            self._writer.submit(self._journal.mark, begun, over)
            return
        with suppress(JournalError):  # the next settled request tells of it
            self._journal.mark(begun, over)

    # Becoming durable.

    def _flush(self) -> None:
        queue, waiting = self._queue, self._waiting
        if not queue:
            self._flushing = False
            self._waiting = []
            _run(waiting)
            return
        self._queue, self._waiting = [], []
        self._writing_since, self._since = self._since, None
        projection = self._projection
        # Behind what waits in the journal, groups go there too: the log gets them in order.
        if self._committer is not None and not projection.backlog and not projection.fails:
            self._commit(self._committer, queue, waiting)
        else:
            self._append(queue, waiting)

    def _commit(
        self, committer: ThreadPoolExecutor, queue: list[Entry], waiting: list[Callable[[], None]]
    ) -> None:
        """Into the log, or into the journal if that fails or takes too long."""
        decided = False

        def late() -> None:
            nonlocal decided
            decided = True
            self._append(queue, waiting)

        def committed(error: BaseException | None) -> None:
            nonlocal decided
            if decided:
                return  # the journal has it, and the log takes nothing twice
            decided = True
            timer.cancel()
            if error is None:
                self._end_group(waiting)
                self._moved(queue)
            else:
                _log.error("commit_failed", error=str(error), effect="the journal takes it")
                self._append(queue, waiting)

        timer = self._loop.call_later(_PATIENCE_S, late)
        committing = committer.submit(self._log.add, self._journal.id, queue)
        committing.add_done_callback(
            lambda f: self._loop.call_soon_threadsafe(committed, f.exception())
        )

    def _append(self, queue: list[Entry], waiting: list[Callable[[], None]]) -> None:
        """Into the journal."""
        texts = [text for _, text in queue]
        applied = self._projection.applied
        if self._writer is not None:
            writing = self._writer.submit(self._journal.append, texts, applied)
            writing.add_done_callback(
                lambda f: self._loop.call_soon_threadsafe(self._appended, f, queue, waiting)
            )
            return
        try:
            seq = self._journal.append(texts, applied)
        except JournalError as error:
            self._not_durable(error, queue, waiting)
        else:
            self._durable(seq, queue, waiting)

    def _appended(
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
            self._projection.later(self._journal.restore_ballast)
        self._failed_once = 0
        if not self._projection.add(seq, group, self._clock()):
            self._moved(group)
        self._end_group(waiting)

    def _end_group(self, waiting: list[Callable[[], None]]) -> None:
        """The group is durable: its answers may end, and the next one may be written."""
        if self._writing_since is not None:
            self._observe(self._loop.time() - self._writing_since)
        self._commits += 1
        self._last_commit = self._clock()
        if self._waiting or self._queue:
            self._loop.call_soon(self._flush)
        else:
            self._flushing = False
        _run(waiting)

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

    def _moved(self, entries: Sequence[Entry]) -> None:
        """Somebody else has these entries now."""
        for record, _ in entries:
            self._unlogged.pop(record.id, None)


def _run(waiting: Sequence[Callable[[], None]]) -> None:
    for done in waiting:
        try:
            done()
        except Exception:  # noqa: BLE001 - one answer's fault must not stop the others
            _log.exception("settle_callback_failed")
