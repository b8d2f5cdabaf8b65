"""Looking into the request log: lists by what they had in common, and single entries."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection

from zurelay.meter.record import RequestRecord
from zurelay.meter.view import record_view
from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk, no_such, wrong
from zurelay.office.keys import the_key
from zurelay.office.pages import Listed
from zurelay.office.rights import Actor
from zurelay.store.requests import Filter, at_ms, get_request, reach_of
from zurelay.store.requests import list_requests as read_requests

SCANNED: Final = 20_000
"""Entries that one call looks at for what no index finds. A page that ends early has a cursor."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries are wanted; None does not restrict.

    Attributes:
        account, key: id or name.
        model: the id asked for, or the one that answered.
        user: the caller's own user.
        metadata: pairs that an entry must have, all of them.
        since, until: Unix seconds, the second exclusive.
    """

    account: str | None = None
    key: str | None = None
    model: str | None = None
    status: str | None = None
    user: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    since: float | None = None
    until: float | None = None


def list_requests(
    desk: Desk, actor: Actor, wanted: Wanted, limit: int, cursor: str | None = None
) -> Listed[dict[str, Any]]:
    """Entries, newest first, as the actor may see them; `cursor` is the id to go on after.

    Raises:
        Refused: 400, 403, 404.
    """
    if cursor is not None and at_ms(cursor) is None:
        raise wrong("cursor", "cursor: send 'next_cursor' of the page before, unchanged.")
    with desk.read(actor, "requests.read") as connection:
        asked = _filter(connection, actor, wanted, cursor)
        found, last = _found(connection, asked, limit)
    return Listed([view(actor, record) for record in found], last)


def get(desk: Desk, actor: Actor, id_: str) -> dict[str, Any]:
    """One entry, as the actor may see it. Raises Refused: 403, 404."""
    with desk.read(actor, "requests.read") as connection:
        record = get_request(connection, id_, actor.account)
    if record is None:
        raise no_such("request", id_)
    return view(actor, record)


def view(actor: Actor, record: RequestRecord) -> dict[str, Any]:
    """An entry: all of it for whoever runs the gateway, what callers may see for others."""
    return record_view(record, operator=actor.account is None)


def _filter(connection: Connection, actor: Actor, wanted: Wanted, cursor: str | None) -> Filter:
    account = actor.account
    if wanted.account is not None:
        account = the_account(connection, actor, wanted.account).id
    return Filter(
        account=account,
        key=None if wanted.key is None else the_key(connection, actor, wanted.key).id,
        model=wanted.model,
        status=wanted.status,
        user=wanted.user,
        metadata=wanted.metadata or None,
        since=wanted.since,
        until=wanted.until,
        before=cursor,
    )


def _found(
    connection: Connection, asked: Filter, limit: int
) -> tuple[list[RequestRecord], str | None]:
    """A page, and the id it ends with if more may come."""
    reach = None
    if asked.model or asked.status or asked.user or asked.metadata:  # no index finds these
        reach = reach_of(connection, asked, SCANNED)
    if reach is not None:  # it is the later bound, and the only one the database is to go by
        asked = replace(asked, reach=reach, since=None)
    rows = read_requests(connection, asked, limit + 1)
    last = rows[limit - 1].id if len(rows) > limit else reach
    return [one for one in rows[:limit] if _has(one, asked.metadata or {})], last


def _has(record: RequestRecord, metadata: Mapping[str, str]) -> bool:
    pairs = record.metadata or {}
    return all(pairs.get(name) == value for name, value in metadata.items())
