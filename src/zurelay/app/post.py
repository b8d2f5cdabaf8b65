"""Sends what waits in the outbox: the node that leads does it for all.

A row is claimed before it is sent, for longer than sending takes; whoever claims it counts the try.
So no two nodes send the same, and what a node held when it died is tried again. Belongs to an event
loop; mails and the store have threads of their own.
"""

import asyncio
import smtplib
import ssl
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import structlog

from zurelay.app import mail
from zurelay.app.mail import MailError
from zurelay.app.webhooks import WebhookError, Webhooks
from zurelay.config.smtp import Smtp
from zurelay.store import outbox
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.outbox import Waiting

log = structlog.get_logger("zurelay.app")

RETRIES_S: Final = (60, 300, 1800, 7200, 21_600)
"""After the first try that failed, the second ... ; after one more it is given up."""

MOST: Final = 20
"""Rows of a round."""

LEASE_S: Final = 900
KEPT_S: Final = 30 * 86_400
PAUSE_S: Final = 2.0
_MAILING_S = 60.0
"""How long a round hands over mails; what is left waits for the next."""
_TIDY_S = 3600.0
_GRACE_S = 5.0
_MOST_PROBLEM = 500
_LOST = "the process that sent it ended each time"

Outcome = Literal["sent", "failed", "given_up"]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a row. Without `problem` it was sent; not `tried`: its turn did not come."""

    row: Waiting
    problem: str | None = None
    final: bool = False
    tried: bool = True


class Post:
    """Sends, while this node leads."""

    def __init__(
        self,
        store: Store,
        smtp: Callable[[], Smtp],
        leads: Callable[[], bool],
        *,
        webhooks: Webhooks | None = None,
        redact: Callable[[str], str] = lambda text: text,
        count: Callable[[str, Outcome], None] = lambda _kind, _outcome: None,
        clock: Callable[[], float] = time.time,
        context: Callable[[], ssl.SSLContext] = mail.mail_context,
    ) -> None:
        """Make one that is idle until `run`.

        Args:
            store: the nodes'.
            smtp: the settings in force.
            leads: whether this node is the one that sends.
            webhooks: sends those.
            redact: takes secrets out of what servers say.
            count: is told what became of each try: the kind of notice, and how it ended.
            clock: Unix time.
            context: TLS for servers of mail.
        """
        self._store = store
        self._smtp = smtp
        self._leads = leads
        self._webhooks = webhooks or Webhooks()
        self._redact = redact
        self._count = count
        self._clock = clock
        self._context = context
        self._threads = ThreadPoolExecutor(2, "post")
        self._unwritten: list[Result] = []
        self._session: smtplib.SMTP | None = None
        self._tidy_due = 0.0
        self._failing = False
        self._closing = False
        self._closed = False
        self.waiting = 0
        """Rows that wait for a try, as this node saw it when it last led; else 0."""

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            taken = 0
            if self._leads():
                taken = await self._guarded_round()
            else:
                self.waiting = 0
            await asyncio.sleep(0 if taken == MOST else PAUSE_S)

    async def round(self) -> int:
        """Send what is due now; returns how many rows were taken.

        Raises:
            StoreError: the database does not answer.
        """
        rows = await self._in_thread(self._claim)
        lost = [one for one in rows if one.tries > len(RETRIES_S) + 1]
        for row in lost:  # whoever tried it last never came back
            await self._in_thread(self._became, Result(row, row.problem or _LOST, final=True))
        mails = [one for one in rows if one.kind == "mail" and one not in lost]
        hooks = [one for one in rows if one.kind == "webhook" and one not in lost]
        sending = [self._in_thread(self._send_mails, mails)] if mails else []
        await asyncio.gather(*sending, *map(self._send_webhook, hooks))
        self.waiting = await self._in_thread(self._after)
        return len(rows)

    async def close(self) -> None:
        """End; a mail under way gets some seconds. May be called again."""
        if self._closed:
            return
        self._closed = self._closing = True
        await self._webhooks.aclose()
        ended = asyncio.create_task(asyncio.to_thread(self._threads.shutdown))
        done, _ = await asyncio.wait([ended], timeout=_GRACE_S)
        if not done:
            mail.cut(self._session)
            await asyncio.wait([ended], timeout=_GRACE_S)

    # Our own.

    async def _in_thread(self, call: Callable[..., _T], *arguments: object) -> _T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, call, *arguments)

    async def _guarded_round(self) -> int:
        try:
            taken = await self.round()
        except StoreError as error:
            if not self._failing:
                log.error("mails and webhooks wait", error=str(error))  # noqa: TRY400
            self._failing = True
            return 0
        except Exception:
            # One bad row must not end the sending of all others; it is tried again, some times.
            log.exception("a round of the outbox failed")
            return 0
        self._failing = False
        return taken

    def _claim(self) -> list[Waiting]:
        """In a thread."""
        self._write_left()
        now = int(self._clock() * 1000)
        kinds = ["mail", "webhook"] if self._smtp().host else ["webhook"]
        with self._store.read() as connection:
            if not outbox.due_now(connection, now, kinds):
                return []
        with self._store.write() as connection:
            return outbox.claim(connection, now, now + LEASE_S * 1000, kinds, MOST)

    def _after(self) -> int:
        """In a thread: what is waiting still; old rows go."""
        now = self._clock()
        if now >= self._tidy_due:
            with self._store.write(alone=False) as connection:
                outbox.forget_before(connection, int((now - KEPT_S) * 1000))
            self._tidy_due = now + _TIDY_S
        with self._store.read() as connection:
            return outbox.count_waiting(connection)

    def _send_mails(self, rows: Sequence[Waiting]) -> None:
        """In a thread: hand them over in one session."""
        smtp = self._smtp()
        left = list(rows)
        until = time.monotonic() + _MAILING_S
        try:
            with mail.session(smtp, self._context) as opened:
                self._session = opened
                while left and not self._closing and time.monotonic() < until:
                    row = left.pop(0)
                    result, broken = _sent(opened, smtp, row, self._clock())
                    self._became(result)
                    if broken:
                        break
        except MailError as error:  # the server cannot be used: each of them has had its try
            for row in left:
                self._became(Result(row, str(error)))
            return
        finally:
            self._session = None
        for row in left:
            self._became(Result(row, tried=False))

    async def _send_webhook(self, row: Waiting) -> None:
        result = Result(row)
        try:
            await self._webhooks.send(
                row.id,
                row.target,
                row.body,
                row.secret or "",
                self._clock(),
                inside=row.account is None,
            )
        except WebhookError as error:
            result = Result(row, str(error), error.final)
        await self._in_thread(self._became, result)

    def _became(self, result: Result) -> None:
        """In a thread: write down what came of a row, now or before the next round."""
        row = result.row
        over = result.final or row.tries > len(RETRIES_S)
        if result.tried:
            outcome: Outcome = "given_up" if over else "failed"
            outcome = "sent" if result.problem is None else outcome
            self._count(row.kind, outcome)
            if outcome == "given_up":
                log.warning("given up", kind=row.kind, notice=row.id, why=self._told(result))
        try:
            self._write(result, over=over)
        except StoreError:
            self._unwritten.append(result)

    def _write_left(self) -> None:
        """What could not be written down before. Raises StoreError: nor can it now."""
        while self._unwritten:
            result = self._unwritten[0]
            self._write(result, over=result.final or result.row.tries > len(RETRIES_S))
            del self._unwritten[0]

    def _write(self, result: Result, *, over: bool) -> None:
        row, now = result.row, int(self._clock() * 1000)
        with self._store.write(alone=False) as connection:
            if not result.tried:
                outbox.release(connection, row.id, now)
            elif result.problem is None:
                outbox.finish(connection, row.id, now, None)
            elif over:
                outbox.finish(connection, row.id, None, self._told(result))
            else:
                due = now + RETRIES_S[row.tries - 1] * 1000
                outbox.put_back(connection, row.id, due, self._told(result))

    def _told(self, result: Result) -> str:
        text = result.problem or ""
        for secret in (self._smtp().password, result.row.secret):
            if secret:
                text = text.replace(secret, "…")
        return self._redact(text)[:_MOST_PROBLEM]


def _sent(opened: smtplib.SMTP, smtp: Smtp, row: Waiting, now: float) -> tuple[Result, bool]:
    """Hand one over: what came of it, and whether the session is over."""
    try:
        written = mail.message(smtp, row.id, row.target, row.subject, row.body, now)
        mail.send(opened, written)
    except MailError as error:
        return Result(row, str(error), error.final), error.broken
    return Result(row), False
