"""Numbers that tell other processes that something changed."""

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.sqlite import insert

from zurelay.store import schema

ACCESS = "access"
"""Rises with every change of keys, accounts and admin tokens, so that servers read them again."""


def raise_counter(connection: Connection, name: str) -> None:
    """Add one."""
    statement = insert(schema.meta).values(name=name, value=1)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["name"], set_={"value": schema.meta.c.value + 1}
        )
    )


def set_counter(connection: Connection, name: str, value: int) -> None:
    """Set it; it never falls."""
    statement = insert(schema.meta).values(name=name, value=value)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["name"],
            set_={"value": func.max(schema.meta.c.value, statement.excluded.value)},
        )
    )


def read_counter(connection: Connection, name: str) -> int:
    """Its value; 0 if it was never set."""
    query = select(schema.meta.c.value).where(schema.meta.c.name == name)
    return connection.execute(query).scalar_one_or_none() or 0
