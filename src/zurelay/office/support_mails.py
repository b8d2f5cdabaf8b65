"""Mails about support: who is told of a message, and when. Sends nothing.

One mail a thread and side until it was read: whoever comes back finds the rest there.
"""

from zurelay.letters.texts import ANSWER, QUESTION
from zurelay.office.desk import Change
from zurelay.office.notices import Notice, mail
from zurelay.store import people
from zurelay.store.accounts import find_account
from zurelay.store.people import Person
from zurelay.store.support import Message, Thread, messages_of


def about(change: Change, before: Thread, message: Message) -> list[Notice]:
    """Who is to be told of a message.

    Args:
        change: that wrote it.
        before: its thread, as it was without it.
        message: what was written.
    """
    if message.operator:
        if before.answered_ms > before.members_read_ms:
            return []  # told already, and nobody has looked since
        return _to_members(change, before)
    if before.asked_ms > before.operators_read_ms:
        return []
    return _to_operators(change, before, message)


def _to_operators(change: Change, thread: Thread, message: Message) -> list[Notice]:
    desk, connection = change.desk, change.connection
    head, account = desk.letters(), find_account(connection, thread.account)
    if head is None or account is None:
        return []
    known = {one.email: one.language for one in people.runners(connection)}
    if head.support_email:
        known.setdefault(head.support_email.lower(), None)
    return [
        notice
        for email, language in known.items()
        for notice in mail(
            desk,
            email,
            thread.account,
            language or "en",
            QUESTION,
            path=f"/console/support/{thread.id}",
            account=account.name,
            subject=thread.subject,
            name=message.name or message.author,
            body=message.body,
        )
    ]


def _to_members(change: Change, thread: Thread) -> list[Notice]:
    return [
        notice
        for one in _concerned(change, thread)
        for notice in mail(
            change.desk,
            one.email,
            thread.account,
            one.language or "en",
            ANSWER,
            path=f"/console/support/{thread.id}",
            subject=thread.subject,
        )
    ]


def _concerned(change: Change, thread: Thread) -> list[Person]:
    """Whoever wrote for the account and still belongs to it; where nobody did, all its members."""
    members = people.members_of(change.connection, thread.account)
    written = [one for one in messages_of(change.connection, thread.id) if not one.operator]
    if not written:
        return [one for one in members if f"person:{one.id}" != change.actor.name]
    authors = {one.author for one in written}
    return [one for one in members if f"person:{one.id}" in authors]
