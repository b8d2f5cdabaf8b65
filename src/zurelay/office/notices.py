"""Mail and webhooks that go out with what they tell of: committed together, sent afterwards.

The node that leads sends them. Knows no text and no server of mail.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import Connection

from zurelay.office.desk import Desk
from zurelay.store.outbox import Waiting, add_waiting

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
