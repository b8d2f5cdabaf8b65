"""Personal data in the request log and beside it: found, and taken out so that amounts stay.

What goes of a log entry: the caller's `user`, metadata, safety identifier, address, user agent and
own request id, and the providers' own words, which may repeat a prompt.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, Select, bindparam, delete, func, select, text, update

from zurelay.meter.record import RequestRecord
from zurelay.store import schema
from zurelay.store.counters import ACCESS, raise_counter
from zurelay.store.engine import Store
from zurelay.store.paging import Mark, oldest_first
from zurelay.store.people import Person

_TABLE = schema.request
_decode = msgspec.json.Decoder(RequestRecord).decode


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose data: an account's, an end user's in all accounts, or an end user's in one."""

    account: str | None
    user: str | None


def entries_of(
    connection: Connection, subject: Subject, after: Mark | None, limit: int
) -> list[RequestRecord]:
    """Log entries of a subject, oldest first."""
    query = oldest_first(_of(subject), _TABLE.c.at_ms, _TABLE.c.id, after).limit(limit)
    return [_decode(row.record) for row in connection.execute(query)]


def erase_entries(connection: Connection, records: Sequence[RequestRecord]) -> int:
    """Take personal data out of log entries; returns how many had any."""
    changed = []
    for record in records:
        bare = _bare(record)
        if bare != record:
            changed.append((record, msgspec.json.encode(bare).decode()))
    if changed:
        connection.execute(
            update(_TABLE)
            .where(_TABLE.c.at_ms == bindparam("at"), _TABLE.c.id == bindparam("which"))
            .values(record=bindparam("bare"), end_user=None),
            [
                {"at": int(record.id[4:16], 16), "which": record.id, "bare": bare}
                for record, bare in changed
            ],
        )
    return len(changed)


def erase_members(connection: Connection, account: str, now: float) -> int:
    """Forget who an account's members are; returns how many.

    Those who are members of no other account cannot sign in any more: nothing is left of them.
    """
    table = schema.member
    _forget(connection, addresses_of(connection, account))
    unknown = text("'erased:' || id")
    statement = (
        update(table)
        .where(table.c.account == account, ~table.c.email.startswith("erased:"))
        .values(email=unknown, name="", removed=func.coalesce(table.c.removed, int(now)))
    )
    return connection.execute(statement).rowcount


def addresses_of(connection: Connection, account: str) -> list[str]:
    """Addresses of an account's members, of those who belong to no other one now."""
    table = schema.member
    elsewhere = select(table.c.email).where(table.c.account != account, table.c.removed.is_(None))
    query = select(table.c.email).where(
        table.c.account == account,
        ~table.c.email.startswith("erased:"),
        table.c.email.not_in(elsewhere),
    )
    return list(connection.execute(query.order_by(table.c.email)).scalars())


def people_of(connection: Connection, account: str) -> list[Person]:
    """Who may sign in and is, or was, a member of an account."""
    people, members = schema.person, schema.member
    emails = select(members.c.email).where(members.c.account == account)
    query = select(people).where(people.c.email.in_(emails)).order_by(people.c.id)
    return [Person(**row) for row in connection.execute(query).mappings()]


def erase_names(connection: Connection, account: str, now: float) -> int:
    """Take the names off an account's dead keys, its transfers' notes and its audit lines.

    Returns how many keys lost theirs. Keys that work keep it: revoke them first.
    """
    keys, transfers = schema.key, schema.transfer
    dead = keys.c.revoked.is_not(None) | (keys.c.expires <= int(now))
    named = (keys.c.account == account) & dead & (keys.c.name != keys.c.id)
    count = connection.execute(update(keys).where(named).values(name=keys.c.id)).rowcount
    if count:
        raise_counter(connection, ACCESS)
    connection.execute(update(transfers).where(transfers.c.account == account).values(note=""))
    _erase_details(connection, account)
    return count


def nodes_at_work(connection: Connection, now: float) -> tuple[int, int]:
    """How many nodes were heard of in the last 15 s, and how many entries all still deliver."""
    table = schema.node
    alive = select(func.count()).where(table.c.seen > int(now) - 15)
    waiting = select(func.coalesce(func.sum(table.c.spool), 0))
    return (
        int(connection.execute(alive).scalar_one()),
        int(connection.execute(waiting).scalar_one()),
    )


def overwrite_erased(connection: Connection) -> None:
    """Let SQLite overwrite with zeros what this connection changes or deletes."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")


def empty_log_of_writes(store: Store) -> None:
    """Bring SQLite's write-ahead log, where old pages still stand, into the file and cut it off."""
    if store.kind != "sqlite":
        return
    connection = sqlite3.connect(store.path, timeout=5, isolation_level=None)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _forget(connection: Connection, emails: Sequence[str]) -> None:
    people, sessions, links = schema.person, schema.console_session, schema.console_link
    for email in emails:
        ids = select(people.c.id).where(people.c.email == email)
        connection.execute(delete(sessions).where(sessions.c.person.in_(ids)))
        connection.execute(delete(links).where(links.c.email == email))
        connection.execute(delete(people).where(people.c.email == email))


def _of(subject: Subject) -> "Select[tuple[str]]":
    query = select(_TABLE.c.record)
    if subject.account is not None:
        query = query.where(_TABLE.c.account == subject.account)
    if subject.user is not None:
        query = query.where(_TABLE.c.end_user == subject.user)
    return query


def _bare(record: RequestRecord) -> RequestRecord:
    return msgspec.structs.replace(
        record,
        user=None,
        metadata=None,
        safety_identifier=None,
        client=None,
        client_request_id=None,
        address=None,
        attempts=[msgspec.structs.replace(one, detail=None) for one in record.attempts],
    )


def _erase_details(connection: Connection, account: str) -> None:
    table = schema.audit
    found = connection.execute(select(table.c.id, table.c.detail).where(table.c.account == account))
    changed = []
    for id_, detail in found:
        value = msgspec.json.decode(detail)
        bare = {name: item for name, item in value.items() if name not in ("name", "note")}
        if bare != value:
            changed.append({"which": id_, "bare": msgspec.json.encode(bare).decode()})
    if changed:
        connection.execute(
            update(table).where(table.c.id == bindparam("which")).values(detail=bindparam("bare")),
            changed,
        )
