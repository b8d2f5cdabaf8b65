"""Mails by SMTP: what one looks like, and a server that takes it. Everything here blocks.

Knows no outbox and no text.
"""

import base64
import smtplib
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr

from zurelay.config.smtp import Smtp
from zurelay.upstream.tls import client_context


class MailError(Exception):
    """A mail that was not taken, and why.

    Attributes:
        final: the server will never take it for this mailbox; another try is of no use.
        broken: the session is over; others cannot be sent in it either.
    """

    def __init__(self, why: str, *, final: bool = False, broken: bool = False) -> None:
        super().__init__(why)
        self.final = final
        self.broken = broken


def mail_context() -> ssl.SSLContext:
    """Verifies servers of mail against the system's trust store."""
    return client_context(protocols=())


@contextmanager
def session(
    smtp: Smtp, context: Callable[[], ssl.SSLContext] = mail_context
) -> Iterator[smtplib.SMTP]:
    """A session with the server: connected, encrypted and signed in as configured.

    Raises:
        MailError: the server cannot be used; `broken`.
    """
    opened = None
    try:
        opened = _connected(smtp, context)
        opened.ehlo_or_helo_if_needed()
        if smtp.user:
            _sign_in(opened, smtp.user, smtp.password)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        if opened is not None:
            opened.close()
        raise MailError(_why(error), broken=True) from None
    try:
        yield opened
    finally:
        with suppress(smtplib.SMTPException, OSError):
            opened.quit()
        opened.close()


def message(smtp: Smtp, id_: str, to: str, subject: str, body: str, now: float) -> EmailMessage:
    """A mail, plain text. The same `id_` gives the same Message-ID.

    Raises:
        MailError: `to` is no address; final.
    """
    name, sender = parseaddr(smtp.sender)
    made = EmailMessage(policy=SMTP)
    try:
        made["From"] = Address(name, addr_spec=sender)
        made["To"] = Address(addr_spec=to)
    except (MessageError, ValueError, IndexError):
        raise MailError("no usable address", final=True) from None
    made["Subject"] = " ".join(subject.split())
    made["Date"] = format_datetime(datetime.fromtimestamp(now, UTC))
    made["Message-ID"] = f"<{id_}@{sender.rpartition('@')[2]}>"
    made["Auto-Submitted"] = "auto-generated"  # RFC 3834: no answer from absent people
    # In ASCII with short lines it passes every server, whatever it says it can.
    made.set_content(body, cte="quoted-printable")
    return made


def send(opened: smtplib.SMTP, mail: EmailMessage) -> None:
    """Hand a mail over.

    Raises:
        MailError: it was not taken.
    """
    try:
        opened.send_message(mail)
    except smtplib.SMTPRecipientsRefused as refused:
        code, said = next(iter(refused.recipients.values()))
        raise MailError(_said(code, said), final=code >= 500) from None
    except smtplib.SMTPDataError as error:
        final = error.smtp_code >= 500
        raise MailError(_said(error.smtp_code, error.smtp_error), final=final) from None
    except smtplib.SMTPSenderRefused as error:  # for all mails alike: the settings' fault
        raise MailError(_said(error.smtp_code, error.smtp_error)) from None
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise MailError(_why(error), broken=True) from None


def cut(opened: smtplib.SMTP | None) -> None:
    """Break a session off, from another thread: whoever waits for the server gets an error."""
    sock = None if opened is None else opened.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


# Our own.


def _connected(smtp: Smtp, context: Callable[[], ssl.SSLContext]) -> smtplib.SMTP:
    """Greeted; with TLS if the settings ask for it, else not at all."""
    known_as = parseaddr(smtp.sender)[1].rpartition("@")[2] or None
    if smtp.security == "tls":
        return smtplib.SMTP_SSL(
            smtp.host, smtp.port, known_as, timeout=smtp.timeout, context=context()
        )
    opened = smtplib.SMTP(smtp.host, smtp.port, known_as, timeout=smtp.timeout)
    if smtp.security == "starttls":
        try:
            opened.starttls(context=context())
        except BaseException:
            opened.close()
            raise
    return opened


def _sign_in(opened: smtplib.SMTP, user: str, password: str) -> None:
    if (user + password).isascii():
        opened.login(user, password)
        return
    # The library knows ASCII alone; RFC 4616 wants UTF-8.
    text = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
    code, said = opened.docmd("AUTH", f"PLAIN {text}")
    if code != 235:
        raise smtplib.SMTPAuthenticationError(code, said)


def _why(error: Exception) -> str:
    match error:
        case smtplib.SMTPResponseException():
            return _said(error.smtp_code, error.smtp_error)
        case ssl.SSLCertVerificationError():
            return f"its certificate is not good: {error.verify_message}"
        case smtplib.SMTPNotSupportedError() | smtplib.SMTPServerDisconnected():
            return str(error).rstrip(".")
        case TimeoutError():
            return "it does not answer in time"
        case OSError() if error.strerror:
            return error.strerror.lower()
        case _:
            return str(error) or type(error).__name__


def _said(code: int, said: "bytes | str") -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return f"it says {code} {' '.join(text.split())}"
