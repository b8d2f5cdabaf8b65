"""INSERT ... ON CONFLICT, which SQLite and PostgreSQL have in the same words, one row or many."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import BigInteger, Boolean, Connection, CursorResult, Integer, LargeBinary, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeEngine

_ARRAYS: tuple[tuple[type[TypeEngine[Any]], str], ...] = (
    (BigInteger, "bigint[]"),
    (Integer, "integer[]"),
    (Boolean, "boolean[]"),
    (LargeBinary, "bytea[]"),
)


def upsert(connection: Connection, table: Table) -> "sqlite.Insert | postgresql.Insert":
    """An INSERT into `table` that can say what to do on a conflict."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


class RowsInsert:
    """An INSERT of many whole rows, in the driver's own words: what every request pays for.

    PostgreSQL gets all rows in one statement whose text does not depend on their number, so it is
    prepared once.
    """

    def __init__(self, table: Table, conflict: str, returning: str = "") -> None:
        """Of `table`; `conflict` follows ON CONFLICT. PostgreSQL returns columns `returning`."""
        columns = [column.name for column in table.columns]
        into = f"INSERT INTO {table.name} ({', '.join(columns)})"
        tail = f"ON CONFLICT {conflict}"
        arrays = ", ".join(f"%s::{_array(column.type)}" for column in table.columns)
        self._many = f"{into} VALUES ({', '.join('?' * len(columns))}) {tail}"
        self._arrays = f"{into} SELECT * FROM unnest({arrays}) {tail}"  # noqa: S608
        if returning:
            self._arrays += f" RETURNING {returning}"

    def run(
        self, connection: Connection, rows: Sequence[tuple[Any, ...]]
    ) -> CursorResult[Any] | None:
        """Insert rows, each with a value for every column, in the table's order of columns.

        Rows that others may write too come sorted by their key, so that no two writers wait for
        each other. Returns PostgreSQL's result; None for no rows.
        """
        if not rows:
            return None
        if connection.dialect.name == "postgresql":
            columns = tuple(map(list, zip(*rows, strict=True)))
            return connection.exec_driver_sql(self._arrays, columns)
        return connection.exec_driver_sql(self._many, list(rows))


def adding(table: Table, sums: Collection[str]) -> str:
    """For `RowsInsert`: a row that is there already gets the new row's `sums` added to its own."""
    key = ", ".join(column.name for column in table.primary_key)
    added = ", ".join(f"{name} = {table.name}.{name} + excluded.{name}" for name in sums)
    return f"({key}) DO UPDATE SET {added}"


def _array(kind: TypeEngine[Any]) -> str:
    return next((array for known, array in _ARRAYS if isinstance(kind, known)), "text[]")
