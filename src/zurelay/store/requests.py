"""The request log: entries in, each exactly once, and entries out, newest first."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, and_, column, delete, or_, select, table

from zurelay.meter.record import RequestRecord
from zurelay.store import schema
from zurelay.store.upsert import RowsInsert, sqlite_driver
from zurelay.store.usage import add_usage

Entry = tuple[RequestRecord, bytes]
"""An entry and its JSON."""

_decode = msgspec.json.Decoder(RequestRecord).decode
_ID_LENGTH = 36  # req_ and 32 hex digits
_NAME_LENGTH = 200
_ERROR_LENGTH = 100
_USER_LENGTH = 256

_TABLE = schema.request
_STRAYS = table("request_default", column("at_ms"), column("id"))
_CHUNKS = (64, 8, 1)
"""Rows per statement: the driver gives Python's lock away once per statement, not once per row, so
that the event loop hardly notices the writes."""


def _insert(rows: int) -> str:
    """SQLite's statement for that many rows."""
    values = f"({', '.join('?' * len(_TABLE.columns))})"
    return (
        f"INSERT INTO {_TABLE.name} ({', '.join(c.name for c in _TABLE.columns)}) "  # noqa: S608
        f"VALUES {', '.join([values] * rows)} ON CONFLICT (at_ms, id) DO NOTHING"
    )


_INSERTS = [(size, _insert(size)) for size in _CHUNKS]
_INSERT = RowsInsert(_TABLE, "(at_ms, id) DO NOTHING", returning="id")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries are wanted; None does not restrict.

    Attributes:
        account, key: their ids.
        model: the id asked for, or the one that answered.
        since, until: Unix seconds, the second exclusive.
        metadata: pairs that an entry must have. Some are found that lack one: whoever asks looks.
        before: only entries older than this request id.
        reach: none older than this request id.
    """

    account: str | None = None
    key: str | None = None
    model: str | None = None
    status: str | None = None
    user: str | None = None
    since: float | None = None
    until: float | None = None
    metadata: Mapping[str, str] | None = None
    before: str | None = None
    reach: str | None = None


def add_requests(
    connection: Connection, entries: Sequence[Entry], shard: int = 0
) -> Sequence[Entry]:
    """Write entries and their usage; those whose id is there already are left out.

    `shard`: of the node, see `usage.shard_of`.

    Returns those that were new, each once.
    """
    if not entries:
        return entries
    if connection.dialect.name == "postgresql":
        new = _write_new(connection, entries)
    else:
        new = _write_all_or_new(connection, entries)
    add_usage(connection, [record for record, _ in new], shard)
    return new


def get_request(connection: Connection, id_: str, account: str | None) -> RequestRecord | None:
    """The entry with that id, if it belongs to that account; None looks in all."""
    at = at_ms(id_)
    if at is None:
        return None
    query = select(_TABLE.c.record).where(_TABLE.c.at_ms == at, _TABLE.c.id == id_)
    if account is not None:
        query = query.where(_TABLE.c.account == account)
    text = connection.execute(query).scalar_one_or_none()
    return None if text is None else _decode(text)


def list_requests(connection: Connection, wanted: Filter, limit: int) -> list[RequestRecord]:
    """The newest entries that pass the filter, newest first."""
    query = _filtered(wanted).order_by(_TABLE.c.at_ms.desc(), _TABLE.c.id.desc()).limit(limit)
    return [_decode(text) for text in connection.execute(query).scalars()]


def reach_of(connection: Connection, wanted: Filter, entries: int) -> str | None:
    """The id of the last of so many entries, newest first; None if there are fewer.

    Only account, key, times and `before` count: those an index finds.
    """
    indexed = Filter(
        wanted.account, wanted.key, since=wanted.since, until=wanted.until, before=wanted.before
    )
    query = _filtered(indexed).with_only_columns(_TABLE.c.id)
    query = query.order_by(_TABLE.c.at_ms.desc(), _TABLE.c.id.desc())
    found: str | None = connection.execute(query.limit(1).offset(entries - 1)).scalar()
    return found


def delete_requests(connection: Connection, until: float, limit: int) -> int:
    """Delete at most `limit` of the oldest entries made before Unix time `until`.

    In PostgreSQL only among those without a partition of their own. Returns how many; call it
    again, in a new transaction, until that is less than `limit`. Their sums stay.
    """
    log = _STRAYS if connection.dialect.name == "postgresql" else _TABLE
    at, id_ = log.c.at_ms, log.c.id
    old = at < int(until * 1000)
    oldest = select(at, id_).where(old).order_by(at, id_).limit(limit).offset(limit - 1)
    last = connection.execute(oldest).first()
    if last is not None:
        old = and_(old, or_(at < last.at_ms, and_(at == last.at_ms, id_ <= last.id)))
    return connection.execute(delete(log).where(old)).rowcount


def at_ms(id_: str) -> int | None:
    """The millisecond a request id was made in; None if it is no request id."""
    if len(id_) != _ID_LENGTH or not id_.startswith("req_"):
        return None
    try:
        return int(id_[4:], 16) >> 80
    except ValueError:
        return None


def first_id(at: float) -> str:
    """No request made at Unix time `at` or later has an id below this text; every older one has."""
    return f"req_{max(0, int(at * 1000)):012x}"


def _write_new(connection: Connection, entries: Sequence[Entry]) -> Sequence[Entry]:
    """PostgreSQL tells which rows were new."""
    # Sorted, so that two processes which deliver the same entries do not wait for each other.
    rows = sorted(map(_row, entries), key=lambda row: row[:2])
    written = _INSERT.run(connection, rows)
    ids = set(written.scalars()) if written is not None else set()
    if len(ids) == len(entries):
        return entries
    return [entry for id_, entry in _each(entries).items() if id_ in ids]


def _write_all_or_new(connection: Connection, entries: Sequence[Entry]) -> Sequence[Entry]:
    """SQLite tells cheaply only how many were new."""
    driver = sqlite_driver(connection)
    driver.execute("SAVEPOINT written")
    if _write(driver, [_row(entry) for entry in entries]) == len(entries):
        driver.execute("RELEASE written")
        return entries
    # Rare: a journal meets a log that knows some of its entries. Which of them were new can only
    # be told by looking first.
    driver.execute("ROLLBACK TO written")
    new = [
        entry for id_, entry in _each(entries).items() if get_request(connection, id_, None) is None
    ]
    _write(driver, [_row(entry) for entry in new])
    return new


def _each(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Each request once, as it came first: what was settled, and not that it was cut off then."""
    found: dict[str, Entry] = {}
    for entry in entries:
        found.setdefault(entry[0].id, entry)
    return found


