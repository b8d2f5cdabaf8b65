"""The request log as the ledger uses it: whole groups in, with the mark of how far it has come.

Every method blocks; call them from a thread.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from zurelay.meter.record import RequestRecord
from zurelay.store.counters import read_counter, set_counter
from zurelay.store.engine import Store
from zurelay.store.repeats import paid_once
from zurelay.store.requests import Entry, Filter, add_requests, get_request, list_requests
from zurelay.store.usage import shard_of
from zurelay.store.wallets import post


class StoredLog:
    """The request log of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def applied(self, journal: str) -> int:
        """Number of the last group of that journal that the log has; 0 for none."""
        with self._store.read() as connection:
            return read_counter(connection, f"journal:{journal}")

    def apply(self, journal: str, upto: int, entries: Sequence[Entry]) -> None:
        """Write the entries of that journal's groups up to number `upto`, and the mark, at once.

        What new ones cost is taken from the leases of the node that the journal belongs to.
        """
        with self._store.write(alone=False) as connection:
            self._add(connection, journal, entries)
            set_counter(connection, f"journal:{journal}", upto)

    def add(self, node: str, entries: Sequence[Entry]) -> None:
        """As `apply`, of entries that were in no journal."""
        with self._store.write(alone=False) as connection:
            self._add(connection, node, entries)

    def get(self, id_: str, account: str | None) -> RequestRecord | None:
        """The entry with that id, if it belongs to that account; None looks in all."""
        with self._store.read() as connection:
            return get_request(connection, id_, account)

    def recent(self, wanted: Filter, limit: int) -> list[RequestRecord]:
        """The newest entries that pass the filter, newest first."""
        with self._store.read() as connection:
            return list_requests(connection, wanted, limit)

    def _add(self, connection: Connection, node: str, entries: Sequence[Entry]) -> None:
        shard = 0 if self._store.kind == "sqlite" else shard_of(node)
        new = add_requests(connection, paid_once(connection, entries), shard)
        post(connection, node, (record for record, _ in new))
