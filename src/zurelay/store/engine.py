"""The database: opening it, and transactions on it.

Everything here blocks. Commands use it directly; the server calls it only from threads, never from
its event loop. A `Store` may be shared by threads. Several processes may work on one store: SQLite
lets them wait for each other's writes for up to `_BUSY_S`.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from zurelay.store.errors import StoreError
from zurelay.store.migrate import migrate

FILE = "zurelay.db"
_BUSY_S = 10.0
_WRITES = "zurelay_writes"


class Store:
    """An open database whose tables are those of this release."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self.path = path
        self._engine = engine
        self._writer = engine.execution_options(**{_WRITES: True})

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads: one snapshot.

        Raises:
            StoreError: the database does not answer.
        """
        with _told(self.path), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that has the write lock from its start and commits at the end.

        Raises:
            StoreError: the database does not answer, is full or cannot be written.
        """
        with _told(self.path), self._writer.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


def open_store(data: Path, url: str = "") -> Store:
    """Open the store in the folder `data`, making folder, file and tables where they lack.

    Args:
        data: the data folder.
        url: `storage.url`; empty for SQLite in `data`.

    Raises:
        StoreError: the folder or database cannot be used, or belongs to a newer release.
    """
    if url:
        raise StoreError("storage.url: this release keeps its store in SQLite only; leave it empty")
    path = data / FILE
    try:
        make_private_folder(data)
        make_private_file(path)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _BUSY_S})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    store = Store(engine, path)
    try:
        with _told(path):
            migrate(engine)
    except BaseException:
        store.close()
        raise
    return store


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter; one that exists is left as it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner can read; SQLite gives its -wal the same mode."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn the driver's errors into one line that names the file."""
    try:
        yield
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.IntegrityError):
            raise
        raise StoreError(f"{path}: {error.orig}") from error


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where _begin says so
    for pragma in (
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    options: Any = connection.get_execution_options()
    connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get(_WRITES) else "BEGIN")
