"""Deleting what the log need not keep any longer, without keeping writers waiting."""

import time
from contextlib import suppress

from sqlalchemy import text

from zurelay.store.content import delete_expired
from zurelay.store.engine import Store
from zurelay.store.errors import BusyError
from zurelay.store.partitions import Day, days
from zurelay.store.requests import delete_requests

BATCH = 200
"""Entries in one transaction, which keeps the other writers of SQLite waiting."""

CONTENTS = 50
"""Requests whose messages go in one transaction; each may be a megabyte."""

_WAIT = "2s"
_PAUSE_S = 0.5


def delete_older(store: Store, until: float) -> int:
    """Delete every log entry made before Unix time `until`; sums and the ledger stay.

    PostgreSQL drops whole days (UTC), so a day goes when all of it is older. Returns how many
    entries went. Between its transactions other writers get their turn.
    """
    total = _empty_days(store, until) if store.kind == "postgresql" else 0
    while True:
        started = time.monotonic()
        with store.write(alone=False) as connection:
            deleted = delete_requests(connection, until, BATCH)
        total += deleted
        if deleted < BATCH:
            return total
        # Half of the time is the others': SQLite hands its lock to whoever happens to ask.
        time.sleep(min(time.monotonic() - started, _PAUSE_S))


def delete_contents(store: Store, now: float, until: float | None) -> int:
    """Delete messages whose time is over, and those of entries made before Unix time `until`.

    Returns of how many requests. Between its transactions other writers get their turn.
    """
    total = 0
    while True:
        started = time.monotonic()
        with store.write(alone=False) as connection:
            deleted = delete_expired(connection, now, until, CONTENTS)
        total += deleted
        if deleted < CONTENTS:
            return total
        time.sleep(min(time.monotonic() - started, _PAUSE_S))


def _empty_days(store: Store, until: float) -> int:
    with store.read() as connection:
        old = [day for day in days(connection) if day.end_ms <= until * 1000]
    return sum(_empty(store, day) for day in old)


def _empty(store: Store, day: Day) -> int:
    """Empty a day's table and drop it; one that is in use stays, for the next time."""
    gone = 0
    try:
        with store.write(alone=False) as connection:
            connection.execute(text(f"SET LOCAL lock_timeout = '{_WAIT}'"))
            counted = connection.execute(text(f"SELECT count(*) FROM {day.table}"))  # noqa: S608
            gone = int(counted.scalar_one())
            if gone:
                # Locks this day alone, to which nobody writes any more.
                connection.execute(text(f"TRUNCATE {day.table}"))
    except BusyError:
        return 0
    with suppress(BusyError), store.write(alone=False) as connection:
        # This locks the log as a whole: writers must not queue behind it.
        connection.execute(text("SET LOCAL lock_timeout = '50ms'"))
        connection.execute(text(f"DROP TABLE {day.table}"))
    return gone
