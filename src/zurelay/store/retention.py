"""Deleting what the log need not keep any longer, in small transactions."""

from zurelay.store.engine import Store
from zurelay.store.requests import delete_requests

BATCH = 1000


def delete_older(store: Store, until: float) -> int:
    """Delete every log entry made before Unix time `until`; sums by hour stay.

    Returns how many. Between its transactions other writers get their turn.
    """
    total = 0
    while True:
        with store.write() as connection:
            deleted = delete_requests(connection, until, BATCH)
        total += deleted
        if deleted < BATCH:
            return total
