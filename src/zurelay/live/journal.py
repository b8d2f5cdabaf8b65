"""The journal: settled requests, durable within microseconds, until the log has them.

One row of `journal.db` per group of requests that were settled in one turn of the loop. It is a
file of its own because SQLite lets one writer at a time into a file: the slow writes into the log
never hold up an answer. Nothing here knows money or the log.

A group survives the end of the process in any form; with `power_safe` also that of the machine.
Beside the groups it remembers requests under way, so that those whose process was killed are known.
"""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from zurelay.meter.record import INTERRUPTED, RequestRecord

FILE = "journal.db"
BALLAST = "journal.ballast"

_decode = msgspec.json.Decoder(list[RequestRecord]).decode
_decode_one = msgspec.json.Decoder(RequestRecord).decode
_encode = msgspec.json.Encoder().encode
_SCHEMA = """
CREATE TABLE IF NOT EXISTS journal (id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS entry (seq INTEGER PRIMARY KEY, records BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS open (id TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
"""
_LAST = 2**62
_BUSY_S = 5.0
_CHECKPOINT_PAGES = 1000
_RESTART_PAGES = 8000


class JournalError(Exception):
    """The journal cannot be opened, read or written; one line for an operator."""


class Journal:
    """An open journal. `append` belongs to one thread, `read` and `checkpoint` to one other.

    Attributes:
        id: made with the file; marks in the log speak of this journal and no other.
    """

    def __init__(self, folder: Path, *, power_safe: bool = False, ballast_mb: int = 64) -> None:
        """Open `journal.db` in a folder, making it where it lacks.

        Args:
            folder: must exist.
            power_safe: wait for the disk at every group.
            ballast_mb: size of a file that is given up when the disk is full, so that requests
                under way can still be settled; 0 for none.

        Raises:
            JournalError: it cannot be used.
        """
        self.path = folder / FILE
        self._ballast = folder / BALLAST
        self._ballast_bytes = ballast_mb * 2**20
        self._pages = 0
        self._forgotten = 0
        try:
            # Never an existing file: closing it would drop the locks that SQLite holds on it here.
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            self._write = self._connect()
            self._write.execute(f"PRAGMA synchronous = {'FULL' if power_safe else 'NORMAL'}")
            self._write.executescript(_SCHEMA)
            self.id = self._own_id()
            self._read = self._connect()
            self._next = self._last() + 1
        except (sqlite3.Error, OSError) as error:
            raise JournalError(f"{self.path}: {error}") from error
        self.restore_ballast()

    def continue_after(self, seq: int) -> None:
        """Number the next group above `seq`, which the log knows."""
        self._next = max(self._next, seq + 1)

    def append(self, records: Sequence[bytes], applied: int) -> int:
        """Make a group durable, and forget those the log has, up to number `applied`.

        Args:
            records: the JSON of each.
            applied: number of the last group in the log.

        Returns:
            The group's number.

        Raises:
            JournalError: nothing was written.
        """
        blob = b"[" + b",".join(records) + b"]"
        try:
            return self._append(blob, applied)
        except sqlite3.Error as error:
            if not (_no_room(error) and self._drop_ballast()):
                raise JournalError(f"{self.path}: {error}") from error
        try:
            return self._append(blob, applied)
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {error}") from error

    def groups(self, after: int, upto: int = _LAST) -> Iterator[tuple[int, list[RequestRecord]]]:
        """Groups numbered above `after`, up to and with `upto`, in order.

        Raises:
            JournalError: the file is damaged.
        """
        try:
            rows = self._read.execute(
                "SELECT seq, records FROM entry WHERE seq > ? AND seq <= ? ORDER BY seq",
                (after, upto),
            )
            for seq, blob in rows:
                yield seq, _decode(blob)
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            raise JournalError(f"{self.path}: {error}") from error

    def mark(self, begun: Sequence[tuple[str, bytes]], over: Sequence[str]) -> None:
        """Remember requests under way, and forget those that are over.

        Args:
            begun: id and JSON of each.
            over: ids.

        Raises:
            JournalError: nothing was written.
        """
        try:
            with self._transaction() as execute:
                for pair in begun:
                    execute("INSERT OR REPLACE INTO open (id, record) VALUES (?, ?)", pair)
                for id_ in over:
                    execute("DELETE FROM open WHERE id = ?", (id_,))
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {error}") from error
        self._pages += len(begun)

    def interrupt(self) -> int:
        """Make a group of the requests that an earlier process left under way; gives how many.

        They cost nothing. Those that were settled all the same are in the log, or in a group
        before, and count as they were settled. For the start, after `continue_after`.

        Raises:
            JournalError: the file is damaged, or nothing was written.
        """
        try:
            left = [_decode_one(text) for (text,) in self._read.execute("SELECT record FROM open")]
            if not left:
                return 0
            records = [replace(one, status=INTERRUPTED, repeat=None, postings={}) for one in left]
            with self._transaction() as execute:
                execute(
                    "INSERT INTO entry (seq, records) VALUES (?, ?)", (self._next, _encode(records))
                )
                execute("DELETE FROM open")
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            raise JournalError(f"{self.path}: {error}") from error
        self._next += 1
        return len(records)

    def checkpoint(self) -> None:
        """Move what was appended from the write-ahead file into `journal.db`, if it is enough.

        For the reading thread, so that no answer waits for the disk. Under steady load the
        write-ahead file never starts anew by itself; once it is large, appending waits for the
        moment that takes.
        """
        if self._pages < _CHECKPOINT_PAGES:
            return
        self._pages = 0
        try:
            _, pages, _ = self._read.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if pages > _RESTART_PAGES:
                self._read.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {error}") from error

    def restore_ballast(self) -> None:
        """Set the ballast aside again, if the disk has room for it."""
        if not self._ballast_bytes:
            return
        try:
            file = os.open(self._ballast, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(file, 0, self._ballast_bytes)
            finally:
                os.close(file)
        except OSError:
            self._ballast.unlink(missing_ok=True)  # a part of it would help nobody

    def close(self) -> None:
        """Close the file."""
        self._read.close()
        self._write.close()

    def _append(self, blob: bytes, applied: int) -> int:
        seq = self._next
        execute = self._write.execute
        if applied <= self._forgotten:
            execute("INSERT INTO entry (seq, records) VALUES (?, ?)", (seq, blob))
        else:
            with self._transaction():
                execute("INSERT INTO entry (seq, records) VALUES (?, ?)", (seq, blob))
                execute("DELETE FROM entry WHERE seq <= ?", (applied,))
            self._forgotten = applied
        self._next = seq + 1
        self._pages += 3 + len(blob) // 4096
        return seq

    @contextmanager
    def _transaction(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        execute = self._write.execute
        execute("BEGIN IMMEDIATE")
        try:
            yield execute
            execute("COMMIT")
        except sqlite3.Error:
            if self._write.in_transaction:
                execute("ROLLBACK")
            raise

    def _drop_ballast(self) -> bool:
        """Give up the ballast; whether there was one."""
        try:
            self._ballast.unlink()
        except OSError:
            return False
        return True

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA journal_size_limit = {_RESTART_PAGES * 4096}")
        return connection

    def _own_id(self) -> str:
        row = self._write.execute("SELECT id FROM journal").fetchone()
        if row is not None:
            return str(row[0])
        own = secrets.token_hex(8)
        self._write.execute("INSERT INTO journal (id) VALUES (?)", (own,))
        return own

    def _last(self) -> int:
        return int(self._write.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0])


def waiting(folder: Path, applied: Callable[[str], int]) -> tuple[int, float | None]:
    """What a folder's journal holds that the log lacks, looked at beside the process that owns it.

    Args:
        folder: a data folder.
        applied: tells of a journal's id the number of the last group that the log has.

    Returns:
        How many requests, and the Unix time the oldest of them began; 0 and None without a journal.

    Raises:
        JournalError: the file cannot be read.
    """
    path = folder / FILE
    if not path.exists():
        return 0, None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
            (id_,) = found.execute("SELECT id FROM journal").fetchone()
            rows = found.execute("SELECT records FROM entry WHERE seq > ?", (applied(id_),))
            created = [record.created for (blob,) in rows for record in _decode(blob)]
    except (sqlite3.Error, msgspec.MsgspecError, TypeError) as error:
        raise JournalError(f"{path}: {error}") from error
    return len(created), min(created, default=None)


def _no_room(error: sqlite3.Error) -> bool:
    """Whether the disk may be full: some file systems tell it as an error of the device."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
