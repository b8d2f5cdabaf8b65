"""The database, SQLite or PostgreSQL: opening it, and transactions on it.

Everything here blocks. Commands use it directly; the server calls it only from threads, never from
its event loop. A `Store` may be shared by threads. Several processes may work on one store.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from zurelay.store.errors import BusyError, StoreError
from zurelay.store.migrate import migrate

FILE = "zurelay.db"
_BUSY_S = 10.0
_PAUSE_S = 0.01
_WRITES = "zurelay_writes"
_LOCKED = "55P03"  # PostgreSQL's lock_not_available
_ALONE = 0x7A75_0001
"""Number of the advisory lock that transactions which run alone take in PostgreSQL."""


class Store:
    """An open database whose tables are those of this release.

    Attributes:
        data: the data folder.
        url: `storage.url`; empty for SQLite. Another store opened with both is the same one.
        name: what to call it in messages; never its password.
        kind: which database it is.
    """

    def __init__(self, engine: Engine, data: Path, url: str, name: str) -> None:
        self.data = data
        self.url = url
        self.name = name
        self.kind: Literal["sqlite", "postgresql"] = "postgresql" if url else "sqlite"
        self._engine = engine
        self._closed = False
        event.listen(engine, "checkin", self._returned)
        of_readers: dict[str, Any] = {}
        if url:
            of_readers = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._reader = engine.execution_options(**of_readers)
        self._writer = engine.execution_options(**{_WRITES: True})

    @property
    def path(self) -> Path:
        """The file of SQLite; PostgreSQL has none."""
        return self.data / FILE

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads: one snapshot.

        Raises:
            StoreError: the database does not answer.
        """
        with told(self.name), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, alone: bool = True) -> Iterator[Connection]:
        """A transaction that commits at the end.

        Args:
            alone: no other such transaction of any process runs until this one ends, so that what
                it reads stays true. Otherwise PostgreSQL lets them run side by side, which suits
                statements that are right under READ COMMITTED and take rows in sorted order;
                SQLite always has one writer at a time.

        Raises:
            StoreError: the database does not answer, is full or cannot be written.
        """
        with told(self.name), self._writer.begin() as connection:
            if alone and self.url:
                connection.execute(_TAKE_ALONE)
            yield connection

    def session(self) -> Connection:
        """A connection of PostgreSQL outside any transaction, for what lasts as long as it does.

        Raises:
            StoreError: the database does not answer.
        """
        with told(self.name):
            return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def examine(self) -> tuple[int, str]:
        """Its size in bytes, and what is damaged, as far as the database can tell quickly.

        Raises:
            StoreError: the database does not answer.
        """
        with self.read() as connection:
            if self.url:
                size = connection.execute(text("SELECT pg_database_size(current_database())"))
                return int(size.scalar_one()), ""
            found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
        return self.path.stat().st_size, "" if found == "ok" else found

    def close(self) -> None:
        """Close every connection; one that a thread still uses, when it is done."""
        self._closed = True
        self._engine.dispose()

    def _returned(self, connection: Any, _record: object) -> None:
        if self._closed and connection is not None:
            connection.close()


_TAKE_ALONE = text(f"SELECT pg_advisory_xact_lock({_ALONE})")


def open_store(data: Path, url: str = "") -> Store:
    """Open the store, making data folder, file and tables where they lack.

    Args:
        data: the data folder, where SQLite keeps the store.
        url: `storage.url`: the address of a PostgreSQL database; empty for SQLite in `data`.

    Raises:
        StoreError: the folder or database cannot be used, or belongs to a newer release.
    """
    try:
        make_private_folder(data)
    except OSError as error:
        raise StoreError(f"{data / FILE}: {error.strerror or error}") from error
    if url:
        from zurelay.store.postgresql import postgresql_engine

        engine, name = postgresql_engine(url)
    else:
        engine, name = _sqlite_engine(data / FILE), str(data / FILE)
    store = Store(engine, data, url, name)
    try:
        with told(name):
            migrate(engine)
    except BaseException:
        store.close()
        raise
    return store


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter; one that exists is left as it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner can read; SQLite gives its -wal the same mode.

    One that is there is never opened here. To close it would drop the locks of all connections that
    this process has to it, as POSIX locks are the process's; then another process that closes its
    own connection takes itself for the last one and deletes the -wal from under this one.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


@contextmanager
def told(name: str) -> Iterator[None]:
    """Turn the driver's errors into one line that names the database; broken rules stay."""
    try:
        yield
    except IntegrityError:
        raise
    except DBAPIError as error:
        locked = getattr(error.orig, "sqlstate", None) == _LOCKED
        kind = BusyError if locked else StoreError
        raise kind(f"{name}: {_one_line(error.orig)}") from error
    except sqlite3.Error as error:
        raise StoreError(f"{name}: {error}") from error
    except PoolTimeoutError as error:
        raise StoreError(f"{name}: all connections are in use") from error


def _one_line(error: object) -> str:
    return "; ".join(line.strip() for line in str(error).split("\n") if line.strip())


def _sqlite_engine(path: Path) -> Engine:
    try:
        make_private_file(path)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _BUSY_S})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where _begin says so
    _write_ahead(connection)
    for pragma in (
        "synchronous = NORMAL",
        "foreign_keys = ON",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a new file to a write-ahead log; nothing to do for one that has it.

    SQLite does not wait for a lock here, as it does everywhere else: of processes that meet a new
    file at once all but one are told at once that it is locked.
    """
    patience = time.monotonic() + _BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _begin(connection: Connection) -> None:
    options: Any = connection.get_execution_options()
    connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get(_WRITES) else "BEGIN")
