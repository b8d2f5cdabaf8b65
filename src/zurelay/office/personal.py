"""Personal data: given to whoever has a right to it, and erased so that amounts stay.

Where each personal field lies and how long stands in the documentation.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from zurelay.meter.view import record_view
from zurelay.office import accounts, alerts, audit, contents, keys, members, money, support
from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Change, Desk, wrong
from zurelay.office.pages import Listed, Page
from zurelay.office.rights import Actor
from zurelay.office.sheets import json_line
from zurelay.store.alerts import erase_target
from zurelay.store.content import contents_of, erase_contents
from zurelay.store.outbox import Waiting, erase_outbox, of_account
from zurelay.store.paging import Mark
from zurelay.store.people import Person
from zurelay.store.personal import (
    Subject,
    addresses_of,
    empty_log_of_writes,
    entries_of,
    erase_entries,
    erase_members,
    erase_names,
    nodes_at_work,
    overwrite_erased,
    people_of,
)
from zurelay.store.support import erase_support

BATCH: Final = 500
"""Log entries per transaction, so that others get their turn between."""

_CONTENTS: Final = 20

_MOST_SENT: Final = 100_000

SETTLE_S: Final = 3.0
"""How long nodes at work take at most to bring what they have settled into the log."""


class SubjectForm(Struct, forbid_unknown_fields=True):
    """Whose data: an account's (id or name), an end user's, or an end user's in one account."""

    account: v.Name | None = None
    user: Annotated[str, Meta(min_length=1, max_length=256)] | None = None


class Erased(Struct):
    """What was erased. `undelivered`: entries that nodes still hold; erase again when they come.

    `contents`: of how many requests messages were stored.
    """

    requests: int
    members: int
    keys: int
    undelivered: int
    contents: int = 0


def erase(
    desk: Desk,
    actor: Actor,
    form: SubjectForm,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Erased:
    """Take personal data out of everything a subject has here, for ever. Amounts stay.

    Raises:
        Refused: 400, 403, 404.
    """
    subject = _subject(desk, actor, form)
    count = _erase_all(desk, subject, None)
    stored = _erase_contents(desk, subject)
    with desk.store.read() as connection:
        working, _ = nodes_at_work(connection, desk.clock())
    if working:
        sleep(SETTLE_S)
        count += _erase_all(desk, subject, None)
        stored += _erase_contents(desk, subject)
    people = names = 0
    with desk.change(actor, "personal.erase") as change:
        overwrite_erased(change.connection)
        if subject.account is not None and subject.user is None:
            mailed = addresses_of(change.connection, subject.account)
            erase_outbox(change.connection, subject.account, mailed)
            people = erase_members(change.connection, subject.account, change.now)
            names = erase_names(change.connection, subject.account, change.now)
            erase_support(change.connection, subject.account)
            erase_target(change.connection, subject.account)
        _, undelivered = nodes_at_work(change.connection, change.now)
        done = Erased(count, people, names, undelivered, stored)
        _note(change, subject, "personal.erase", {"requests": count, "members": people})
    empty_log_of_writes(desk.store)
    return done


def export(desk: Desk, actor: Actor, form: SubjectForm) -> Iterator[str]:
    """All that is kept of a subject, as JSON lines, each with its `kind`.

    Raises:
        Refused: 400, 403, 404; before the first line.
    """
    subject = _subject(desk, actor, form)
    with desk.change(actor, "personal.export") as change:
        _note(change, subject, "personal.export", {})
    return _lines(desk, actor, subject)


# Our own.


def _subject(desk: Desk, actor: Actor, form: SubjectForm) -> Subject:
    if form.account is None and form.user is None:
        raise wrong("account", "account: name an account, a user, or both.")
    with desk.read(actor, "personal.export") as connection:
        account = None
        if form.account is not None:
            account = the_account(connection, actor, form.account).id
    return Subject(account, form.user)


def _erase_all(desk: Desk, subject: Subject, after: Mark | None) -> int:
    count = 0
    while True:
        with desk.store.write() as connection:
            overwrite_erased(connection)
            found = entries_of(connection, subject, after, BATCH)
            count += erase_entries(connection, found)
        if len(found) < BATCH:
            return count
        after = (int(found[-1].id[4:16], 16), found[-1].id)


def _erase_contents(desk: Desk, subject: Subject) -> int:
    with desk.store.write() as connection:
        overwrite_erased(connection)
        return erase_contents(connection, subject)


def _note(change: Change, subject: Subject, action: str, detail: dict[str, int]) -> None:
    """For the audit log; a user's name would bring back what is erased, its hash does not."""
    if subject.user is None:
        target = subject.account or ""
    else:
        target = f"user:{hashlib.sha256(subject.user.encode()).hexdigest()[:16]}"
    change.did(action, target, subject.account, detail)


def _lines(desk: Desk, actor: Actor, subject: Subject) -> Iterator[str]:
    if subject.account is not None and subject.user is None:
        account = subject.account
        yield _line("account", accounts.get_account(desk, actor, account))
        yield from _listed("member", lambda page: members.list_members(desk, actor, account, page))
        with desk.store.read() as connection:
            people = people_of(connection, account)
        for one in people:
            yield _line("person", _person(one))
        yield from _listed("key", lambda page: keys.list_keys(desk, actor, page, account))
        yield from _listed(
            "transfer", lambda page: money.list_transfers(desk, actor, page, account)
        )
        for thread in support.everything(desk, actor, account):
            yield _line("support", thread)
        with desk.store.read() as connection:
            sent = of_account(connection, account, addresses_of(connection, account), _MOST_SENT)
        for notice in sent:
            yield _line("notice", _notice(notice))
        yield _line("alert_target", alerts.get_target(desk, actor, account))
        yield from _listed("alert", lambda page: alerts.list_alerts(desk, actor, page, account))
        yield from _listed(
            "audit", lambda page: audit.list_audit(desk, actor, page, account=account)
        )
    after: Mark | None = None
    while True:
        with desk.store.read() as connection:
            found = entries_of(connection, subject, after, BATCH)
        for record in found:
            yield _line("request", record_view(record, operator=True))
        if len(found) < BATCH:
            break
        after = (int(found[-1].id[4:16], 16), found[-1].id)
    last: str | None = None
    while True:
        with desk.store.read() as connection:
            rows = contents_of(connection, subject, last, _CONTENTS)
        for row in rows:
            yield _line("content", contents.exported(row, desk))
        if len(rows) < _CONTENTS:
            return
        last = rows[-1].request


def _notice(one: Waiting) -> dict[str, object]:
    """A mail or webhook; never its body, which may hold a link that still works."""
    return {
        "kind": one.kind,
        "target": one.target,
        "subject": one.subject,
        "created": v.iso_of(one.created_ms / 1000),
        "sent": None if one.sent_ms is None else v.iso_of(one.sent_ms / 1000),
    }


def _person(one: Person) -> dict[str, object]:
    """Whoever may sign in; never the password, not even its hash."""
    return {
        "id": one.id,
        "email": one.email,
        "name": one.name,
        "language": one.language,
        "created": v.iso_of(one.created),
    }


def _listed(kind: str, read: Callable[[Page], Listed[Any]]) -> Iterator[str]:
    page = Page(BATCH)
    while True:
        found = read(page)
        for one in found.data:
            yield _line(kind, one)
        if found.next_cursor is None:
            return
        page = Page(BATCH, found.next_cursor)


def _line(kind: str, value: object) -> str:
    return json_line({"kind": kind, "data": value})
