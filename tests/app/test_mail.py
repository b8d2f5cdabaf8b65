import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal

import pytest
import trustme

from tests.mail_server import PASSWORD, USER, MailServer, mail_server
from zurelay.app import mail
from zurelay.app.mail import MailError
from zurelay.config.smtp import Smtp
from zurelay.upstream.tls import client_context

NOW = 1_795_953_600.0
PLAIN = Smtp(host="127.0.0.1", security="none", sender="Acme Ünï AI <ai@example.com>", timeout=5)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def trusting(authority: trustme.CA, tmp_path: Path) -> ssl.SSLContext:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return client_context(path, protocols=())


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found


def at(server: MailServer, smtp: Smtp = PLAIN) -> Smtp:
    return replace(smtp, port=server.port)


def sent(smtp: Smtp, to: str = "ann@example.com", body: str = "Hello.\n") -> None:
    with mail.session(smtp) as opened:
        mail.send(opened, mail.message(smtp, "out_1", to, "Über den Wert", body, NOW))


def test_a_mail_arrives_as_it_was_written(server: MailServer) -> None:
    body = "Grüße, 你好.\n.\nhttps://ai.example.com/console/link/a=b\n" + "x" * 2000 + "\n"
    sent(at(server), body=body)
    ((recipients, got),) = server.got
    assert recipients == ["ann@example.com"]
    assert str(got["From"]) == "Acme Ünï AI <ai@example.com>"
    assert str(got["To"]) == "ann@example.com"
    assert str(got["Subject"]) == "Über den Wert"
    assert got["Message-ID"] == "<out_1@example.com>"
    assert got["Auto-Submitted"] == "auto-generated"
    assert parsedate_to_datetime(got["Date"]).timestamp() == NOW
    assert got.get_content_type() == "text/plain"
    assert got.get_content().replace("\r\n", "\n") == body
    assert server.raw[0].isascii()
    assert max(map(len, server.raw[0].split(b"\r\n"))) <= 998


@pytest.mark.parametrize(
    "subject", ["Over\r\nBcc: eve@example.com", "a\nb", "a\r\n\r\nbody", "\0x"]
)
def test_nobody_writes_headers_through_a_subject(server: MailServer, subject: str) -> None:
    smtp = at(server)
    with mail.session(smtp) as opened:
        mail.send(opened, mail.message(smtp, "out_1", "a@b.nl", subject, "x", NOW))
    ((recipients, got),) = server.got
    assert recipients == ["a@b.nl"]
    assert got["Bcc"] is None
    assert len(got.get_all("Subject", [])) == 1


@pytest.mark.parametrize(
    "to", ["a@b.nl\r\nBcc: eve@b.nl", "a@b.nl, eve@b.nl", "nobody", "", "@", "a b@c.nl"]
)
def test_what_is_no_single_address_gets_no_mail(to: str) -> None:
    with pytest.raises(MailError) as found:
        mail.message(PLAIN, "out_1", to, "s", "b", NOW)
    assert found.value.final


@pytest.mark.parametrize("at_once", [False, True])
def test_the_session_is_encrypted_and_signed_in(
    tls: ssl.SSLContext, trusting: ssl.SSLContext, at_once: bool
) -> None:
    with mail_server(tls, at_once=at_once, signed_in=True) as server:
        smtp = at(server, replace(PLAIN, user=USER, password=PASSWORD))
        smtp = replace(smtp, security="tls" if at_once else "starttls")
        with mail.session(smtp, lambda: trusting) as opened:
            mail.send(opened, mail.message(smtp, "out_1", "a@b.nl", "s", "b", NOW))
        assert (len(server.got), server.secure) == (1, [True])
        wrong = replace(smtp, password="no-good")
        with pytest.raises(MailError, match="535") as found, mail.session(wrong, lambda: trusting):
            pass
        assert (found.value.broken, found.value.final) == (True, False)
        assert "no-good" not in str(found.value)


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_server_that_cannot_prove_its_name_gets_nothing(
    tls: ssl.SSLContext, security: Literal["starttls", "tls"]
) -> None:
    with mail_server(tls, at_once=security == "tls", signed_in=True) as server:
        smtp = replace(at(server), user=USER, password=PASSWORD, security=security)
        with pytest.raises(MailError, match="certificate is not good"), mail.session(smtp):
            pass


def test_without_encryption_where_it_is_wanted_nothing_is_said(server: MailServer) -> None:
    smtp = replace(at(server), security="starttls")
    with pytest.raises(MailError, match="STARTTLS"), mail.session(smtp):
        pass
    assert server.got == []


@pytest.mark.parametrize(
    ("said", "final"), [("550 no such user", True), ("450 mailbox is busy", False)]
)
def test_a_refused_recipient_is_given_up_only_if_the_server_says_so(
    server: MailServer, said: str, final: bool
) -> None:
    server.refuses["ann@example.com"] = said
    with pytest.raises(MailError, match=said) as found:
        sent(at(server))
    assert (found.value.final, found.value.broken) == (final, False)


def test_a_refused_mail_does_not_keep_the_next_from_going(server: MailServer) -> None:
    server.answers = ["554 looks like spam", "451 later"]
    smtp = at(server)
    with mail.session(smtp) as opened:
        one = mail.message(smtp, "out_1", "a@b.nl", "s", "b", NOW)
        for final in (True, False):
            with pytest.raises(MailError) as found:
                mail.send(opened, one)
            assert (found.value.final, found.value.broken) == (final, False)
        mail.send(opened, one)
    assert len(server.got) == server.sessions == 1


def test_a_server_that_hangs_up_ends_the_session(server: MailServer) -> None:
    server.hang_up = 1
    with pytest.raises(MailError) as found:
        sent(at(server))
    assert (found.value.final, found.value.broken) == (False, True)


def test_nobody_at_the_port_is_told_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    smtp = replace(PLAIN, port=port)
    with pytest.raises(MailError, match="connection refused"), mail.session(smtp):
        pass


def test_a_session_can_be_cut_from_another_thread() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        smtp = replace(PLAIN, port=listening.getsockname()[1], timeout=50)

        def silent() -> None:  # greets, takes EHLO, and then says nothing more
            peer, _ = listening.accept()
            with peer:
                peer.sendall(b"220 here\r\n")
                peer.recv(1000)
                peer.sendall(b"250 mail.test\r\n")
                peer.recv(1000)
                mail.cut(opened)
                peer.recv(1000)

        thread = threading.Thread(target=silent)
        thread.start()
        with mail.session(smtp) as opened, pytest.raises(MailError):
            mail.send(opened, mail.message(smtp, "out_1", "a@b.nl", "s", "b", NOW))
        thread.join()
    mail.cut(None)
    mail.cut(smtplib.SMTP())