def _write(driver: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> int:
    """How many of the rows were new."""
    written = start = 0
    for size, statement in _INSERTS:
        while len(rows) - start >= size:
            values = tuple(chain.from_iterable(rows[start : start + size]))
            written += driver.execute(statement, values).rowcount
            start += size
    return written


def _row(entry: Entry) -> tuple[Any, ...]:
    """The columns of `schema.request`, in their order."""
    record, text = entry
    return (
        int(record.id[4:16], 16),
        record.id,
        record.account,
        record.key,
        _fitting(record.model, _NAME_LENGTH),
        record.answered_by and _fitting(record.answered_by, _NAME_LENGTH),
        record.status,
        record.error and _fitting(record.error, _ERROR_LENGTH),
        record.cost,
        record.cost_estimated,
        record.user and _fitting(record.user, _USER_LENGTH),
        text.decode(),
    )


def _fitting(name: str, most: int) -> str:
    """What PostgreSQL takes: it minds the length of columns, and has no NUL."""
    if len(name) <= most and "\0" not in name:
        return name
    return name.replace("\0", "")[:most]


def _filtered(wanted: Filter) -> Select[str]:
    columns = _TABLE.c
    query = select(columns.record)
    for searched, value in (
        (columns.account, wanted.account),
        (columns.api_key, wanted.key),
        (columns.status, wanted.status),
        (columns.end_user, wanted.user),
    ):
        if value is not None:
            query = query.where(searched == value.replace("\0", ""))
    if wanted.model is not None:
        model = _fitting(wanted.model, _NAME_LENGTH)
        query = query.where(or_(columns.model == model, columns.answered_by == model))
    if wanted.since is not None:
        query = query.where(columns.at_ms >= int(wanted.since * 1000))
    if wanted.until is not None:
        query = query.where(columns.at_ms < int(wanted.until * 1000))
    for name, text in (wanted.metadata or {}).items():
        # As it stands in the entry; LIKE minds no capitals in SQLite.
        pair = f"{msgspec.json.encode(name).decode()}:{msgspec.json.encode(text).decode()}"
        query = query.where(columns.record.contains(pair, autoescape=True))
    if wanted.reach is not None:
        at = at_ms(wanted.reach)
        newer = or_(columns.at_ms > at, columns.id >= wanted.reach)
        query = query.where(columns.at_ms >= at, newer)
    if wanted.before is not None:
        at = at_ms(wanted.before)
        if at is not None:
            older = or_(columns.at_ms < at, and_(columns.at_ms == at, columns.id < wanted.before))
            query = query.where(columns.at_ms <= at, older)
    return query
