"""The wallets of one store as a process uses them that spends from many and must not wait.

Every method blocks; call them from one thread at a time.
"""

import time
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, text

from zurelay.meter.wallets import Drawn, Wallet, Want
from zurelay.store import wallets
from zurelay.store.counters import read_counter
from zurelay.store.engine import Store


class StoredWallets:
    """Leases of one node.

    Attributes:
        alone: no other process spends from this store.
    """

    def __init__(self, store: Store, node: str, *, alone: bool) -> None:
        self._store = store
        self._node = node
        self.alone = alone
        self._epoch = 0
        self._recalls = 0
        self._seen: Mapping[str, int] = {}

    def begin(self) -> None:
        """Start anew: what this node's earlier run had leased returns."""
        with self._store.write() as connection:
            self._epoch = wallets.begin_node(
                connection, self._node, database_time(connection), alone=self.alone
            )

    def end(self) -> None:
        """This node ends, and all it settled is in the log: what it had leased returns."""
        with self._store.write() as connection:
            wallets.end_node(connection, self._node)

    def draw(self, wants: Sequence[Want]) -> list[Drawn]:
        """Lease more, as far as it is there; in the order of `wants`."""
        with self._store.write() as connection:
            now = database_time(connection)
            return wallets.draw(connection, self._node, self._epoch, wants, now, alone=self.alone)

    def give_back(self, amounts: Mapping[str, int]) -> None:
        """Return idle parts: wallet id -> nano-dollars."""
        with self._store.write() as connection:
            wallets.give_back(connection, self._node, amounts)

    def renew(self, held: Mapping[str, int], undelivered: int) -> None:
        """Keep the leases: what requests under way hold, and how many entries wait here."""
        with self._store.write() as connection:
            wallets.renew(connection, self._node, held, undelivered, database_time(connection))

    def leased(self) -> Mapping[str, int]:
        """What this node was granted since it began, spent or not: wallet id -> nano-dollars."""
        with self._store.read() as connection:
            return wallets.leased(connection, self._node)

    def recall(self, wanted: Sequence[str]) -> None:
        """Ask the other nodes to return what they do not use."""
        with self._store.write() as connection:
            for wallet in sorted(wanted):
                wallets.recall(connection, wallet)

    def left(self, wanted: Sequence[Wallet]) -> list[int]:
        """What is in each wallet, whoever has leased it."""
        with self._store.read() as connection:
            return [
                wallets.balance(connection, wallet.id)
                if wallet.budget is None
                else wallets.budget_left(connection, wallet)
                for wallet in wanted
            ]

    def spent(self, since: float, account: str, key: str) -> int:
        """Nano-dollars that a key spent since Unix time `since`, by the log."""
        with self._store.read() as connection:
            return wallets.spent_since(connection, since, account, key)

    def recalled(self) -> Mapping[str, int]:
        """How often each leased wallet was recalled; asks no more than one number most times."""
        with self._store.read() as connection:
            recalls = read_counter(connection, wallets.RECALLS)
            if recalls != self._recalls:
                self._seen = wallets.recalled(connection, self._node)
                self._recalls = recalls
        return self._seen


def database_time(connection: Connection) -> float:
    """Unix time by the clock that all nodes share."""
    if connection.dialect.name == "sqlite":
        return time.time()
    found = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())"))
    return float(found.scalar_one())
