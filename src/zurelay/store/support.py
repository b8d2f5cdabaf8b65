"""Questions of members and their answers: threads of messages, and what each side has read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from zurelay.store import schema
from zurelay.store.paging import Mark, newest_first

_THREADS = schema.support_thread
_MESSAGES = schema.support_message


@dataclass(frozen=True, slots=True)
class Thread:
    """A question. Times in Unix milliseconds, but `closed`, in seconds.

    Attributes:
        id: `thr_...`.
        request: id of the log entry it is about.
        asked_ms: when a member last wrote, 0 for never; `answered_ms` when an operator did.
        members_read_ms: when a member last looked; `operators_read_ms` an operator.
    """

    id: str
    account: str
    subject: str
    request: str | None
    created_ms: int
    changed_ms: int
    asked_ms: int = 0
    answered_ms: int = 0
    members_read_ms: int = 0
    operators_read_ms: int = 0
    closed: int | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody wrote: `author` as the audit log names them, `name` for people."""

    id: str
    thread: str
    at_ms: int
    author: str
    name: str
    operator: bool
    body: str


def add_thread(connection: Connection, thread: Thread) -> None:
    """Write a new thread."""
    names = [column.name for column in _THREADS.columns]
    connection.execute(insert(_THREADS).values({name: getattr(thread, name) for name in names}))


def add_message(connection: Connection, message: Message) -> None:
    """Write a message; its thread is opened again, and read by whoever wrote."""
    names = [column.name for column in _MESSAGES.columns]
    connection.execute(insert(_MESSAGES).values({name: getattr(message, name) for name in names}))
    wrote, read = (
        ("answered_ms", "operators_read_ms")
        if message.operator
        else (
            "asked_ms",
            "members_read_ms",
        )
    )
    now = message.at_ms
    change_thread(
        connection, message.thread, {"changed_ms": now, wrote: now, read: now, "closed": None}
    )


def change_thread(connection: Connection, id_: str, columns: Mapping[str, Any]) -> None:
    """Set columns of a thread."""
    connection.execute(update(_THREADS).where(_THREADS.c.id == id_).values(**columns))


def find_thread(connection: Connection, id_: str) -> Thread | None:
    """The thread with that id."""
    row = connection.execute(select(_THREADS).where(_THREADS.c.id == id_)).mappings().first()
    return None if row is None else Thread(**row)


def list_threads(
    connection: Connection, account: str | None, after: Mark | None, limit: int
) -> list[Thread]:
    """Threads of an account, or of all, those changed last first."""
    query = select(_THREADS)
    if account is not None:
        query = query.where(_THREADS.c.account == account)
    query = newest_first(query, _THREADS.c.changed_ms, _THREADS.c.id, after).limit(limit)
    return [Thread(**row) for row in connection.execute(query).mappings()]


def count_open(connection: Connection, account: str) -> int:
    """How many of an account's threads are open."""
    query = select(func.count()).where(_THREADS.c.account == account, _THREADS.c.closed.is_(None))
    return int(connection.execute(query).scalar_one())


def count_unread(connection: Connection, account: str | None, newest: int) -> int:
    """How many threads have what the other side has not read: members, or operators for None.

    Whatever is written moves its thread up, so only the `newest` ones are looked at.
    """
    wrote, read = _THREADS.c.answered_ms, _THREADS.c.members_read_ms
    if account is None:
        wrote, read = _THREADS.c.asked_ms, _THREADS.c.operators_read_ms
    query = select(wrote.label("wrote"), read.label("read"))
    if account is not None:
        query = query.where(_THREADS.c.account == account)
    last = query.order_by(_THREADS.c.changed_ms.desc()).limit(newest).subquery()
    counted = select(func.count()).select_from(last).where(last.c.wrote > last.c.read)
    return int(connection.execute(counted).scalar_one())


def messages_of(connection: Connection, thread: str) -> list[Message]:
    """A thread's messages, oldest first."""
    query = select(_MESSAGES).where(_MESSAGES.c.thread == thread)
    query = query.order_by(_MESSAGES.c.at_ms, _MESSAGES.c.id)
    return [Message(**row) for row in connection.execute(query).mappings()]


def erase_support(connection: Connection, account: str) -> None:
    """Delete everything that was written about an account."""
    mine = select(_THREADS.c.id).where(_THREADS.c.account == account)
    connection.execute(delete(_MESSAGES).where(_MESSAGES.c.thread.in_(mine)))
    connection.execute(delete(_THREADS).where(_THREADS.c.account == account))
