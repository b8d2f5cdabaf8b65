"""Mail and webhooks that go out with what they tell of: committed together, sent afterwards.

The node that leads sends them. Knows no server of mail.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from sqlalchemy import Connection

from zurelay.letters.texts import Text, write
from zurelay.office.desk import Desk
from zurelay.office.rights import Actor
from zurelay.store import people
from zurelay.store.outbox import Waiting, add_waiting, failed_since

FIRST_OWNER: Final = "owner@localhost"
"""The address of the first owner, until they give their own: nobody's mailbox."""

UNSENT_S: Final = 7 * 86_400

MOST_BODY: Final = 200_000
"""Characters of a body; no notice has more."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell one mailbox or one server.

    Attributes:
        target: an e-mail address, or a URL.
        account: whose it is; None for the operators', whose webhooks may go to inner addresses.
        subject: of a mail its subject; of a webhook its event's name, for lists.
        body: of a mail plain text; of a webhook JSON.
        secret: signs a webhook's body; empty: it goes unsigned.
    """

    kind: Literal["mail", "webhook"]
    target: str
    account: str | None
    subject: str
    body: str
    secret: str = ""


def post(connection: Connection, desk: Desk, notices: Iterable[Notice]) -> None:
    """Write notices down in the caller's transaction; they are sent once it is committed.

    Within a change: `post(change.connection, change.desk, ...)`. Mails are left out where no server
    of mail is configured (`desk.letters()` is None).
    """
    now = int(desk.clock() * 1000)
    letters = desk.letters()
    add_waiting(
        connection,
        [
            Waiting(
                id=desk.new_id("out_"),
                created_ms=now,
                kind=one.kind,
                target=one.target[:2000],
                account=one.account,
                subject=" ".join(one.subject.split())[:300],
                body=one.body[:MOST_BODY],
                due_ms=now,
                secret=one.secret or None,
            )
            for one in notices
            if one.kind == "webhook" or letters is not None
        ],
    )


def mail(
    desk: Desk,
    to: str,
    account: str | None,
    language: str,
    text: Text,
    /,
    *,
    path: str = "",
    helped: bool = True,
    **values: str,
) -> list[Notice]:
    """A mail of that text, for `post`; nothing while no server of mail is configured.

    Nothing either for the first owner who has not given an address yet.

    Args:
        desk: says what every mail says.
        to: whose mailbox.
        account: whose matter it is; None for the operators'.
        language: of whoever reads it.
        text: what it says.
        path: of the gateway, for a link in it.
        helped: it says whom to ask.
        values: what is filled in.
    """
    head = desk.letters()
    if head is None or to == FIRST_OWNER:
        return []
    subject, body = write(
        language,
        text,
        brand=head.brand,
        base_url=head.base_url,
        support_email=head.support_email if helped else "",
        link=f"{head.base_url}{path}" if path else "",
        **values,
    )
    return [Notice("mail", to, account, subject, body)]


@dataclass(frozen=True, slots=True)
class Unsent:
    """What could not be sent lately: how much, and the last of it."""

    count: int
    target: str
    problem: str


def unsent(desk: Desk, actor: Actor) -> Unsent | None:
    """What was given up in the last seven days; None where nothing was. Raises Refused: 403."""
    with desk.read(actor, "providers.read") as connection:
        since = int((desk.clock() - UNSENT_S) * 1000)
        count, last = failed_since(connection, since, 1)
    if not last:
        return None
    target = last[0].target
    if last[0].kind == "webhook":  # the rest of it may let whoever has it in
        target = urlsplit(target).hostname or ""
    return Unsent(count, target, last[0].problem)


def language_of(connection: Connection, email: str, otherwise: str | None = None) -> str:
    """The language somebody chose; `otherwise`, or English, where they chose none."""
    person = people.find_person(connection, email)
    return (None if person is None else person.language) or otherwise or "en"
