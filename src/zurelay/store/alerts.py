"""Alerts at rest: what was raised, what ended, and who is told.

An alert's `event` names one happening: a second row of it cannot be. Knows no words for people.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from zurelay.store import schema
from zurelay.store.paging import Mark, newest_first
from zurelay.store.wallets import BALANCE

_ALERT, _TARGET = schema.alert, schema.alert_target

OPERATORS: Final = ""
"""Whose the alerts are that belong to no account."""

ACCOUNTS: Final = "*"
"""Stands for all that do."""


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that people are told once. Times in Unix milliseconds.

    Attributes:
        event: its name, unique.
        kind: `budget`, `balance`, `route_down` and so on.
        account: whose it is; None for the operators'.
        ended_ms: when it no longer holds, also in the future; None: it holds, or has no end.
        detail: a JSON object.
        subject: what it is about; of those of one subject the newest counts.
        seen_ms: when a node last saw that it holds; of those that nodes see.
    """

    event: str
    kind: str
    account: str | None
    raised_ms: int
    ended_ms: int | None
    detail: str
    subject: str
    seen_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Where an account wants its alerts.

    Attributes:
        emails: addresses; None for the account's owners and admins.
        secret: signs what the webhook gets.
    """

    account: str
    emails: tuple[str, ...] | None
    webhook: str | None
    secret: str | None
    changed: int


# Alerts.


def note_credit(connection: Connection, wallet: str, at_ms: int) -> None:
    """Note what a balance is after a credit: alerts count from there."""
    connection.execute(
        text(f"UPDATE wallet SET topped_ms = :at, topped = {BALANCE} WHERE id = :id"),  # noqa: S608
        {"id": wallet, "at": at_ms},
    )
    end_subject(connection, wallet, at_ms)


def add_alert(connection: Connection, alert: Alert) -> bool:
    """Write it; False if its event is there already."""
    found = connection.execute(
        text(
            "INSERT INTO alert"
            " (event, kind, account, raised_ms, ended_ms, detail, subject, seen_ms)"
            " VALUES"
            " (:event, :kind, :account, :raised_ms, :ended_ms, :detail, :subject, :seen_ms)"
            " ON CONFLICT (event) DO NOTHING"
        ),
        asdict(alert),
    )
    return found.rowcount == 1


def end_subject(connection: Connection, subject: str, at_ms: int, but: str = "") -> None:
    """Whatever holds of that subject has an end now; all `but` that event."""
    _end(connection, (_ALERT.c.subject == subject) & (_ALERT.c.event != but), at_ms)


def end_budget(connection: Connection, account: str, owner: str, at_ms: int) -> None:
    """The alerts of an account's or a key's budget have an end now: it is another one."""
    budget = _ALERT.c.subject.startswith(f"budget:{owner}:", autoescape=True)
    _end(connection, (_ALERT.c.account == account) & budget, at_ms)


def open_of_operators(connection: Connection) -> list[Alert]:
    """The operators' alerts that hold, oldest first."""
    query = select(_ALERT).where(_ALERT.c.account.is_(None), _ALERT.c.ended_ms.is_(None))
    query = query.order_by(_ALERT.c.raised_ms, _ALERT.c.event)
    return [_alert(row) for row in connection.execute(query).mappings()]


def saw(connection: Connection, events: Sequence[str], at_ms: int) -> None:
    """A node saw that these hold still."""
    if events:
        row = update(_ALERT).where(_ALERT.c.event.in_(events), _ALERT.c.ended_ms.is_(None))
        connection.execute(row.values(seen_ms=at_ms))


def end_unseen(connection: Connection, before_ms: int, at_ms: int) -> list[Alert]:
    """End the operators' alerts that no node has seen since then; gives them as they are now."""
    found = [
        one
        for one in open_of_operators(connection)
        if one.seen_ms is not None and one.seen_ms < before_ms
    ]
    if found:
        row = update(_ALERT).where(_ALERT.c.event.in_([one.event for one in found]))
        connection.execute(row.values(ended_ms=at_ms))
    return [replace(one, ended_ms=at_ms) for one in found]


