"""What the doctor finds out about a store that several nodes share, and about records under way.

Prints nothing.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from zurelay.access.keys import Key
from zurelay.cli.examining import Finding
from zurelay.cli.terminal import counted
from zurelay.live.journal import JournalError, waiting
from zurelay.store.content import oldest_and_newest
from zurelay.store.engine import Store
from zurelay.store.log import StoredLog
from zurelay.store.nodes import clock_offset, keeps_sessions, list_nodes
from zurelay.store.sealing import Sealer, UnreadableError

_CLOCK_SECONDS = 1.0
_OLD_SECONDS = 60.0
"""A record that waits for so long waits for something that is wrong."""


def shared(store: Store, *, valkey: bool) -> Iterator[Finding]:
    """How nodes, clock and sessions of a PostgreSQL are; nothing for SQLite.

    Args:
        store: open.
        valkey: whether nodes share a Valkey too.

    Raises:
        StoreError: the database does not answer.
    """
    if store.kind != "postgresql":
        return
    with store.read() as connection:
        ahead = clock_offset(connection)
        found = list_nodes(connection)
    yield _clock(ahead)
    if not keeps_sessions(store):
        yield Finding(
            "sessions",
            "fault",
            "a pooler lends the database's sessions by the transaction; set PgBouncer's pool_mode"
            " to session, or connect past it",
        )
    alive = [node for node in found if node.alive]
    says = f"{counted(len(alive), 'node')} alive"
    if len(alive) > 1 and not valkey:
        yield Finding("nodes", "warning", f"{says}; without storage.valkey_url each has own limits")
    else:
        yield Finding("nodes", "ok", says)
    lost = [node for node in found if node.spool and not node.alive]
    if lost:
        names = ", ".join(f"{node.id} ({_ago(node.silent_s)})" for node in lost)
        yield Finding(
            "spool elsewhere",
            "warning",
            f"{counted(len(lost), 'node')} went with records that are not delivered: {names};"
            " start it again, or run zurelay spool deliver on its data folder",
        )


def spool(store: Store, data: Path) -> Iterator[Finding]:
    """What waits in the data folder, and in those of its workers, to get into the log.

    Raises:
        StoreError: the database does not answer.
    """
    log = StoredLog(store)
    rows, oldest = 0, None
    for folder in (data, *sorted(data.glob("worker-*"))):
        try:
            more, since = waiting(folder, log.applied)
        except JournalError as error:
            yield Finding("spool", "fault", str(error))
            return
        rows += more
        if since is not None:
            oldest = since if oldest is None else min(oldest, since)
    if oldest is None:
        yield Finding("spool", "ok", "empty: every record is in the log")
        return
    age = max(0.0, time.time() - oldest)
    says = f"{counted(rows, 'record')} on the way into the log, the oldest {_ago(age)}"
    yield Finding("spool", "ok" if age < _OLD_SECONDS else "warning", says)


def messages(store: Store, keys: Sequence[Key], sealer: Sealer | None) -> Finding:
    """Whether messages are stored where keys want that, and those that are can be read.

    Raises:
        StoreError: the database does not answer.
    """
    what = "stored messages"
    wanting = counted(sum(key.store_days is not None for key in keys), "key")
    with store.read() as connection:
        ends = oldest_and_newest(connection)
    if sealer is None:
        if not ends and all(key.store_days is None for key in keys):
            return Finding(what, "ok", "none, and no key wants any")
        says = f"wanted by {wanting}; set [log] content_key to store them, and to read any"
        return Finding(what, "warning", says)
    try:
        for row in ends:
            row.opened(sealer)
    except UnreadableError as error:
        return Finding(what, "warning", f"{error}; see [log] content_previous_keys")
    return Finding(what, "ok", f"of {wanting}, encrypted")


def _clock(ahead: float) -> Finding:
    if abs(ahead) < _CLOCK_SECONDS:
        return Finding("clock of the database", "ok", "agrees with ours")
    way = "ahead of" if ahead > 0 else "behind"
    says = f"{abs(ahead):.1f} s {way} ours; periods and leases go by it: set one of them"
    return Finding("clock of the database", "warning", says)


def _ago(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s ago"
    return f"{seconds / 60:.0f} min ago" if seconds < 7200 else f"{seconds / 3600:.0f} h ago"
