"""Moving groups of entries on from the journal into the request log, in order, each once.

A thread writes them, and the mark of how far it came is written in the same transaction, so that a
start after any kind of end moves each entry exactly once. It knows nothing of what entries cost.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple

import structlog

from zurelay.live.journal import Journal
from zurelay.live.ports import Entry, RequestLog
from zurelay.live.records import encode_record

_BATCH: Final = 512
"""Entries per transaction on the log, give or take a group; so many do not wait for more company.

A transaction holds up the loop once, and half of what a row costs in one of 64 is the transaction.
"""

_REPLAY: Final = 1000
"""Entries per transaction at the start."""

_log = structlog.get_logger("zurelay.ledger")


class _Group(NamedTuple):
    """Entries that became durable together.

    `seq` is its number in the journal, `entries` None where only the journal still has them; `size`
    is how many they are, `at` the Unix time of the commit.
    """

    seq: int
    entries: list[Entry] | None
    size: int
    at: float


class Projection:
    """What is in the journal and not yet in the log. Belongs to one event loop.

    Attributes:
        applied: number of the last group that the log has.
        fails: the log could not be written when it was last tried.
        size: entries on their way.
    """

    def __init__(
        self,
        journal: Journal,
        log: RequestLog,
        moved: Callable[[Sequence[Entry]], None],
        *,
        delay_s: float,
        retry_s: float,
        keep: int,
    ) -> None:
        """Make one that is idle; `start` first.

        Args:
            journal: read here, appended to elsewhere.
            log: where entries end up; called from a thread.
            moved: told which of the entries that were kept in memory the log has now.
            delay_s: how long entries may wait for company.
            retry_s: pause after a failure of the log.
            keep: entries kept in memory until the log has them; more wait in the journal alone.
        """
        self._journal = journal
        self._log = log
        self._moved = moved
        self._delay_s = delay_s
        self._retry_s = retry_s
        self._keep = keep
        self._thread = ThreadPoolExecutor(1, "projector")
        self._pending: deque[_Group] = deque()
        self._moving: Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closing = False
        self.applied = 0
        self.fails = False
        self.size = 0

    async def start(self) -> None:
        """Move what an earlier process left in the journal.

        Raises:
            JournalError: the journal is damaged.
            Exception: the log cannot be written.
        """
        self._loop = asyncio.get_running_loop()
        await self._loop.run_in_executor(self._thread, self._take_over)

    async def close(self) -> bool:
        """Move all that is left; whether the log took it."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        try:
            await self._loop.run_in_executor(self._thread, self._replay)
        except Exception as error:  # noqa: BLE001 - the journal keeps what the log refused
            _log.error("log_write_failed", error=str(error), left_in_journal=self.backlog)
            return False
        finally:
            self._thread.shutdown()
        self._pending.clear()
        return True

    @property
    def backlog(self) -> int:
        """Groups on their way."""
        return len(self._pending)

    def lag(self, now: float) -> float:
        """Age in seconds of the oldest of them at Unix time `now`."""
        return max(0.0, now - self._pending[0].at) if self._pending else 0.0

    def later(self, job: Callable[[], object]) -> None:
        """Let the thread do something beside."""
        self._thread.submit(job)

    def add(self, seq: int, entries: list[Entry], at: float) -> bool:
        """A group is in the journal under that number; whether its entries are kept in memory."""
        self.size += len(entries)
        kept = self.size <= self._keep
        self._pending.append(_Group(seq, entries if kept else None, len(entries), at))
        if self._timer is None:
            if self._moving is None:
                self._timer = self._loop.call_later(self._delay_s, self._move)
        elif self._batch_waits() and not self.fails:
            self._timer.cancel()
            self._move()
        return kept

    def _batch_waits(self) -> bool:
        """Whether the log lacks a whole batch; what the journal alone has comes after many."""
        if not self._pending:
            return False
        return self.size >= _BATCH or self._pending[0].entries is None

    def _move(self) -> None:
        self._timer = None
        groups = []
        entries = 0
        for group in self._pending:
            groups.append(group)
            entries += group.size
            if entries >= _BATCH:
                break
        self._moving = self._thread.submit(self._apply, groups)
        self._moving.add_done_callback(
            lambda f: self._loop.call_soon_threadsafe(self._applied, f, groups)
        )

    def _apply(self, groups: Sequence[_Group]) -> None:
        """In the thread."""
        entries: list[Entry] = []
        for group in groups:
            if group.entries is None:
                for _, records in self._journal.groups(group.seq - 1, group.seq):
                    entries += [(record, encode_record(record)) for record in records]
            else:
                entries += group.entries
        self._log.apply(self._journal.id, groups[-1].seq, entries)
        self._journal.checkpoint()

    def _applied(self, applied: Future[None], groups: Sequence[_Group]) -> None:
        self._moving = None
        if self._closing:
            return
        error = applied.exception()
        self.fails = error is not None
        if error is not None:
            _log.error("log_write_failed", error=str(error), left_in_journal=self.backlog)
            self._timer = self._loop.call_later(self._retry_s, self._move)
            return
        for group in groups:
            self._pending.popleft()
            self.size -= group.size
            if group.entries is not None:
                self._moved(group.entries)
        self.applied = groups[-1].seq
        if self._batch_waits():
            self._move()
        elif self._pending:
            self._timer = self._loop.call_later(self._delay_s, self._move)

    def _take_over(self) -> None:
        """In the thread: what an earlier process settled, and what it left under way."""
        self._journal.continue_after(self._log.applied(self._journal.id))
        interrupted = self._journal.interrupt()
        if interrupted:
            _log.warning("requests_interrupted", requests=interrupted)
        self._replay()

    def _replay(self) -> None:
        """In the thread: everything the journal has and the log lacks."""
        applied = self._log.applied(self._journal.id)
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
        self.applied = last
