"""Where use cases happen: one transaction each, with its line in the audit log.

Knows no use case. A change without an audit line cannot be committed.
"""

import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from sqlalchemy import Connection

from zurelay.chat.problems import INVALID, Problem, Refused, invalid_value, not_found
from zurelay.office.rights import Actor, Right
from zurelay.store.audit import AuditRow, add_audit
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.sealing import Sealer

Unavailable = StoreError
"""Raised by every use case while the store does not answer; its text is for operators."""


@dataclass(frozen=True, slots=True)
class Letterhead:
    """What every mail says: the gateway's address, its name, and who helps ("" for nobody)."""

    base_url: str
    brand: str
    support_email: str


@dataclass(frozen=True, slots=True)
class Desk:
    """A store to work on, and where time and randomness come from. Threads may share it.

    Attributes:
        clock: Unix time.
        random: that many random bytes.
        prepaid: whether accounts need a balance where they do not say.
        zone: IANA time zone of accounts that do not say.
        sealer: opens stored messages; None where there is no key for that.
        models: ids of models that are served, `providers` names of those configured, `routes` ids
            of all routes; None where that is not known.
        letters: what mails say; None while no server of mail is configured.
    """

    store: Store
    clock: Callable[[], float] = time.time
    random: Callable[[int], bytes] = secrets.token_bytes
    prepaid: Callable[[], bool] = lambda: False
    zone: Callable[[], str] = lambda: "UTC"
    sealer: Callable[[], Sealer | None] = lambda: None
    models: Callable[[], Collection[str] | None] = lambda: None
    providers: Callable[[], Collection[str] | None] = lambda: None
    routes: Callable[[], Collection[str] | None] = lambda: None
    letters: Callable[[], Letterhead | None] = lambda: None
    _stamp: list[int] = field(default_factory=lambda: [0])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new_id(self, prefix: str) -> str:
        """An id that sorts by time: `prefix` and 28 hex digits."""
        with self._lock:
            # Sixteen ids a millisecond before the clock is run ahead of.
            stamp = max(int(self.clock() * 1000) << 4, self._stamp[0] + 1)
            self._stamp[0] = stamp
        return f"{prefix}{stamp:013x}{self.random(8).hex()[:15]}"

    def random_id(self, prefix: str) -> str:
        """An id like those of keys and accounts: `prefix` and 16 hex digits."""
        return f"{prefix}{self.random(8).hex()}"

    @contextmanager
    def read(self, actor: Actor, right: Right) -> Iterator[Connection]:
        """A snapshot for whoever has the right.

        Raises:
            Refused: 403.
            StoreError: the store does not answer.
        """
        actor.needs(right)
        with self.store.read() as connection:
            yield connection

    @contextmanager
    def change(self, actor: Actor, right: Right) -> Iterator["Change"]:
        """A change by whoever has the right, committed with its audit lines or not at all.

        Raises:
            Refused: 403.
            StoreError: the store does not answer or cannot be written.
        """
        actor.needs(right)
        with self.store.write() as connection:
            change = Change(self, actor, connection, self.clock())
            yield change
            change.close()


@dataclass(slots=True)
class Change:
    """A change under way."""

    desk: Desk
    actor: Actor
    connection: Connection
    now: float
    _lines: list[AuditRow] = field(default_factory=list)
    _nothing: bool = False

    @property
    def now_ms(self) -> int:
        """Unix milliseconds."""
        return int(self.now * 1000)

    def did(self, action: str, target: str, account: str | None, detail: Mapping[str, Any]) -> None:
        """What was done, for the audit log; `detail` never holds a secret."""
        self._lines.append(
            AuditRow(
                id=self.desk.new_id("aud_"),
                at_ms=self.now_ms,
                actor=self.actor.name[:200],
                action=action,
                target=target[:200],
                account=account,
                detail=msgspec.json.encode(detail).decode(),
            )
        )

    def did_nothing(self) -> None:
        """It was so already: nothing to write down."""
        self._nothing = True

    def close(self) -> None:
        """Write the audit lines."""
        if not self._lines and not self._nothing:
            raise AssertionError("a change without a line in the audit log")
        for line in self._lines:
            add_audit(self.connection, line)


def conflict(message: str, param: str | None = None) -> Refused:
    """409: it cannot be so beside what is there."""
    return Refused(Problem(409, INVALID, "conflict", message, param, should_retry=False))


def wrong(param: str, message: str) -> Refused:
    """400: that field cannot have that value."""
    return Refused(invalid_value(param, message))


def no_such(what: str, wanted: str) -> Refused:
    """404: nothing of that kind has that name or id, for whoever asks."""
    shown = "".join(c if c.isprintable() else " " for c in wanted[:100])
    return Refused(not_found(f"There is no {what} '{shown}'."))
