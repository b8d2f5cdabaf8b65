"""What the store needs from time to time, done by one node for all.

Every method blocks; call them from one thread at a time.
"""

from sqlalchemy import text

from zurelay.store.engine import Store
from zurelay.store.errors import BusyError
from zurelay.store.leader import Leader
from zurelay.store.partitions import make_days
from zurelay.store.repeats import forget_repeats
from zurelay.store.retention import delete_contents, delete_older
from zurelay.store.sign_in_failures import KEPT_S, delete_failures
from zurelay.store.usage import fold_shards

_HOUR = 3600
_FOLDED_HOURS = 48
"""How far back the first run after a start brings sums together."""
_LATE_HOURS = 1
"""Most entries arrive within this time after their hour."""
_LOCK_TIMEOUT = "500ms"


class Upkeep:
    """The upkeep of one store; run it at the start and every hour."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.leader = Leader(store)
        self._folded = 0

    def run(self, now: float, keep_s: float | None) -> bool:
        """Make the days to come, delete what is over, bring sums together. False if another leads.

        Args:
            now: Unix time.
            keep_s: how long log entries are kept, in seconds; None for ever.

        Raises:
            StoreError: the database does not answer.
        """
        if not self.leader.leads():
            return False
        if self._store.kind == "postgresql":
            self._make_days(now)
            self._fold(int(now) // _HOUR)
            with self._store.write(alone=False) as connection:
                forget_repeats(connection, now)
        with self._store.write(alone=False) as connection:
            delete_failures(connection, int((now - KEPT_S) * 1000))
        delete_contents(self._store, now, None if keep_s is None else now - keep_s)
        if keep_s is not None:
            delete_older(self._store, now - keep_s)
        return True

    def close(self) -> None:
        """Let another node do it."""
        self.leader.release()

    def _make_days(self, now: float) -> None:
        try:
            with self._store.write() as connection:
                connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'"))
                make_days(connection, now)
        except BusyError:
            pass  # there are days ahead: the next hour will do

    def _fold(self, now: int) -> None:
        """Bring the shards of the hours together that were over before hour `now`, each once."""
        end = now - _LATE_HOURS
        for hour in range(max(self._folded, end - _FOLDED_HOURS), end):
            with self._store.write(alone=False) as connection:
                fold_shards(connection, hour)
            self._folded = hour + 1
