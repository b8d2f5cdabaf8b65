"""Support: members ask, operators answer. Each side sees what it has not read yet.

All members of an account see its threads. The audit log says who wrote, never what.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from sqlalchemy import Connection

from zurelay.office import support_mails
from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Change, Desk, conflict, no_such, wrong
from zurelay.office.notices import post
from zurelay.office.pages import Listed, Page, listed
from zurelay.office.rights import Actor
from zurelay.store import support as store
from zurelay.store.accounts import find_account
from zurelay.store.requests import get_request
from zurelay.store.support import Message, Thread

MOST_OPEN: Final = 50
"""Threads of one account that may be open at once."""

MOST_UNREAD: Final = 500
"""Threads, those changed last, among which unread ones are counted."""

MOST_MESSAGES: Final = 200
"""Messages of one thread."""

Body = Annotated[str, Meta(min_length=1, max_length=10_000)]


class Question(Struct, forbid_unknown_fields=True):
    """A new thread; `request` is the id of the log entry it is about."""

    account: v.Name
    subject: v.Name
    body: Body
    request: Annotated[str, Meta(max_length=40)] | None = None


class ThreadView(Struct):
    """A thread. `unread` for whoever asks; `waiting` for an operator's answer."""

    id: str
    account: str
    account_name: str
    subject: str
    request: str | None
    created: str
    changed: str
    closed: str | None
    unread: bool
    waiting: bool


class MessageView(Struct):
    """What somebody wrote."""

    created: str
    name: str
    operator: bool
    body: str


def ask(desk: Desk, actor: Actor, name: str, form: Question) -> ThreadView:
    """Begin a thread; `name` is what to call whoever writes.

    Raises:
        Refused: 400, 403, 404; 409 where too many of the account are open.
    """
    with desk.change(actor, "support.write") as change:
        account = the_account(change.connection, actor, form.account)
        subject = v.name_of(form.subject.strip(), "subject")
        body = _body_of(form.body)
        if form.request is not None:
            record = get_request(change.connection, form.request, actor.account)
            if record is None or record.account != account.id:
                raise wrong("request", "request: there is no such request in this account.")
        if store.count_open(change.connection, account.id) >= MOST_OPEN:
            raise conflict("Too many questions of this account are open; write in one of those.")
        id_, now = desk.new_id("thr_"), change.now_ms
        thread = Thread(id_, account.id, subject, form.request, now, now)
        store.add_thread(change.connection, thread)
        _write(change, thread, name, body, "support.ask")
        return _view(change.connection, _found(change.connection, actor, id_), actor)


def answer(desk: Desk, actor: Actor, name: str, wanted: str, body: str) -> None:
    """Write in a thread; a closed one is open again.

    Raises:
        Refused: 400, 403, 404; 409 for a thread that is full.
    """
    with desk.change(actor, "support.write") as change:
        thread = _found(change.connection, actor, wanted)
        if len(store.messages_of(change.connection, thread.id)) >= MOST_MESSAGES:
            raise conflict("This thread is full; begin another one.")
        _write(change, thread, name, _body_of(body), "support.answer")


def close(desk: Desk, actor: Actor, wanted: str) -> None:
    """Let a thread be settled. Raises Refused: 403, 404."""
    with desk.change(actor, "support.write") as change:
        thread = _found(change.connection, actor, wanted)
        if thread.closed is not None:
            change.did_nothing()
            return
        store.change_thread(change.connection, thread.id, {"closed": int(change.now)})
        change.did("support.close", thread.id, thread.account, {})


def list_threads(
    desk: Desk, actor: Actor, page: Page, account: str | None = None
) -> Listed[ThreadView]:
    """Threads, those changed last first; of one account (id or name) if given."""
    with desk.read(actor, "support.read") as connection:
        only = actor.account
        if account is not None:
            only = the_account(connection, actor, account).id
        found = store.list_threads(connection, only, page.after, page.limit + 1)
        return listed(
            page,
            found,
            lambda one: (one.changed_ms, one.id),
            lambda one: _view(connection, one, actor),
        )


def count_unread(desk: Desk, actor: Actor) -> int:
    """How many threads have something that the actor's side has not read. Raises Refused: 403."""
    with desk.read(actor, "support.read") as connection:
        return store.count_unread(connection, actor.account, MOST_UNREAD)


def read(desk: Desk, actor: Actor, wanted: str) -> tuple[ThreadView, list[MessageView]]:
    """A thread and its messages, as it was before it is marked as read.

    Raises:
        Refused: 403, 404.
    """
    with desk.read(actor, "support.read") as connection:
        thread = _found(connection, actor, wanted)
        view = _view(connection, thread, actor)
        messages = [_message(one) for one in store.messages_of(connection, thread.id)]
    if view.unread:
        column = "operators_read_ms" if _operates(actor) else "members_read_ms"
        # Up to what was shown: what came in meanwhile stays unread.
        seen = max(thread.asked_ms, thread.answered_ms)
        with desk.store.write(alone=False) as connection:
            store.change_thread(connection, thread.id, {column: seen})
    return view, messages


def everything(desk: Desk, actor: Actor, account: str) -> Iterator[dict[str, Any]]:
    """All threads of an account with their messages. Raises Refused: 403, 404."""
    with desk.read(actor, "support.read") as connection:
        mine = the_account(connection, actor, account).id
        threads = store.list_threads(connection, mine, None, 100_000)
    for thread in threads:
        with desk.store.read() as connection:
            messages = store.messages_of(connection, thread.id)
        yield asdict(thread) | {"messages": [asdict(one) for one in messages]}


# Our own.


def _operates(actor: Actor) -> bool:
    """Whether they write as whoever runs the gateway."""
    return actor.account is None and actor.role in ("owner", "admin")


def _found(connection: Connection, actor: Actor, wanted: str) -> Thread:
    found = store.find_thread(connection, wanted)
    if found is None or not actor.sees(found.account):
        raise no_such("thread", wanted)
    return found


def _write(change: Change, thread: Thread, name: str, body: str, action: str) -> None:
    message = Message(
        change.desk.new_id("msg_"),
        thread.id,
        change.now_ms,
        change.actor.name[:200],
        name[:200],
        _operates(change.actor),
        body,
    )
    store.add_message(change.connection, message)
    post(change.connection, change.desk, support_mails.about(change, thread, message))
    change.did(action, thread.id, thread.account, {})


def _body_of(text: str) -> str:
    """What somebody wrote, lines and all. Raises Refused: 400."""
    body = text.replace("\r\n", "\n").strip()
    if not 1 <= len(body) <= 10_000 or any(not c.isprintable() and c not in "\n\t" for c in body):
        raise wrong("body", "body: write 1 to 10,000 characters.")
    return body


def _view(connection: Connection, thread: Thread, actor: Actor) -> ThreadView:
    account = find_account(connection, thread.account)
    if _operates(actor):
        unread = thread.asked_ms > thread.operators_read_ms
    else:
        unread = thread.answered_ms > thread.members_read_ms
    return ThreadView(
        id=thread.id,
        account=thread.account,
        account_name=thread.account if account is None else account.name,
        subject=thread.subject,
        request=thread.request,
        created=v.iso_of(thread.created_ms / 1000),
        changed=v.iso_of(thread.changed_ms / 1000),
        closed=v.iso(thread.closed),
        unread=unread,
        waiting=thread.closed is None and thread.asked_ms > thread.answered_ms,
    )


def _message(one: Message) -> MessageView:
    return MessageView(v.iso_of(one.at_ms / 1000), one.name, one.operator, one.body)
