"""All rows of one store into another, of either kind, and proof that they arrived.

Every function blocks, for as long as the rows take.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    Select,
    String,
    Table,
    cast,
    func,
    select,
    text,
)

from zurelay.store import schema
from zurelay.store.errors import StoreError
from zurelay.store.migrate import OLDEST_COUNTER
from zurelay.store.partitions import make_days
from zurelay.store.upsert import RowsInsert
from zurelay.store.wallets import BALANCE

CHUNK = 1000
_LARGE = 20
"""Rows at a time of tables with bytes without bound, of which a row may have a megabyte or two."""
APPLICATION = "zurelay"

Progress = Callable[[str, int], None]
"""Told from time to time: the table, and how many of its rows are done."""

_APART = 1_000_000
"""Sums are made of quotients and remainders: SQLite's own would overflow."""
_GOING_S = 1.0
_DAY_MS = 86_400_000
_DAYS_MADE = 400
"""Older days of the request log need no table of their own."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What a table holds: how many rows, and the sum of each column of integers."""

    rows: int
    columns: dict[str, int]


def tables() -> list[Table]:
    """Every table, those first that others refer to."""
    return list(schema.metadata.sorted_tables)


def filled(connection: Connection) -> list[str]:
    """The tables that hold anything but what every new store holds."""
    found = []
    for table in tables():
        query = _own(select(text("1")).select_from(table), table)
        if connection.execute(query.limit(1)).first() is not None:
            found.append(table.name)
    return found


def in_use(connection: Connection) -> bool:
    """Whether a gateway or command works on this PostgreSQL database, beside this connection."""
    until = time.monotonic() + _GOING_S
    while found := _others(connection):
        if time.monotonic() > until:
            break
        time.sleep(0.05)  # one may be closing at this moment
    return found


def _others(connection: Connection) -> bool:
    connection.execute(text("SELECT pg_stat_clear_snapshot()"))
    others = connection.execute(
        text(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = :name AND pid <> pg_backend_pid()"
        ),
        {"name": APPLICATION},
    ).scalar_one()
    alive = connection.execute(
        text("SELECT count(*) FROM node WHERE seen > extract(epoch FROM clock_timestamp()) - 15")
    ).scalar_one()
    return bool(others or alive)


def copy_rows(source: Connection, target: Connection, progress: Progress) -> dict[str, Sums]:
    """Copy every row into tables that hold none of them; gives what was read, by table.

    Args:
        source: a reading transaction, one moment of the store.
        target: a writing transaction, of this release's tables as the source is.
        progress: told after each thousand rows.
    """
    for connection in (source, target):
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            # Each waits while the other is at work.
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    if target.dialect.name == "postgresql":
        _make_days(source, target)
    return {table.name: _copy(table, source, target, progress) for table in tables()}


def check(target: Connection, read: dict[str, Sums]) -> None:
    """Compare what arrived with what was read.

    Raises:
        StoreError: something did not arrive as it was.
    """
    for table in tables():
        wanted = read[table.name]
        found = sums(target, table)
        if found != wanted:
            raise StoreError(
                f"table {table.name} did not arrive whole: {found.rows} rows for {wanted.rows},"
                f" sums {found.columns} for {wanted.columns}; nothing was changed"
            )


def sums(connection: Connection, table: Table) -> Sums:
    """What a table holds now."""
    names = _numbers(table)
    parts: list[ColumnElement[Any]] = [func.count()]
    for name in names:
        column = cast(table.c[name], BigInteger)
        parts += [func.sum(column // _APART), func.sum(column % _APART)]  # towards zero, both
    query = _own(select(*parts).select_from(table), table)
    rows, *found = connection.execute(query).one()
    values = [int(value or 0) for value in found]
    columns = {
        name: whole * _APART + rest
        for name, whole, rest in zip(names, values[::2], values[1::2], strict=True)
    }
    return Sums(int(rows), columns)


def void_leases(connection: Connection) -> None:
    """Return to every wallet what nodes had leased of it and not spent."""
    connection.execute(
        text(f"UPDATE wallet SET available = {BALANCE}")  # noqa: S608 - of a constant
    )
    connection.execute(text("DELETE FROM lease"))
    connection.execute(text("DELETE FROM node"))
    connection.execute(text("DELETE FROM route_report"))


def _copy(table: Table, source: Connection, target: Connection, progress: Progress) -> Sums:
    insert = RowsInsert(table, "DO NOTHING")
    names = _numbers(table)
    places = [list(table.c.keys()).index(name) for name in names]
    totals = [0] * len(names)
    rows = 0
    for chunk in _chunks(table, source):
        for place, index in enumerate(places):
            totals[place] += sum(row[index] or 0 for row in chunk)
        insert.run(target, chunk)
        rows += len(chunk)
        progress(table.name, rows)
    return Sums(rows, dict(zip(names, totals, strict=True)))


def _chunks(table: Table, source: Connection) -> Iterator[list[tuple[Any, ...]]]:
    query = _own(select(table).order_by(*table.primary_key), table)
    large = any(
        isinstance(column.type, LargeBinary) and column.type.length is None
        for column in table.columns
    )
    size = _LARGE if large else CHUNK
    found = source.execution_options(yield_per=size).execute(query)
    lengths = [
        column.type.length if isinstance(column.type, String) else -1 for column in table.columns
    ]
    for partition in found.partitions(size):
        yield [
            tuple(_fitting(value, most) for value, most in zip(row, lengths, strict=True))
            for row in partition
        ]


def _own(query: Select[Any], table: Table) -> Select[Any]:
    """Leaves out the counter that every store has by the release that made it."""
    return query.where(schema.meta.c.name != OLDEST_COUNTER) if table is schema.meta else query


def _fitting(value: Any, most: int | None) -> Any:
    """What PostgreSQL takes: SQLite minds neither NUL nor the length of a column."""
    if most == -1 or not isinstance(value, str):
        return value
    value = value.replace("\0", "")
    return value if most is None else value[:most]


def _numbers(table: Table) -> list[str]:
    return [
        column.name
        for column in table.columns
        if isinstance(column.type, Integer) and not isinstance(column.type, Boolean)
    ]


def _make_days(source: Connection, target: Connection) -> None:
    oldest = source.execute(select(func.min(schema.request.c.at_ms))).scalar_one()
    if oldest is None:
        return
    now_ms = int(time.time() * 1000)
    start = max(oldest, now_ms - _DAYS_MADE * _DAY_MS)
    for at in range(start, now_ms, _DAY_MS):
        make_days(target, at / 1000)


def quiet(_table: str, _rows: int) -> None:
    """A `Progress` that shows nothing."""
