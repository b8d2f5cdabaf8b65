"""Bringing a database to this release's tables.

Alembic is imported only when there is something to do, so that commands start fast.

Nodes of the last release go on while a new one changes the tables: a migration only adds (columns
that may be null, tables, indexes), and what is left over goes two releases later. `OLDEST` says
which releases can work on these tables; a release that is older than that refuses to start.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from zurelay.store.counters import read_counter, set_counter
from zurelay.store.errors import StoreError
from zurelay.store.partitions import make_days

HEAD = "0014"
"""The newest revision in `migrations/versions`; a test holds both together."""

OLDEST = "0007"
"""The oldest `HEAD` of a release that can work on this release's tables."""

OLDEST_COUNTER = "oldest"
"""The counter that keeps it."""

_LOCK = 0x7A75_0002
_LOCK_TIMEOUT = "2s"
_TRIES = 60
_PAUSE_S = 1.0
_LOCKED = "55P03"  # lock_not_available

_SCRIPTS = Path(__file__).parent / "migrations"


def migrate(engine: Engine) -> None:
    """Upgrade to `HEAD` in one transaction; at once when it is there already.

    A SQLite file that holds something is copied first, beside it.

    Raises:
        StoreError: a newer release changed it so that this one cannot work on it, or PostgreSQL
            never gave the locks that a change needs.
    """
    with engine.connect() as connection:
        found = revision(connection)
        if _fits(connection, found):
            return
    if engine.dialect.name == "postgresql":
        _migrate_beside_others(engine)
        return
    with _copied(engine) if found is not None else nullcontext():
        writer = engine.execution_options(zurelay_writes=True)
        with writer.begin() as connection:
            # Another process may have done it while this one waited for the lock.
            if not _fits(connection, revision(connection)):
                _upgrade(connection)


def revision(connection: Connection) -> str | None:
    """The revision the database is at; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def _fits(connection: Connection, found: str | None) -> bool:
    """Whether this release can work on the tables as they are.

    Raises:
        StoreError: it never can.
    """
    if found is None or found < HEAD:
        return False
    if found > HEAD and read_counter(connection, OLDEST_COUNTER) > int(HEAD):
        raise StoreError(
            f"the database is at revision {found}, made by a release too new for this one, which"
            f" knows {HEAD}; upgrade Zurelay"
        )
    return True


def _migrate_beside_others(engine: Engine) -> None:
    """Upgrade while other nodes work.

    One at a time, and never waiting long for a table's lock: their requests would queue behind it.
    """
    for left in reversed(range(_TRIES)):
        try:
            with engine.begin() as connection:
                connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'"))
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                if not _fits(connection, revision(connection)):
                    _upgrade(connection)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) != _LOCKED or not left:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


@contextmanager
def _copied(engine: Engine) -> Iterator[None]:
    """Copy SQLite's file to `zurelay.db.before-REVISION`, for an upgrade by this process alone."""
    copy = Path(f"{engine.url.database}.before-{HEAD}")
    try:
        # Made here, because SQLite would let everyone read it; it takes a file that is empty.
        made = os.open(copy, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"{copy}: {error.strerror or error}") from error
    try:
        fcntl.flock(made, fcntl.LOCK_EX)
        with engine.connect() as connection:
            if not _fits(connection, revision(connection)):
                os.ftruncate(made, 0)
                connection.exec_driver_sql("ROLLBACK")  # it runs in no transaction
                connection.exec_driver_sql("VACUUM INTO ?", (str(copy),))
                connection.exec_driver_sql("BEGIN")
        os.fsync(made)
        yield
    finally:
        os.close(made)


def _upgrade(connection: Connection, to: str = "head") -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, to)
    if connection.dialect.name == "postgresql":
        make_days(connection, time.time())
    set_counter(connection, OLDEST_COUNTER, int(OLDEST))
