"""INSERT ... ON CONFLICT, which SQLite and PostgreSQL have in the same words, one row or many."""

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, CursorResult, LargeBinary, Table
from sqlalchemy.dialects import postgresql, sqlite


def upsert(connection: Connection, table: Table) -> "sqlite.Insert | postgresql.Insert":
    """An INSERT into `table` that can say what to do on a conflict."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def sqlite_driver(connection: Connection) -> sqlite3.Connection:
    """SQLite's own connection, in the same transaction.

    For what every request pays for: SQLAlchemy takes longer over a statement than SQLite does.
    """
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        raise TypeError(driver)
    return driver


class RowsInsert:
    """An INSERT of many whole rows, in the driver's own words: what every request pays for.

    PostgreSQL gets all rows as one JSON text: encoding it takes a thirtieth of the processor time
    that the driver needs for arrays, and the statement does not depend on the number of rows, so
    it is prepared once.
    """

    def __init__(self, table: Table, conflict: str, returning: str = "") -> None:
        """Of `table`; `conflict` follows ON CONFLICT. PostgreSQL returns columns `returning`."""
        self._columns = [column.name for column in table.columns]
        self._binary = [isinstance(column.type, LargeBinary) for column in table.columns]
        columns = ", ".join(self._columns)
        into = f"INSERT INTO {table.name} ({columns})"
        tail = f"ON CONFLICT {conflict}"
        self._many = f"{into} VALUES ({', '.join('?' * len(self._columns))}) {tail}"
        self.document = (
            f"{into} SELECT {columns} FROM "  # noqa: S608
            f"json_populate_recordset(NULL::{table.name}, %s::json) {tail}"
        )
        if returning:
            self.document += f" RETURNING {returning}"

    def run(
        self, connection: Connection, rows: Sequence[tuple[Any, ...]]
    ) -> CursorResult[Any] | None:
        """Insert rows, each with a value for every column, in the table's order of columns.

        Rows that others may write too come sorted by their key, so that no two writers wait for
        each other. Returns PostgreSQL's result, if it had anything to do.
        """
        if not rows:
            return None
        if connection.dialect.name != "postgresql":
            sqlite_driver(connection).executemany(self._many, rows)
            return None
        return connection.exec_driver_sql(self.document, (self.text(rows),))

    def text(self, rows: Sequence[tuple[Any, ...]]) -> str:
        """The rows as PostgreSQL's statement, `document`, takes them."""
        if any(self._binary):
            rows = [self._readable(row) for row in rows]
        return msgspec.json.encode(
            [dict(zip(self._columns, row, strict=True)) for row in rows]
        ).decode()

    def _readable(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """The row with bytes as PostgreSQL reads them from text."""
        return tuple(
            f"\\x{value.hex()}" if binary and value is not None else value
            for value, binary in zip(row, self._binary, strict=True)
        )


class RowsInserts:
    """Several of them that PostgreSQL gets in one statement, so in one trip there and back."""

    def __init__(self, *inserts: RowsInsert) -> None:
        """Of inserts that return nothing."""
        self._inserts = inserts
        parts = (f"i{n} AS ({insert.document})" for n, insert in enumerate(inserts))
        self._together = f"WITH {', '.join(parts)} SELECT"

    def run(self, connection: Connection, rows: Sequence[Sequence[tuple[Any, ...]]]) -> None:
        """Insert the rows of each, as `RowsInsert.run` does."""
        if connection.dialect.name == "postgresql":
            texts = tuple(
                insert.text(each) for insert, each in zip(self._inserts, rows, strict=True)
            )
            connection.exec_driver_sql(self._together, texts)
            return
        for insert, each in zip(self._inserts, rows, strict=True):
            insert.run(connection, each)


def adding(table: Table, sums: Collection[str]) -> str:
    """For `RowsInsert`: a row that is there already gets the new row's `sums` added to its own."""
    key = ", ".join(column.name for column in table.primary_key)
    added = ", ".join(f"{name} = {table.name}.{name} + excluded.{name}" for name in sums)
    return f"({key}) DO UPDATE SET {added}"
