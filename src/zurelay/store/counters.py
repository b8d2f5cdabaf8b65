"""Numbers that tell other processes that something changed."""

from sqlalchemy import Connection, select

from zurelay.store import schema
from zurelay.store.upsert import upsert

ACCESS = "access"
"""Rises with every change of keys, accounts and admin tokens, so that servers read them again."""

_VALUE = schema.meta.c.value


def raise_counter(connection: Connection, name: str) -> None:
    """Add one."""
    statement = upsert(connection, schema.meta).values(name=name, value=1)
    connection.execute(
        statement.on_conflict_do_update(index_elements=["name"], set_={"value": _VALUE + 1})
    )


def set_counter(connection: Connection, name: str, value: int) -> None:
    """Set it; it never falls."""
    statement = upsert(connection, schema.meta).values(name=name, value=value)
    risen = statement.excluded.value
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["name"], set_={"value": risen}, where=risen > _VALUE
        )
    )


def read_counter(connection: Connection, name: str) -> int:
    """Its value; 0 if it was never set."""
    query = select(_VALUE).where(schema.meta.c.name == name)
    return connection.execute(query).scalar_one_or_none() or 0
