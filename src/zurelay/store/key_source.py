"""Keys and admin tokens for a server that holds them in memory and must hear of changes.

Every method blocks; call them from one thread at a time.
"""

import sqlite3
from collections.abc import Mapping

from zurelay.access.keys import Key
from zurelay.access.tokens import AdminToken
from zurelay.store.counters import ACCESS, read_counter
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.keys import list_keys, touch_keys
from zurelay.store.tokens import list_tokens


class _Watched:
    """One store, and a cheap way to ask whether who may call it changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watch: sqlite3.Connection | None = None
        if store.kind == "sqlite":
            # SQLite counts foreign commits per connection, so the question needs one of its own.
            self._watch = sqlite3.connect(
                store.path, timeout=1, isolation_level=None, check_same_thread=False
            )
        self._closed = False
        self._seen = -1
        self._version = 0

    def version(self) -> int:
        """A number that rises with every change of keys, accounts and tokens.

        Takes microseconds with SQLite, and one small query with PostgreSQL.

        Raises:
            StoreError: the store does not answer.
        """
        if self._closed:
            raise StoreError(f"{self._store.name}: closed")
        if self._watch is None:
            self._version = self._read()
            return self._version
        try:
            seen = int(self._watch.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error as error:
            raise StoreError(f"{self._store.name}: {error}") from error
        if seen != self._seen:
            self._version = self._read()
            self._seen = seen
        return self._version

    def close(self) -> None:
        """Give its connection back."""
        self._closed = True
        if self._watch is not None:
            self._watch.close()

    def _read(self) -> int:
        with self._store.read() as connection:
            return read_counter(connection, ACCESS)


class StoredKeys(_Watched):
    """All keys of one store."""

    def load(self) -> list[Key]:
        """Every key, revoked and expired ones too."""
        with self._store.read() as connection:
            return list_keys(connection)

    def touch(self, used: Mapping[str, float]) -> None:
        """Note when keys were last used: key id -> Unix time."""
        with self._store.write() as connection:
            touch_keys(connection, used)


class StoredTokens(_Watched):
    """All admin tokens of one store."""

    def load(self) -> list[AdminToken]:
        """Every token, revoked ones too."""
        with self._store.read() as connection:
            return list_tokens(connection)
