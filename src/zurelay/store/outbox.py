"""Mail and webhooks that wait to be sent, and what became of them. Sends nothing itself.

A row whose `due_ms` is null is over: sent, or given up. Its body and secret are gone then.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, case, delete, func, insert, select, update

from zurelay.store import schema

_TABLE = schema.outbox
_OVER: Final[Mapping[str, object]] = {"body": "", "secret": None, "due_ms": None}


@dataclass(frozen=True, slots=True)
class Waiting:
    """One mail or webhook. Times in Unix milliseconds.

    Attributes:
        id: `out_...`; of a webhook also its `webhook-id`.
        kind: `mail` or `webhook`.
        target: an address, or a URL.
        account: whose it is; None for the operators'.
        body: a mail's text, or a webhook's JSON.
        tries: how often it was tried.
        due_ms: when it is tried next; None once it is over.
        sent_ms: when it was taken.
        problem: why the last try failed.
        secret: signs a webhook.
    """

    id: str
    created_ms: int
    kind: str
    target: str
    account: str | None
    subject: str
    body: str
    tries: int = 0
    due_ms: int | None = None
    sent_ms: int | None = None
    problem: str | None = None
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """Something that was given up lately."""

    kind: str
    target: str
    account: str | None
    created_ms: int
    problem: str


def add_waiting(connection: Connection, rows: Sequence[Waiting]) -> None:
    """Write new rows."""
    if rows:
        connection.execute(insert(_TABLE), [asdict(one) for one in rows])


def due_now(connection: Connection, now_ms: int, kinds: Collection[str]) -> bool:
    """Whether there is anything to claim: asked before, as a claim keeps other writers waiting."""
    due = select(_TABLE.c.id).where(_due(now_ms, kinds))
    return connection.execute(due.limit(1)).first() is not None


def claim(
    connection: Connection, now_ms: int, until_ms: int, kinds: Collection[str], most: int
) -> list[Waiting]:
    """Take what is due, oldest first; until `until_ms` it is nobody else's.

    The try is counted now, so that one that kills its sender is not tried for ever: the rows come
    as they stand afterwards. Of two that claim at once each gets other rows; needs a transaction
    that runs alone.
    """
    due = select(_TABLE).where(_due(now_ms, kinds))
    due = due.order_by(_TABLE.c.due_ms, _TABLE.c.id).limit(most)
    found = [Waiting(**row) for row in connection.execute(due).mappings()]
    if found:
        mine = update(_TABLE).where(_TABLE.c.id.in_([one.id for one in found]))
        connection.execute(mine.values(due_ms=until_ms, tries=_TABLE.c.tries + 1))
    return [replace(one, due_ms=until_ms, tries=one.tries + 1) for one in found]


def put_back(connection: Connection, id_: str, due_ms: int, problem: str) -> None:
    """Let a row be tried again at `due_ms`."""
    row = update(_TABLE).where(_TABLE.c.id == id_, _TABLE.c.due_ms.is_not(None))
    connection.execute(row.values(due_ms=due_ms, problem=problem))


def release(connection: Connection, id_: str, due_ms: int) -> None:
    """Give a claimed row back that was not tried after all."""
    row = update(_TABLE).where(_TABLE.c.id == id_, _TABLE.c.due_ms.is_not(None))
    connection.execute(row.values(due_ms=due_ms, tries=_TABLE.c.tries - 1))


def finish(connection: Connection, id_: str, sent_ms: int | None, problem: str | None) -> None:
    """End a row: sent at `sent_ms`, or given up because of `problem`."""
    row = update(_TABLE).where(_TABLE.c.id == id_)
    connection.execute(row.values(sent_ms=sent_ms, problem=problem, **_OVER))


def give_up_all(connection: Connection, problem: str) -> None:
    """End every row that waits, because of `problem`."""
    rows = update(_TABLE).where(_TABLE.c.due_ms.is_not(None))
    connection.execute(rows.values(problem=problem, **_OVER))


def forget_before(connection: Connection, before_ms: int) -> int:
    """Delete rows made before that, over or not; returns how many."""
    return connection.execute(delete(_TABLE).where(_TABLE.c.created_ms < before_ms)).rowcount


def count_waiting(connection: Connection) -> int:
    """How many are not over."""
    query = select(func.count()).where(_TABLE.c.due_ms.is_not(None))
    return int(connection.execute(query).scalar_one())


def count_mails(connection: Connection, account: str, since_ms: int) -> int:
    """How many mails were written for an account since then."""
    mine = and_(
        _TABLE.c.account == account, _TABLE.c.kind == "mail", _TABLE.c.created_ms >= since_ms
    )
    return int(connection.execute(select(func.count()).where(mine)).scalar_one())


def failed_since(connection: Connection, since_ms: int, most: int) -> tuple[int, list[Failed]]:
    """How many rows made since then were given up, and the last ones of them."""
    given_up = and_(
        _TABLE.c.created_ms >= since_ms, _TABLE.c.due_ms.is_(None), _TABLE.c.sent_ms.is_(None)
    )
    count = connection.execute(select(func.count()).where(given_up)).scalar_one()
    query = (
        select(
            _TABLE.c.kind,
            _TABLE.c.target,
            _TABLE.c.account,
            _TABLE.c.created_ms,
            case((_TABLE.c.problem.is_(None), ""), else_=_TABLE.c.problem).label("problem"),
        )
        .where(given_up)
        .order_by(_TABLE.c.created_ms.desc(), _TABLE.c.id.desc())
        .limit(most)
    )
    return int(count), [Failed(**row) for row in connection.execute(query).mappings()]


def of_account(
    connection: Connection, account: str, emails: Collection[str], most: int
) -> list[Waiting]:
    """What was for an account or went to one of those addresses, oldest first."""
    query = select(_TABLE).where(_theirs(account, emails))
    query = query.order_by(_TABLE.c.created_ms, _TABLE.c.id).limit(most)
    return [Waiting(**row) for row in connection.execute(query).mappings()]


def sent_to(
    connection: Connection, account: str, targets: Collection[str], most: int
) -> list[Waiting]:
    """What went, or is to go, to those addresses and URLs for an account, newest first."""
    mine = and_(_TABLE.c.account == account, _TABLE.c.target.in_(targets))
    query = select(_TABLE).where(mine)
    query = query.order_by(_TABLE.c.created_ms.desc(), _TABLE.c.id.desc()).limit(most)
    return [Waiting(**row) for row in connection.execute(query).mappings()]


def erase_outbox(connection: Connection, account: str, emails: Collection[str]) -> None:
    """Delete what was for an account or went to one of those addresses."""
    connection.execute(delete(_TABLE).where(_theirs(account, emails)))


def _theirs(account: str, emails: Collection[str]) -> ColumnElement[bool]:
    mailed = (_TABLE.c.kind == "mail") & _TABLE.c.target.in_(emails)
    return (_TABLE.c.account == account) | mailed


def _due(now_ms: int, kinds: Collection[str]) -> ColumnElement[bool]:
    return (_TABLE.c.due_ms <= now_ms) & _TABLE.c.kind.in_(kinds)
