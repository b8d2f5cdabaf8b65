"""Whoever forgot their password, at the door of a whole gateway with a real server of mail."""

import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.app.conftest import until
from tests.console.people import OWNER, PASSWORD, Person
from tests.mail_server import MailServer, mail_server
from zurelay.app import post
from zurelay.console import forgot
from zurelay.console.throttle import TRIES
from zurelay.office.accounts import get_account
from zurelay.office.desk import Desk
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/forgot"
SENT = "a mail with a link is on its way"


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found


def smtp(server: MailServer) -> str:
    return (
        f'[smtp]\nhost = "127.0.0.1"\nport = {server.port}\nsecurity = "none"\n'
        'sender = "Acme <ai@example.com>"\n[brand]\nname = "Acme"\nsupport_email = "h@example.com"\n'
    )


@pytest.fixture
async def gateway(
    tmp_path: Path, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[RunningGateway]:
    monkeypatch.setattr(post, "PAUSE_S", 0.01)
    monkeypatch.setattr(forgot, "FLOOR_S", 0.0)
    async with RunningGateway(tmp_path, smtp(server)) as running:
        yield running


@pytest.fixture
def ann(people: Of) -> Person:
    """Somebody with a password who is not signed in."""
    known = people("member")
    known.cookies.clear()
    known.token = ""
    return known


async def asks(somebody: Person, email: str = "member@example.com") -> tuple[int, str]:
    await somebody.get(HOME)
    seen = await somebody.post(HOME, {"email": email})
    return seen.status, seen.text


async def test_a_mail_brings_a_link_that_sets_a_new_password(
    ann: Person, server: MailServer, gateway: RunningGateway
) -> None:
    seen = await ann.get("/console/sign-in")
    assert 'href="/console/forgot"' in seen.text
    status, text = await asks(ann, "Member@Example.com")
    assert (status, SENT in text) == (200, True)
    await until(lambda: len(server.got) == 1)
    ((to, mail),) = server.got
    assert to == ["member@example.com"]
    (link,) = [line for line in mail.get_content().splitlines() if "/console/link/" in line]
    path = link.removeprefix(gateway.base_url)
    await ann.get(path)
    seen = await ann.post(path, {"password": "another horse", "again": "another horse"})
    assert seen.url.endswith("/console")
    ann.cookies.clear()
    await ann.get("/console/sign-in")
    for password, status in ((PASSWORD, 401), ("another horse", 200)):
        form = {"email": "member@example.com", "password": password}
        assert (await ann.post("/console/sign-in", form)).status == status


async def test_the_answer_is_the_same_for_addresses_that_nobody_has(
    ann: Person, server: MailServer
) -> None:
    def bare(text: str) -> str:
        return re.sub(r'value="[0-9a-f]{64}"', "", text)

    mine = await asks(ann)
    theirs = await asks(ann, "nobody@example.com")
    assert (mine[0], bare(mine[1])) == (theirs[0], bare(theirs[1]))
    await until(lambda: len(server.got) == 1)


async def test_an_answer_takes_its_time_whoever_asks(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgot, "FLOOR_S", 0.2)
    await ann.get(HOME)
    began = time.monotonic()
    await ann.post(HOME, {"email": "nobody@example.com"})
    assert time.monotonic() - began >= 0.2


async def test_what_is_no_address_is_told(ann: Person) -> None:
    status, text = await asks(ann, "ann")
    assert (status, "Write an e-mail address." in text) == (400, True)


async def test_after_some_tries_one_waits_and_may_still_sign_in(ann: Person) -> None:
    for _ in range(TRIES["pair"]):
        assert (await asks(ann))[0] == 200
    status, text = await asks(ann)
    assert (status, "Too many tries." in text) == (429, True)
    await ann.get("/console/sign-in")
    form = {"email": "member@example.com", "password": PASSWORD}
    assert (await ann.post("/console/sign-in", form)).url.endswith("/console")


async def test_without_a_server_of_mail_one_is_told_whom_to_ask(
    ann: Person, gateway: RunningGateway, server: MailServer
) -> None:
    await gateway.reload('[brand]\nsupport_email = "help@example.com"\n')
    seen = await ann.get(HOME)
    assert "This gateway sends no mail." in seen.text
    assert "mailto:help@example.com" in seen.text
    assert 'name="email"' not in seen.text
    await ann.get("/console/sign-in")
    seen = await ann.post(HOME, {"email": "member@example.com"})
    assert "This gateway sends no mail." in seen.text
    await gateway.reload(smtp(server))
    assert 'name="email"' in (await ann.get(HOME)).text


async def test_an_invitation_is_mailed_and_shown_all_the_same(
    people: Of, server: MailServer, gateway: RunningGateway
) -> None:
    admin = people("admin")
    form = {"email": "eve@example.com", "name": "Eve", "role": "member", "account": "default"}
    seen = await admin.post("/console/members", form)
    assert "A mail with this link is on its way to eve@example.com." in seen.text
    shown = re.search(r'<code id="link-text">([^<]+)</code>', seen.text)
    assert shown
    await until(lambda: len(server.got) == 1)
    ((to, mail),) = server.got
    assert (to, mail["Subject"]) == (["eve@example.com"], "You are invited to Acme")
    assert shown.group(1) in mail.get_content().splitlines()
    await gateway.reload("")
    account = get_account(Desk(gateway.store), OWNER, "default").id
    seen = await admin.post(f"/console/members/{account}/eve@example.com/link")
    assert "A mail with this link" not in seen.text
    assert "Send it yourself" in seen.text


async def test_what_could_not_be_sent_stands_on_the_settings_page(
    people: Of, server: MailServer, ann: Person
) -> None:
    server.refuses["member@example.com"] = "550 <script>alert(1)</script>"
    owner = people("owner")
    assert "could not be sent" not in (await owner.get("/console/settings")).text
    await asks(ann)
    text = ""
    for _ in range(200):
        text = (await owner.get("/console/settings")).text
        if "1 mail or webhook could not be sent" in text:
            break
    assert "The last one, to member@example.com:" in text
    assert "<script>alert" not in text
