"""What the doctor finds out about the server of mail, and about what could not be sent.

Sends nothing; prints nothing.
"""

import time
from collections.abc import Iterator

from zurelay.app import mail
from zurelay.cli.examining import Finding
from zurelay.config.smtp import Smtp
from zurelay.store.engine import Store
from zurelay.store.outbox import count_waiting, failed_since

_DAYS = 7


def server(smtp: Smtp) -> Finding:
    """Whether the server can be reached, proves its name, and lets us sign in."""
    if not smtp.host:
        return Finding("mail", "ok", "none is sent: no server is configured")
    where = f"{smtp.host}:{smtp.port}"
    try:
        with mail.session(smtp):
            pass
    except mail.MailError as error:
        return Finding("mail", "fault", f"{where}: {error}")
    secure = "not encrypted" if smtp.security == "none" else "encrypted"
    signed = f", signed in as {smtp.user}" if smtp.user else ""
    return Finding("mail", "ok", f"{where} answers, {secure}{signed}")


def outbox(store: Store) -> Iterator[Finding]:
    """What could not be sent lately, mails and webhooks.

    Raises:
        StoreError: the database does not answer.
    """
    since = int((time.time() - _DAYS * 86_400) * 1000)
    with store.read() as connection:
        waiting = count_waiting(connection)
        count, last = failed_since(connection, since, 1)
    if count:
        says = f"{count} could not be sent in the last {_DAYS} days; the last {last[0].kind}: "
        yield Finding("outbox", "warning", f"{says}{last[0].problem}")
    else:
        yield Finding("outbox", "ok", f"{waiting} waiting, none given up in {_DAYS} days")
