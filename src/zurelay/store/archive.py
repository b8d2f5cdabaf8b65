"""Backups: one file that holds a whole store at one moment, and a store made from such a file.

The file is a SQLite database with this release's tables, whichever database it was made from, so
that a backup of either can be restored into either. Every function blocks.
"""

import dataclasses
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, text

from zurelay.access.keys import Key
from zurelay.store import schema
from zurelay.store.copying import (
    Progress,
    check,
    copy_rows,
    filled,
    in_use,
    quiet,
    tables,
    void_leases,
)
from zurelay.store.counters import ACCESS, raise_counter, read_counter, set_counter
from zurelay.store.engine import FILE, Store, make_private_folder, open_store
from zurelay.store.errors import StoreError
from zurelay.store.keys import list_keys
from zurelay.store.migrate import OLDEST_COUNTER
from zurelay.store.outbox import give_up_all

GENERATION = "generation"
"""The counter that rises with every restore: what nodes remember from before counts no more."""

_SENT_PERHAPS = "the store was restored; it may have been sent since the backup was made"

MADE = "backup"
"""The counter of a backup that says when it was made, in Unix seconds."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """What a restore undid of a key, so that an operator can do it again.

    Attributes:
        id, name: of the key.
        what: `made since`, `revoked since` or `changed since`.
    """

    id: str
    name: str
    what: str


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did.

    Attributes:
        made: when the backup was made, in Unix seconds; 0 if it does not say.
        changes: of keys since then, as far as the store still told; None if it could not be read.
        kept: where the SQLite file that was in use until now is kept.
    """

    made: int
    changes: list[KeyChange] | None
    kept: Path | None


def generation(store: Store) -> int:
    """How often the database was restored.

    Raises:
        StoreError: it does not answer.
    """
    with store.read() as connection:
        return read_counter(connection, GENERATION)


def backup(store: Store, file: Path, now: float, progress: Progress = quiet) -> int:
    """Write a backup while the store is in use; gives its size in bytes.

    Args:
        store: what to back up.
        file: the backup, which must not exist; only its owner can read it.
        now: Unix time, written into it.
        progress: told how far it is.

    Raises:
        StoreError: the file exists or cannot be written, or the store does not answer.
    """
    if file.exists():
        raise StoreError(f"{file} exists; name another file")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{file.name}-", dir=file.parent) as folder:
            made = Path(folder) / FILE
            if store.kind == "sqlite":
                _copy_file(store.path, made)
            with closing(open_store(made.parent)) as target:
                if store.kind == "postgresql":
                    _copy_store(store, target, progress)
                with target.write() as connection:
                    set_counter(connection, MADE, int(now))
            _settle(made)
            made.replace(file)
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror or error}") from error
    return file.stat().st_size


def restore(
    data: Path, url: str, file: Path, *, replace: bool = False, progress: Progress = quiet
) -> Restored:
    """Make the store what it was when a backup was made. No server may use it meanwhile.

    Args:
        data: the data folder, locked by the caller.
        url: `storage.url`.
        file: the backup.
        replace: whether a store that holds something may be replaced.
        progress: told how far it is.

    Raises:
        StoreError: the file is no backup, a server works on the store, it holds something and
            `replace` is not given, or not all arrived as it was.
    """
    with _opened(file) as archive:
        made = _made(archive)
        if url:
            return _restore_rows(archive, data, url, made, replace=replace, progress=progress)
        return _restore_file(archive, data, made, replace=replace)


def _restore_rows(
    archive: Store, data: Path, url: str, made: int, *, replace: bool, progress: Progress
) -> Restored:
    with (
        closing(open_store(data, url)) as target,
        archive.read() as reading,
        target.write() as writing,
    ):
        if in_use(writing):
            raise StoreError(f"{target.name} is in use; stop every gateway and command on it")
        _may_replace(writing, target.name, replace=replace)
        changes = _changes(list_keys(writing), list_keys(reading))
        newest = {name: read_counter(writing, name) for name in (ACCESS, GENERATION)}
        emptied = ", ".join(table.name for table in tables() if table is not schema.meta)
        writing.execute(text(f"TRUNCATE {emptied}"))
        writing.execute(schema.meta.delete().where(schema.meta.c.name != OLDEST_COUNTER))
        read = copy_rows(reading, writing, progress)
        check(writing, read)
        _begin_anew(writing, newest)
    return Restored(made, changes, None)


