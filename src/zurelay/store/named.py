"""What rows with an id and a name have in common: keys, admin tokens, accounts."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, Table, or_, update

from zurelay.store.counters import ACCESS, raise_counter
from zurelay.store.errors import StoreError

_NAME_LENGTH = 200


def check_name(whose: str, name: str) -> None:
    """Refuse a name that cannot be one; `whose` is such as "a key's".

    Raises:
        StoreError: it is empty, too long or not printable.
    """
    if not name.strip() or len(name) > _NAME_LENGTH or not name.isprintable():
        raise StoreError(f"{whose} name has 1 to {_NAME_LENGTH} printable characters")


def one_row(
    connection: Connection, rows: Select[Any], table: Table, wanted: str, prefix: str, noun: str
) -> RowMapping:
    """The one of `rows` with that id, beginning of an id (with or without `prefix`) or name.

    Raises:
        StoreError: there is none, or several.
    """
    id_, name = table.c.id, table.c.name
    sought = wanted.replace("\0", "\N{REPLACEMENT CHARACTER}")  # PostgreSQL has no NUL
    for condition in (
        id_ == sought,
        or_(*(_begins(id_, start) for start in (sought, f"{prefix}{sought}"))),
        name == sought,
    ):
        found = connection.execute(rows.where(condition).limit(2)).mappings().all()
        if len(found) > 1:
            raise StoreError(f"several {noun}s match {wanted!r}; give the whole id")
        if found:
            return found[0]
    raise StoreError(f"no {noun} has the id or name {wanted!r}; see 'zurelay {noun}s list'")


def revoke_row(connection: Connection, table: Table, id_: str, now: float) -> None:
    """Revoke the row of that id for ever; servers on this store see it within a second."""
    connection.execute(update(table).where(table.c.id == id_).values(revoked=int(now)))
    raise_counter(connection, ACCESS)


def _begins(column: ColumnElement[str], start: str) -> ColumnElement[bool]:
    return column.startswith(start, autoescape=True)
