"""Messages of keys that have them stored: rows whose text only the operator's key opens.

Every function but those of `StoredContents` works inside of a transaction of its caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, delete, func, select, update

from zurelay.meter.content import DAY_S, Content, Stored
from zurelay.store import schema
from zurelay.store.engine import Store
from zurelay.store.personal import Subject
from zurelay.store.requests import first_id
from zurelay.store.sealing import Sealer
from zurelay.store.upsert import RowsInsert

_TABLE = schema.content
_USER_LENGTH = 256
_INSERT = RowsInsert(_TABLE, "(request) DO NOTHING")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Content).decode


@dataclass(frozen=True, slots=True)
class SealedContent:
    """A row. `expires` in Unix seconds."""

    request: str
    account: str
    key: str
    expires: int
    sealed: bytes

    def opened(self, sealer: Sealer) -> Content:
        """What is in it. Raises UnreadableError."""
        return _decode(sealer.open(self.request, self.sealed))


class StoredContents:
    """Where messages end up; as `live.ports.ContentStore`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.sealer: Sealer | None = None

    def seal(self, stored: Stored) -> bytes:
        """Its content as it is written. Raises LookupError without a key to do it with."""
        if self.sealer is None:
            raise LookupError("there is no key to encrypt messages with")
        return self.sealer.seal(stored.request, _encode(stored.content))

    def add(self, rows: Sequence[tuple[Stored, bytes]]) -> None:
        """Write rows; those of requests that have one are left out."""
        with self._store.write(alone=False) as connection:
            add_contents(connection, rows)


def add_contents(connection: Connection, rows: Sequence[tuple[Stored, bytes]]) -> None:
    """Write sealed contents; those of requests that have one are left out."""
    _INSERT.run(
        connection,
        [
            (
                one.request,
                int(one.at * 1000),
                one.account,
                one.key,
                None if one.user is None else one.user[:_USER_LENGTH].replace("\0", ""),
                one.expires,
                sealed,
            )
            for one, sealed in rows
        ],
    )


def find_content(connection: Connection, request: str) -> SealedContent | None:
    """What is stored of a request."""
    row = connection.execute(_rows().where(_TABLE.c.request == request)).first()
    return None if row is None else _of_row(row)


def contents_of(
    connection: Connection, subject: Subject, after: str | None, limit: int
) -> list[SealedContent]:
    """What is stored of a subject, by request id."""
    query = _of(_rows(), subject).order_by(_TABLE.c.request).limit(limit)
    if after is not None:
        query = query.where(_TABLE.c.request > after)
    return [_of_row(row) for row in connection.execute(query)]


def oldest_and_newest(connection: Connection) -> list[SealedContent]:
    """The first and the last row, by request id; none if there are none."""
    ends = (_TABLE.c.request.asc(), _TABLE.c.request.desc())
    rows = [connection.execute(_rows().order_by(end).limit(1)).first() for end in ends]
    return [_of_row(row) for row in rows if row is not None]


def erase_contents(connection: Connection, subject: Subject) -> int:
    """Delete what is stored of a subject; returns of how many requests."""
    return connection.execute(_of(delete(_TABLE), subject)).rowcount


def erase_contents_of_key(connection: Connection, key: str) -> int:
    """Delete what is stored of a key's requests; returns of how many."""
    return connection.execute(delete(_TABLE).where(_TABLE.c.api_key == key)).rowcount


def count_contents(connection: Connection, key: str, now: float) -> int:
    """Of how many requests of a key something is stored."""
    counted = select(func.count()).where(_TABLE.c.api_key == key, _TABLE.c.expires > int(now))
    return int(connection.execute(counted).scalar_one())


def shorten(connection: Connection, key: str, days: int) -> None:
    """Let what is stored of a key expire after so many days, where it would later."""
    sooner = _TABLE.c.at_ms // 1000 + days * DAY_S
    connection.execute(
        update(_TABLE)
        .where(_TABLE.c.api_key == key, _TABLE.c.expires > sooner)
        .values(expires=sooner)
    )


def delete_expired(
    connection: Connection, now: float, made_before: float | None, limit: int
) -> int:
    """Delete some rows that are over, or were made before that Unix time; returns how many."""
    over = _TABLE.c.expires <= int(now)
    if made_before is not None:
        over |= _TABLE.c.request < first_id(made_before)  # by an index, unlike its time
    some = select(_TABLE.c.request).where(over).limit(limit)
    return connection.execute(delete(_TABLE).where(_TABLE.c.request.in_(some))).rowcount


def _rows() -> "Select[Any]":
    names = ("request", "account", "api_key", "expires", "sealed")
    return select(*(_TABLE.c[name] for name in names))


def _of_row(row: Any) -> SealedContent:
    request, account, key, expires, sealed = row
    return SealedContent(request, account, key, expires, bytes(sealed))


def _of(query: Any, subject: Subject) -> Any:
    if subject.account is not None:
        query = query.where(_TABLE.c.account == subject.account)
    if subject.user is not None:
        query = query.where(_TABLE.c.end_user == subject.user)
    return query
