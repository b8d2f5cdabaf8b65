"""Raising alerts, each happening once however many nodes look, and telling people of them.

Budgets and balances are looked at by the node that leads. What nodes see of routes and of
themselves is written down by each of them: the first raises the alert, the others say that they see
it too, and it ends when nobody does any more. Knows no node's inside.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec
from sqlalchemy import Connection

from zurelay.access.accounts import Period
from zurelay.meter.wallets import period_at, zone_of
from zurelay.office import values as v
from zurelay.office.desk import Desk
from zurelay.office.names import spender
from zurelay.office.notices import post
from zurelay.office.telling import Recipients, happening, of_account, spending
from zurelay.store.alerts import (
    Alert,
    add_alert,
    end_subject,
    end_unseen,
    forget_alerts,
    open_of_operators,
    saw,
)
from zurelay.store.crossings import Crossed, account_zones, crossed_budgets, low_balances
from zurelay.store.nodes import list_nodes
from zurelay.store.outbox import count_mails
from zurelay.store.wallet_source import database_time

LAPSE_S: Final = 100
"""What no node has seen for this long is over: some rounds of the slowest."""

KEPT_S: Final = 400 * 86_400
"""How long alerts are kept that ended."""

MOST_MAILS: Final = 100
"""Mails of an account in 24 hours: its members say who gets them, and what its budgets are."""

SILENT_S: Final = 60
_FORGOTTEN_S: Final = 86_400
"""A node that was silent for so long is not coming back; whoever ran it knows."""

_BATCH: Final = 200
_DAY_MS: Final = 86_400_000
_PERIODS: Final[tuple[Period, ...]] = ("day", "week", "month", "total")
_LONGEST: Final = 150


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that operators should know and that a node sees now.

    Attributes:
        kind: one of `letters.alerts.SENTENCES`.
        about: tells it from others of its kind: a route's id, a provider's name, a node's.
        detail: what fills the sentence in, and more for programs.
    """

    kind: str
    about: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """Names it among all that is seen, the same on every node."""
        about = self.about
        if len(about) > _LONGEST:
            about = f"{about[:100]}#{hashlib.sha256(about.encode()).hexdigest()[:32]}"
        return f"{self.kind}:{about}"


def raise_spending(desk: Desk) -> int:
    """Tell of budgets and balances of which 50, 80 or 100 percent are used up; gives how many.

    Raises:
        StoreError: the store does not answer.
    """
    raised = 0
    while True:
        now = desk.clock()
        with desk.store.read() as connection:
            ends = _running(desk, connection, now)
            found = _used_up(desk, connection, ends, now)
        if not found:
            return raised
        with desk.store.write() as connection:
            new = [one for one in found if _raise(desk, connection, one, _end(ends, one), now)]
        raised += len(new)
        if not new:
            return raised  # another node was faster


def raise_seen(desk: Desk, seen: Sequence[Sighting], operators: Recipients) -> list[Alert]:
    """Write down what a node sees now; gives the alerts that it was the first to raise.

    Raises:
        StoreError: the store does not answer.
    """
    if not seen:
        return []
    with desk.store.write() as connection:
        now = int(database_time(connection) * 1000)
        holding = {one.subject: one for one in open_of_operators(connection)}
        new = {one.subject: one for one in seen if one.subject not in holding}
        known = sorted({holding[one.subject].event for one in seen if one.subject in holding})
        saw(connection, known, now)
        raised = [_alert(one, now) for one in new.values()]
        for alert in raised:
            add_alert(connection, alert)
            post(connection, desk, happening(desk, connection, operators, alert))
    return raised