def _restore_file(archive: Store, data: Path, made: int, *, replace: bool) -> Restored:
    path, kept = data / FILE, data / f"{FILE}.before-restore"
    make_private_folder(data)
    changes: list[KeyChange] | None = []
    newest = {ACCESS: 0, GENERATION: 0}
    if path.exists():
        try:
            with closing(open_store(data)) as old, old.read() as connection, archive.read() as past:
                _may_replace(connection, str(path), replace=replace)
                changes = _changes(list_keys(connection), list_keys(past))
                newest = {name: read_counter(connection, name) for name in newest}
        except StoreError:
            if not replace:
                raise
            changes = None  # it is damaged, which may be why
    new = data / f"{FILE}.restoring"
    new.unlink(missing_ok=True)
    _copy_file(archive.path, new)
    for ending in ("", "-wal", "-shm"):
        part = Path(f"{path}{ending}")
        if part.exists():
            part.replace(f"{kept}{ending}")
    new.replace(path)
    with closing(open_store(data)) as store, store.write() as connection:
        _begin_anew(connection, newest)
    return Restored(made, changes, kept if kept.exists() else None)


def _may_replace(connection: Connection, name: str, *, replace: bool) -> None:
    if not replace and filled(connection):
        raise StoreError(f"{name} is not empty; say that it may be replaced")


def _begin_anew(connection: Connection, newest: dict[str, int]) -> None:
    """Nothing that a node remembers of the store from before may count."""
    void_leases(connection)
    give_up_all(connection, _SENT_PERHAPS)
    connection.execute(schema.meta.delete().where(schema.meta.c.name == MADE))
    for name, value in newest.items():
        set_counter(connection, name, value)
        raise_counter(connection, name)


def _changes(present: list[Key], past: list[Key]) -> list[KeyChange]:
    """What became of keys since the backup."""
    known = {key.id: key for key in past}
    found = []
    for key in present:
        before = known.get(key.id)
        if before is None:
            found.append(KeyChange(key.id, key.name, "made since"))
        elif key.revoked is not None and before.revoked is None:
            found.append(KeyChange(key.id, key.name, "revoked since"))
        elif _terms(key) != _terms(before):
            found.append(KeyChange(key.id, key.name, "changed since"))
    return found


def _terms(key: Key) -> Key:
    """All of a key but when it was last used."""
    return dataclasses.replace(key, last_used=None)


@contextmanager
def _opened(file: Path) -> Iterator[Store]:
    """A backup as a store, brought to this release's tables in a copy of its own."""
    if not file.is_file():
        raise StoreError(f"{file}: there is no such file")
    with tempfile.TemporaryDirectory(prefix="zurelay-restore-", dir=file.parent) as folder:
        copy = Path(folder) / FILE
        try:
            shutil.copyfile(file, copy)
            with closing(sqlite3.connect(copy)) as connection:
                sound = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        except sqlite3.Error as error:
            raise StoreError(f"{file} is no backup: {error}") from error
        if sound != "ok" or not {"alembic_version", "meta", "api_key"} <= names:
            raise StoreError(f"{file} is no backup, or a damaged one")
        with closing(open_store(copy.parent)) as store:
            yield store


def _made(archive: Store) -> int:
    with archive.read() as connection:
        return read_counter(connection, MADE)


def _copy_store(source: Store, target: Store, progress: Progress) -> None:
    with source.read() as reading, target.write() as writing:
        read = copy_rows(reading, writing, progress)
        check(writing, read)


def _copy_file(source: Path, target: Path) -> None:
    """A copy of a SQLite file that may be in use, of one moment."""
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        with closing(sqlite3.connect(source, isolation_level=None)) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise StoreError(f"{source}: {error}") from error
    _settle(target)


def _settle(file: Path) -> None:
    """Have the file on the disk."""
    opened = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