def list_alerts(
    connection: Connection,
    whose: str | None,
    now_ms: int,
    *,
    kind: str | None = None,
    holds: bool | None = None,
    after: Mark | None = None,
    limit: int,
) -> list[Alert]:
    """Alerts, newest first.

    Args:
        connection: a transaction.
        whose: an account's id, `OPERATORS` or `ACCOUNTS`; None for all.
        now_ms: decides what holds.
        kind: only those of that kind.
        holds: only those that hold, or that do not any more.
        after: where the page before ended.
        limit: how many at most.
    """
    query = select(_ALERT)
    if whose == OPERATORS:
        query = query.where(_ALERT.c.account.is_(None))
    elif whose == ACCOUNTS:
        query = query.where(_ALERT.c.account.is_not(None))
    elif whose is not None:
        query = query.where(_ALERT.c.account == whose)
    if kind is not None:
        query = query.where(_ALERT.c.kind == kind)
    if holds is not None:
        query = query.where(_holds(now_ms) if holds else ~_holds(now_ms))
    query = newest_first(query, _ALERT.c.raised_ms, _ALERT.c.event, after).limit(limit)
    return [_alert(row) for row in connection.execute(query).mappings()]


def count_open(connection: Connection) -> dict[str, int]:
    """How many of the operators' alerts hold, by kind."""
    query = select(_ALERT.c.kind, func.count()).where(
        _ALERT.c.account.is_(None), _ALERT.c.ended_ms.is_(None)
    )
    rows = connection.execute(query.group_by(_ALERT.c.kind).order_by(_ALERT.c.kind))
    return {kind: int(count) for kind, count in rows}


def forget_alerts(connection: Connection, before_ms: int) -> int:
    """Delete alerts that ended before that; returns how many."""
    return connection.execute(delete(_ALERT).where(_ALERT.c.ended_ms < before_ms)).rowcount


# Who is told.


def find_target(connection: Connection, account: str) -> Target | None:
    """Where an account wants its alerts; None if it never said."""
    query = select(_TARGET).where(_TARGET.c.account == account)
    row = connection.execute(query).mappings().first()
    if row is None:
        return None
    emails = msgspec.json.decode(row["emails"], type=tuple[str, ...] | None)
    return Target(row["account"], emails, row["webhook"], row["secret"], row["changed"])


def set_target(connection: Connection, target: Target) -> None:
    """Write where an account wants its alerts."""
    connection.execute(delete(_TARGET).where(_TARGET.c.account == target.account))
    emails = msgspec.json.encode(target.emails).decode()
    connection.execute(insert(_TARGET).values(**{**asdict(target), "emails": emails}))


def keepers(connection: Connection, account: str, most: int) -> list[str]:
    """The addresses of an account's owners and admins, of its members where it has none of those.

    The oldest first, and no more than `most`.
    """
    member = schema.member
    for roles in (("owner", "admin"), ("member",)):
        query = select(member.c.email).where(
            member.c.account == account, member.c.removed.is_(None), member.c.role.in_(roles)
        )
        query = query.order_by(member.c.created, member.c.id).limit(most)
        found = list(connection.execute(query).scalars())
        if found:
            return found
    return []


def languages_of(connection: Connection, emails: Sequence[str]) -> dict[str, str]:
    """The language that people chose, by address; those who chose none are left out."""
    person = schema.person
    query = select(person.c.email, person.c.language).where(
        person.c.email.in_(emails), person.c.language.is_not(None)
    )
    return {row.email: row.language for row in connection.execute(query)}


def erase_target(connection: Connection, account: str) -> None:
    """Forget where an account wanted its alerts."""
    connection.execute(delete(_TARGET).where(_TARGET.c.account == account))


# Our own.


def _holds(at_ms: int) -> ColumnElement[bool]:
    return or_(_ALERT.c.ended_ms.is_(None), _ALERT.c.ended_ms > at_ms)


def _end(connection: Connection, which: ColumnElement[bool], at_ms: int) -> None:
    """Of those that hold."""
    row = update(_ALERT).where(which, _holds(at_ms))
    connection.execute(row.values(ended_ms=at_ms))


def _alert(row: RowMapping) -> Alert:
    return Alert(**{**row, "subject": row["subject"] or row["event"]})