def end_gone(desk: Desk, operators: Recipients) -> list[Alert]:
    """End what no node sees any more; for the node that leads. Gives what ended.

    Raises:
        StoreError: the store does not answer.
    """
    with desk.store.read() as connection:
        before = int((database_time(connection) - LAPSE_S) * 1000)
        holding = open_of_operators(connection)
    if not any(one.seen_ms is None or one.seen_ms < before for one in holding):
        return []
    with desk.store.write() as connection:
        now = int(database_time(connection) * 1000)
        ended = end_unseen(connection, now - LAPSE_S * 1000, now)
        for alert in ended:
            post(connection, desk, happening(desk, connection, operators, alert))
    return ended


def silent_nodes(desk: Desk) -> list[Sighting]:
    """Nodes that ended without a word; for the node that leads.

    Raises:
        StoreError: the store does not answer.
    """
    if desk.store.kind == "sqlite":
        return []
    with desk.store.read() as connection:
        nodes = list_nodes(connection)
    return [
        Sighting("node_silent", one.id, {"node": one.id, "rows": one.spool})
        for one in nodes
        if SILENT_S < one.silent_s < _FORGOTTEN_S
    ]


def forget_old(desk: Desk) -> None:
    """Delete alerts that ended long ago. Raises StoreError."""
    with desk.store.write(alone=False) as connection:
        forget_alerts(connection, int((desk.clock() - KEPT_S) * 1000))


# Our own.

_Zones = dict[tuple[tuple[Period, str, float], ...], list[str | None]]
"""Accounts' zones by the periods that run there: name and end of each."""


def _running(desk: Desk, connection: Connection, now: float) -> _Zones:
    zones: _Zones = defaultdict(list)
    for name in account_zones(connection):
        zone = zone_of(None, name or desk.zone())
        running = ((period, period_at(period, now, zone)) for period in _PERIODS)
        zones[tuple((period, of, end) for period, (of, _, end) in running)].append(name)
    return zones


def _used_up(desk: Desk, connection: Connection, running: _Zones, now: float) -> list[Crossed]:
    found = low_balances(connection, prepaid=desk.prepaid(), most=_BATCH)
    for periods, zones in running.items():
        names = {period: name for period, name, _ in periods}
        found += crossed_budgets(connection, names, zones, now, _BATCH)
    return found


def _end(running: _Zones, one: Crossed) -> int | None:
    """When the period is over, in Unix milliseconds; the last of those that have its name."""
    ends = [end for periods in running for _, name, end in periods if name == one.period]
    return int(max(ends) * 1000) if ends and max(ends) != float("inf") else None


def _raise(desk: Desk, connection: Connection, one: Crossed, end: int | None, now: float) -> bool:
    key = one.owner if one.period and one.owner != one.account else None
    detail: dict[str, Any] = {"level": one.level}
    if one.period:
        kind = "budget"
        detail |= {"period": one.period, "key": key, "budget": v.usd_of(one.whole)}
        detail["spent"] = v.usd_of(one.whole - one.left)
    else:
        kind = "balance"
        detail |= {"credit": v.usd_of(one.whole), "left": v.usd_of(one.left)}
    at = int(now * 1000)
    alert = Alert(
        event=one.event,
        kind=kind,
        account=one.account,
        raised_ms=at,
        ended_ms=end,
        detail=msgspec.json.encode(detail).decode(),
        subject=one.wallet,
    )
    if not add_alert(connection, alert):
        return False
    end_subject(connection, one.wallet, at, but=one.event)  # of a lower level
    to = of_account(connection, one.account)
    if count_mails(connection, one.account, at - _DAY_MS) + len(to.emails) > MOST_MAILS:
        to = replace(to, emails=())
    what = spender(connection, one.account, key)
    post(connection, desk, spending(desk, connection, to, alert, what))
    return True


def _alert(one: Sighting, now_ms: int) -> Alert:
    return Alert(
        event=f"{one.subject}@{now_ms}",
        kind=one.kind,
        account=None,
        raised_ms=now_ms,
        ended_ms=None,
        detail=msgspec.json.encode(one.detail).decode(),
        subject=one.subject,
        seen_ms=now_ms,
    )
