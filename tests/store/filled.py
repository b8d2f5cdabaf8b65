"""Stores that hold something in every table, to see that nothing is left behind."""

from typing import Any

from sqlalchemy import Boolean, Integer, LargeBinary, Table, insert

from tests.store.rows import a_key, a_record, entry
from zurelay.store import schema
from zurelay.store.copying import tables
from zurelay.store.engine import Store
from zurelay.store.keys import add_key
from zurelay.store.requests import add_requests

ROWS = 3


def fill(store: Store, requests: int = 5) -> None:
    """Put keys and requests into a store that has an account, and rows into all other tables."""
    with store.write() as connection:
        for seed in (1, 2, 3):
            add_key(connection, a_key(seed, models=("a", "b/*"), budget=None))
        add_requests(connection, [entry(a_record()) for _ in range(requests)])
        for table in tables():
            if table in {schema.account, schema.key, schema.request}:
                continue
            for number in range(ROWS):
                connection.execute(insert(table).values(_row(table, number)))


def _row(table: Table, number: int) -> dict[str, Any]:
    return {column.name: _value(table, column, number) for column in table.columns}


def _value(table: Table, column: Any, number: int) -> Any:
    for key in column.foreign_keys:
        return "acct_1" if key.column.table is schema.account else _text(key.column, number)
    if isinstance(column.type, Boolean):
        return number % 2 == 0
    if isinstance(column.type, LargeBinary):
        return bytes([number, 0, 255]) * 10
    if isinstance(column.type, Integer):
        if table is schema.node:
            return number  # seen long ago
        # Beyond what a float holds exactly, and below zero too; a small integer where it is one.
        wide = column.type.__visit_name__ == "big_integer"
        return (-1) ** number * (2**60 + number) if wide else number
    return _text(column, number)


def _text(column: Any, number: int) -> str:
    return f"{column.name[0]}{number} é"[: column.type.length]
