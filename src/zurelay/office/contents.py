"""Messages of keys that have them stored: who may read them, what is told where there are none.

Whoever runs the gateway reads what belongs to others: each time stands in the audit log.
"""

from typing import Literal

from msgspec import Struct
from sqlalchemy import Connection

from zurelay.formats.transcript import Turn, conversation
from zurelay.meter.content import Content, expires_at
from zurelay.meter.record import RequestRecord
from zurelay.office import values as v
from zurelay.office.desk import Desk, no_such
from zurelay.office.keys import the_key
from zurelay.office.rights import Actor
from zurelay.store.content import (
    SealedContent,
    count_contents,
    erase_contents_of_key,
    find_content,
)
from zurelay.store.errors import StoreError
from zurelay.store.keys import find_key
from zurelay.store.requests import get_request
from zurelay.store.sealing import UnreadableError

State = Literal["stored", "off", "expired", "missing", "unreadable"]


class ContentView(Struct):
    """What is stored of a request.

    Attributes:
        state: `stored`; `off`: its key has nothing stored; `expired`: it was deleted when its time
            was over; `missing`: there is nothing, since it was deleted, made before the key had it
            stored, refused unread, or came faster than could be stored; `unreadable`: it was
            encrypted with a key that this gateway does not have.
        expires: when it is deleted.
        messages: what was asked and answered, as a conversation.
        body, answer: as text of the caller's format, without files.
        stream: the answer is an event stream.
        ended: the caller was sent the answer to its end.
        body_cut, answer_cut: its end is not stored because it was too long.
    """

    request: str
    state: State
    expires: str | None = None
    format: str | None = None
    messages: list[Turn] = []
    body: str | None = None
    answer: str | None = None
    stream: bool = False
    ended: bool = False
    body_cut: bool = False
    answer_cut: bool = False


class Forgotten(Struct):
    """Of how many requests messages were deleted."""

    deleted: int


def state_of(desk: Desk, actor: Actor, request: str) -> ContentView:
    """Whether messages of a request are stored, without opening them. Raises Refused: 403, 404."""
    with desk.read(actor, "content.read") as connection:
        record = _record(connection, actor, request)
        row = _row(desk, connection, record)
        return _standing(desk, connection, record, row)


def read(desk: Desk, actor: Actor, request: str) -> ContentView:
    """The messages of a request, or why there are none.

    Raises:
        Refused: 403, 404.
    """
    with desk.read(actor, "content.read") as connection:
        record = _record(connection, actor, request)
        row = _row(desk, connection, record)
        view = _standing(desk, connection, record, row)
    if view.state != "stored" or row is None:
        return view
    sealer = desk.sealer()
    try:
        content = None if sealer is None else row.opened(sealer)
    except UnreadableError:
        content = None
    if content is None:
        view.state = "unreadable"
        return view
    if actor.account is None:
        with desk.change(actor, "content.read") as change:
            change.did("content.read", record.id, record.account, {"key": record.key})
    return _opened(view, content)


def count(desk: Desk, actor: Actor, wanted: str) -> int:
    """Of how many requests of a key messages are stored. Raises Refused: 403, 404."""
    with desk.read(actor, "keys.read") as connection:
        key = the_key(connection, actor, wanted)
        return count_contents(connection, key.id, desk.clock())


def forget(desk: Desk, actor: Actor, wanted: str) -> Forgotten:
    """Delete all that is stored of a key's requests, for ever. Raises Refused: 403, 404."""
    with desk.change(actor, "keys.change") as change:
        key = the_key(change.connection, actor, wanted)
        done = Forgotten(erase_contents_of_key(change.connection, key.id))
        detail = {"name": key.name, "requests": done.deleted}
        change.did("key.forget", key.id, key.account, detail)
        return done


def exported(row: SealedContent, desk: Desk) -> ContentView:
    """A row as it is given to whoever has a right to personal data."""
    view = ContentView(row.request, "stored", v.iso_of(row.expires))
    sealer = desk.sealer()
    try:
        if sealer is not None:
            return _opened(view, row.opened(sealer))
    except UnreadableError:
        pass
    view.state = "unreadable"
    return view


# Our own.


def _record(connection: Connection, actor: Actor, request: str) -> RequestRecord:
    record = get_request(connection, request, actor.account)
    if record is None:
        raise no_such("request", request)
    return record


def _row(desk: Desk, connection: Connection, record: RequestRecord) -> SealedContent | None:
    row = find_content(connection, record.id)
    if row is None or row.account != record.account or row.expires <= desk.clock():
        return None
    return row


def _standing(
    desk: Desk, connection: Connection, record: RequestRecord, row: SealedContent | None
) -> ContentView:
    if row is not None:
        return ContentView(record.id, "stored", v.iso_of(row.expires))
    try:
        days = find_key(connection, record.key).store_days
    except StoreError:
        days = None
    state: State = "missing"
    if days is None:
        state = "off"
    elif expires_at(record.created, days) <= desk.clock():
        state = "expired"
    return ContentView(record.id, state)


def _opened(view: ContentView, content: Content) -> ContentView:
    view.format = content.front
    view.messages = conversation(content.front, content.body, content.answer, stream=content.stream)
    view.body = content.body.decode("utf-8", "replace")
    view.answer = content.answer.decode("utf-8", "replace")
    view.stream, view.ended = content.stream, content.ended
    view.body_cut, view.answer_cut = content.body_cut, content.answer_cut
    return view
