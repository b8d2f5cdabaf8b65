"""The nodes that work on one store, and how it sees them; for people, not for the path of requests.

Every function blocks.
"""

import time
from dataclasses import dataclass

from sqlalchemy import Connection, select, text

from zurelay.store import schema
from zurelay.store.engine import Store, told
from zurelay.store.wallet_source import database_time
from zurelay.store.wallets import ALIVE_S


@dataclass(frozen=True, slots=True)
class Node:
    """A node.

    Attributes:
        id: of its journal.
        silent_s: seconds since it was last heard of, by the database's clock.
        spool: groups of log entries that it still had to deliver then.
    """

    id: str
    silent_s: float
    spool: int

    @property
    def alive(self) -> bool:
        """Whether it counts as one of those that share."""
        return self.silent_s < ALIVE_S


def list_nodes(connection: Connection) -> list[Node]:
    """Every node there ever was and that another has not taken the place of."""
    table = schema.node
    now = database_time(connection)
    rows = connection.execute(select(table.c.id, table.c.seen, table.c.spool).order_by(table.c.id))
    return [Node(id_, max(0.0, now - seen), spool) for id_, seen, spool in rows]


def clock_offset(connection: Connection) -> float:
    """Seconds that the database's clock is ahead of ours, give or take half of what asking took."""
    before = time.time()
    there = database_time(connection)
    return there - (before + time.time()) / 2


def keeps_sessions(store: Store) -> bool:
    """Whether a connection to PostgreSQL stays with one session of the server.

    It does not behind a pooler that lends a session for each transaction.

    Raises:
        StoreError: the database does not answer.
    """
    asked = text("SELECT pg_backend_pid()")
    with told(store.name), store.session() as one, store.session() as other:
        before = one.execute(asked).scalar_one()
        # A pooler lends the session that became free last: this takes it.
        other.execute(text("BEGIN"))
        other.execute(asked)
        after = one.execute(asked).scalar_one()
        other.execute(text("ROLLBACK"))
    return bool(before == after)
