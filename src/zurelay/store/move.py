"""Moving a store from SQLite to PostgreSQL, whole."""

from zurelay.store.copying import (
    Progress,
    Sums,
    check,
    copy_rows,
    filled,
    quiet,
    void_leases,
)
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError


def move(source: Store, target: Store, progress: Progress = quiet) -> dict[str, Sums]:
    """Copy all of a store that no server uses into one that holds nothing.

    All of it arrives, or nothing. What nodes had leased returns to its wallets there. The source
    stays as it is.

    Raises:
        StoreError: the target holds something, or not all arrived as it was.
    """
    with source.read() as reading, target.write() as writing:
        known = filled(writing)
        if known:
            raise StoreError(
                f"{target.name} is not empty: there is something in {', '.join(known)}"
            )
        read = copy_rows(reading, writing, progress)
        check(writing, read)
        void_leases(writing)
    return read
