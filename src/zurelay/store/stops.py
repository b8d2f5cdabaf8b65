"""Models, providers and routes that nobody asks until they are resumed."""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from zurelay.store import schema
from zurelay.store.counters import raise_counter

STOPS = "stops"
"""The counter that rises with every stop and resumption, so that servers read them again."""

_TABLE = schema.stop


@dataclass(frozen=True, slots=True)
class StopRow:
    """What is stopped: `kind` is `model`, `provider` or `route`; `since` in Unix seconds."""

    kind: str
    name: str
    since: int
    actor: str
    note: str


def add_stop(connection: Connection, row: StopRow) -> bool:
    """Stop it; False if it is stopped already."""
    if find_stop(connection, row.kind, row.name) is not None:
        return False
    connection.execute(
        insert(_TABLE).values(
            kind=row.kind, name=row.name, since=row.since, actor=row.actor, note=row.note
        )
    )
    raise_counter(connection, STOPS)
    return True


def remove_stop(connection: Connection, kind: str, name: str) -> bool:
    """Resume it; False if it is not stopped."""
    statement = delete(_TABLE).where(_TABLE.c.kind == kind, _TABLE.c.name == name)
    removed = connection.execute(statement).rowcount > 0
    if removed:
        raise_counter(connection, STOPS)
    return removed


def find_stop(connection: Connection, kind: str, name: str) -> StopRow | None:
    """Since when it is stopped, and by whom."""
    query = select(_TABLE).where(_TABLE.c.kind == kind, _TABLE.c.name == name)
    row = connection.execute(query).mappings().first()
    return None if row is None else StopRow(**row)


def list_stops(connection: Connection) -> list[StopRow]:
    """Everything that is stopped, by kind and name."""
    query = select(_TABLE).order_by(_TABLE.c.kind, _TABLE.c.name)
    return [StopRow(**row) for row in connection.execute(query).mappings()]
