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
        # SQLite counts foreign commits per connection, so the question needs one of its own.
        self._watch = sqlite3.connect(
            store.path, timeout=1, isolation_level=None, check_same_thread=False
        )
        self._seen = -1
        self._version = 0

    def version(self) -> int:
        """A number that rises with every change of keys, accounts and tokens; takes microseconds.

        Raises:
            StoreError: the store does not answer.
        """
        try:
            seen = int(self._watch.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error as error:
            raise StoreError(f"{self._store.path}: {error}") from error
        if seen != self._seen:
            with self._store.read() as connection:
                self._version = read_counter(connection, ACCESS)
            self._seen = seen
        return self._version

    def close(self) -> None:
        """Give its connection back."""
        self._watch.close()


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
