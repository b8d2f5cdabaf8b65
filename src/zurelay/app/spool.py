"""Delivering what the journal of a process that is gone holds into the log, by another process.

Blocks. Whoever calls it holds the lock of the folder.
"""

from pathlib import Path

from zurelay.live.journal import FILE, Journal
from zurelay.live.ports import Entry
from zurelay.live.records import encode_record
from zurelay.store.engine import Store
from zurelay.store.log import StoredLog
from zurelay.store.wallet_source import StoredWallets

_BATCH = 500
"""Entries per transaction."""


def deliver(folder: Path, store: Store) -> int:
    """Move everything on, each entry once however often it is tried; gives how many there were.

    Requests that the process left under way are among them, as interrupted.
    What the process had leased of wallets returns too.

    Args:
        folder: the data folder of the process.
        store: the database that it shared; not one in a folder.

    Raises:
        JournalError: the journal cannot be read.
        StoreError: the database does not answer.
    """
    if not (folder / FILE).exists():
        return 0
    journal = Journal(folder, ballast_mb=0)
    try:
        log = StoredLog(store)
        total = 0
        entries: list[Entry] = []
        last = log.applied(journal.id)
        journal.continue_after(last)
        journal.interrupt()
        for seq, records in journal.groups(last):
            entries += [(record, encode_record(record)) for record in records]
            last = seq
            if len(entries) >= _BATCH:
                log.apply(journal.id, last, entries)
                total += len(entries)
                entries = []
        if entries:
            log.apply(journal.id, last, entries)
        StoredWallets(store, journal.id, alone=False).begin()
        return total + len(entries)
    finally:
        journal.close()
