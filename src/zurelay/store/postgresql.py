"""Connections to PostgreSQL.

The address goes to libpq as it is, so all that its URLs can say is understood: several hosts,
`sslmode`, a socket's folder, a password file.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Engine, create_engine

from zurelay.store.errors import StoreError

SCHEMES = ("postgresql://", "postgres://")

_CONNECTIONS = 5
_MORE_CONNECTIONS = 10
_WAIT_S = 5.0
_DEFAULTS = {
    "application_name": "zurelay",
    "connect_timeout": "5",
    # After a failover the old primary may still answer, and only read.
    "target_session_attrs": "read-write",
    # A database behind a dead link is given up after this, not after a quarter of an hour.
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
_SESSION = {
    "lock_timeout": "10s",
    "statement_timeout": "60s",
    "idle_in_transaction_session_timeout": "60s",
    "timezone": "UTC",
}


def postgresql_engine(url: str) -> tuple[Engine, str]:
    """A pool of connections, and what to call the database in messages.

    Args:
        url: as libpq reads it.

    Raises:
        StoreError: it is no such address, the database does not answer, or it does not keep what
            it has confirmed.
    """
    parts = _read(url)
    name = _name(parts)
    password = str(parts.get("password") or "")

    def connect() -> psycopg.Connection[Any]:
        try:
            return _connect(parts)
        except psycopg.Error as error:
            # libpq does not tell the password; a part of one that was not encoded might be there.
            raise type(error)(_without(password, str(error))) from None

    engine = create_engine(
        "postgresql+psycopg://",
        creator=connect,
        pool_size=_CONNECTIONS,
        max_overflow=_MORE_CONNECTIONS,
        pool_timeout=_WAIT_S,
        pool_pre_ping=True,
    )
    return engine, name


def _read(url: str) -> Mapping[str, Any]:
    with suppress(psycopg.Error):  # it quotes pieces of what may be the password
        if url.startswith(SCHEMES):
            return {**_DEFAULTS, **conninfo_to_dict(url)}
    raise StoreError(
        "storage.url is no address of a database, such as"
        " postgresql://USER:PASSWORD@HOST/DATABASE; encode @ : / ? # % in the password as %40"
        " %3A %2F %3F %23 %25"
    )


def _connect(parts: Mapping[str, Any]) -> psycopg.Connection[Any]:
    connection = psycopg.connect(**parts)
    try:
        _set_up(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: psycopg.Connection[Any]) -> None:
    settings = ", ".join(f"set_config('{k}', '{v}', false)" for k, v in _SESSION.items())
    cursor = connection.execute(
        f"SELECT current_setting('synchronous_commit'), {settings}".encode()
    )
    if cursor.fetchall()[0][0] == "off":
        raise psycopg.OperationalError(
            "synchronous_commit is off, so a crash would lose settled charges; set it to on"
        )
    connection.commit()


def _name(parts: Mapping[str, Any]) -> str:
    host = str(parts.get("host") or "localhost")
    port = str(parts.get("port") or "")
    at = f"{host}:{port}" if port else host
    return f"PostgreSQL database {parts.get('dbname') or parts.get('user') or ''!s} at {at}"


def _without(password: str, told: str) -> str:
    return told.replace(password, "***") if password else told
