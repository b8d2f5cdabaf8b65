"""What is stopped on all nodes, as the routing table takes it.

Reading blocks: call it from threads. Whoever asks rebuilds the table when `changed` says so.
"""

from zurelay.plan.route import Stops
from zurelay.store.counters import read_counter
from zurelay.store.engine import Store
from zurelay.store.stops import STOPS, list_stops


class StoredStops:
    """The stops of one store.

    Attributes:
        current: as they were last read.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = -1
        self.current = Stops()

    def changed(self) -> bool:
        """Read them if they changed since the last time; tells whether they did.

        Raises:
            StoreError: the store does not answer.
        """
        with self._store.read() as connection:
            version = read_counter(connection, STOPS)
            if version == self._version:
                return False
            rows = list_stops(connection)
        self._version = version
        self.current = Stops(
            models=frozenset(row.name for row in rows if row.kind == "model"),
            providers=frozenset(row.name for row in rows if row.kind == "provider"),
            routes=frozenset(row.name for row in rows if row.kind == "route"),
        )
        return True
