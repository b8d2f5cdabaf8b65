"""A real server of mail on loopback, in a thread of its own; says no where a test wants it to."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "ai", "päss word"


@dataclass
class MailServer:
    """What it got.

    Attributes:
        refuses: by address what it answers instead of taking it as a recipient.
        answers: what it says to each whole mail, in turn; then it takes them.
        got: for each mail taken, its recipients and the mail.
        raw, secure: of each its bytes, and whether they came encrypted.
        sessions: how many began.
        hang_up: how many sessions it is to end at their first mail.
    """

    port: int = 0
    refuses: dict[str, str] = field(default_factory=dict)
    answers: list[str] = field(default_factory=list)
    got: list[tuple[list[str], EmailMessage]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    secure: list[bool] = field(default_factory=list)
    sessions: int = 0
    hang_up: int = 0

    async def handle_EHLO(
        self, server: SMTP, session: Session, envelope: Envelope, hostname: str, responses: Any
    ) -> Any:
        self.sessions += 1
        session.host_name = hostname
        return responses

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any
    ) -> str:
        if self.hang_up:
            self.hang_up -= 1
            assert isinstance(server.transport, asyncio.WriteTransport)
            server.transport.abort()
        if address in self.refuses:
            return self.refuses[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.answers and not (said := self.answers.pop(0)).startswith("250"):
            return said
        assert isinstance(envelope.content, bytes)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.raw.append(envelope.content)
        assert server.transport is not None
        self.secure.append(server.transport.get_extra_info("ssl_object") is not None)
        self.got.append((list(envelope.rcpt_tos), mail))
        return "250 OK"


def _authenticate(
    server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
) -> AuthResult:
    assert isinstance(data, LoginPassword)
    good = data.login == USER.encode() and data.password == PASSWORD.encode()
    return AuthResult(success=good, handled=False)


@contextmanager
def mail_server(
    tls: ssl.SSLContext | None = None, *, at_once: bool = False, signed_in: bool = False
) -> Iterator[MailServer]:
    """A server that listens until the end.

    Args:
        tls: it has this certificate and takes no mail without it.
        at_once: TLS from the first byte instead of STARTTLS.
        signed_in: it wants `USER` with `PASSWORD`.
    """
    found = MailServer()
    options: dict[str, Any] = {"hostname": "mail.test"}
    if tls is not None and not at_once:
        options |= {"tls_context": tls, "require_starttls": True}
    if signed_in:
        # Over TLS from the first byte it does not know of it.
        options |= {
            "authenticator": _authenticate,
            "auth_required": not at_once,
            "auth_require_tls": not at_once,
        }
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def listen() -> asyncio.Server:
        return await loop.create_server(
            lambda: SMTP(found, loop=loop, **options),
            "127.0.0.1",
            0,
            ssl=tls if at_once else None,
        )

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result(10)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: asyncio.Server) -> None:
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
