"""What each of several processes that share a store says of its routes: one row for each.

Times are by the database's clock. A process alone on SQLite writes none.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, select, update

from zurelay.store import schema
from zurelay.store.upsert import upsert
from zurelay.store.wallet_source import database_time

FORGOTTEN_S: Final = 300
"""How long the word of a process is kept that is heard of no more."""

_TABLE = schema.route_report


@dataclass(frozen=True, slots=True)
class RouteReport:
    """A process and its word.

    Attributes:
        node: its id; `name` is for people.
        told_s: seconds since it wrote `routes`.
        silent_s: seconds since it last said that they are still so.
    """

    node: str
    name: str
    told_s: float
    silent_s: float
    routes: str


def tell(connection: Connection, node: str, name: str, routes: str) -> None:
    """Write a process's word down in the place of what it said before."""
    now = int(database_time(connection) * 1000)
    row = {"name": name[:200], "told_ms": now, "seen_ms": now, "routes": routes}
    statement = upsert(connection, _TABLE).values(node=node, **row)
    connection.execute(statement.on_conflict_do_update(index_elements=["node"], set_=row))


def still(connection: Connection, node: str) -> bool:
    """A process says that nothing changed; False if its word is no longer there."""
    now = int(database_time(connection) * 1000)
    statement = update(_TABLE).where(_TABLE.c.node == node).values(seen_ms=now)
    return connection.execute(statement).rowcount > 0


def take_back(connection: Connection, node: str) -> None:
    """A process ends."""
    connection.execute(delete(_TABLE).where(_TABLE.c.node == node))


def list_reports(connection: Connection) -> list[RouteReport]:
    """The word of every process, by name."""
    now = database_time(connection) * 1000
    query = select(_TABLE).order_by(_TABLE.c.name, _TABLE.c.node)
    return [
        RouteReport(
            row["node"],
            row["name"],
            max(0.0, (now - row["told_ms"]) / 1000),
            max(0.0, (now - row["seen_ms"]) / 1000),
            row["routes"],
        )
        for row in connection.execute(query).mappings()
    ]


def forget_silent(connection: Connection) -> None:
    """Delete the word of processes that are gone."""
    before = int((database_time(connection) - FORGOTTEN_S) * 1000)
    connection.execute(delete(_TABLE).where(_TABLE.c.seen_ms < before))
