import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from tests.app.conftest import until
from tests.mail_server import MailServer, mail_server
from tests.store.rows import Clock
from zurelay.app import post as post_module
from zurelay.app.post import KEPT_S, LEASE_S, MOST, RETRIES_S, Post
from zurelay.app.webhooks import WebhookError, Webhooks
from zurelay.config.smtp import Smtp
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.notices import Notice, post
from zurelay.store import outbox
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.outbox import Waiting, of_account

NOON = 1_795_953_600.0
HEAD = Letterhead("https://ai.example.com", "Acme", "")


class Hooks(Webhooks):
    """Notes what it is to send; fails as told."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str, str, bool]] = []
        self.failures: list[WebhookError] = []

    async def send(
        self, id_: str, url: str, body: str, secret: str, now: float, *, inside: bool
    ) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append((url, body, secret, inside))


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found


@pytest.fixture
def store(tmp_path: Path, store_url: str) -> Iterator[Store]:
    opened = open_store(tmp_path / "data", store_url)
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


class Office:
    """Posts, and looks at what became of it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.desk = Desk(store, clock, letters=lambda: HEAD)

    def mail(self, *to: str, account: str | None = "acct_1") -> None:
        self.post(*(Notice("mail", one, account, "Over", "Spent.") for one in to))

    def post(self, *notices: Notice) -> None:
        with self.store.write() as connection:
            post(connection, self.desk, notices)

    def rows(self) -> list[Waiting]:
        with self.store.read() as connection:
            return of_account(connection, "acct_1", [], 100)


@pytest.fixture
def office(store: Store, clock: Clock) -> Office:
    return Office(store, clock)


class Posts:
    """Makes nodes that send."""

    def __init__(self, store: Store, clock: Clock, server: MailServer) -> None:
        self.smtp = Smtp("127.0.0.1", server.port, "none", sender="ai@example.com", timeout=5)
        self.hooks = Hooks()
        self.counted: list[tuple[str, str]] = []
        self._store, self._clock = store, clock
        self.made: list[Post] = []

    def __call__(self, **options: Any) -> Post:
        made = Post(
            self._store,
            lambda: self.smtp,
            options.pop("leads", lambda: True),
            webhooks=self.hooks,
            count=lambda kind, outcome: self.counted.append((kind, outcome)),
            clock=self._clock,
            **options,
        )
        self.made.append(made)
        return made


@pytest.fixture
async def posts(store: Store, clock: Clock, server: MailServer) -> AsyncIterator[Posts]:
    made = Posts(store, clock, server)
    yield made
    for one in made.made:
        await one.close()
    await made.hooks.aclose()


def addresses(server: MailServer) -> list[str]:
    return sorted(to for recipients, _ in server.got for to in recipients)


async def test_what_waits_is_sent_once_and_forgotten(
    office: Office, posts: Posts, server: MailServer
) -> None:
    office.mail("ann@b.nl", "bob@b.nl")
    office.post(Notice("webhook", "https://b.nl/in", "acct_1", "alert", "{}", "whsec_x"))
    office.post(Notice("webhook", "http://10.0.0.1/in", None, "alert", "[]"))
    sender = posts()
    assert await sender.round() == 4
    assert await sender.round() == 0
    assert addresses(server) == ["ann@b.nl", "bob@b.nl"]
    assert server.sessions == 1
    assert sorted(posts.hooks.sent) == [
        ("http://10.0.0.1/in", "[]", "", True),
        ("https://b.nl/in", "{}", "whsec_x", False),
    ]
    for row in office.rows():
        assert (row.body, row.secret, row.due_ms, row.sent_ms) == ("", None, None, NOON * 1000)
    assert sorted(posts.counted) == [("mail", "sent")] * 2 + [("webhook", "sent")] * 2
    assert sender.waiting == 0


async def test_two_nodes_at_once_send_each_once(
    office: Office, posts: Posts, server: MailServer
) -> None:
    people = [f"p{number}@b.nl" for number in range(3 * MOST)]
    office.mail(*people)

    async def all_of(sender: Post) -> None:
        while await sender.round():
            pass

    await asyncio.gather(*(all_of(posts()) for _ in range(3)))
    assert addresses(server) == sorted(people)


async def test_what_a_node_held_when_it_died_is_sent_by_another(
    office: Office, posts: Posts, server: MailServer, clock: Clock, store: Store
) -> None:
    office.mail("ann@b.nl")
    with store.write() as connection:  # all that is left of the one that died
        now = int(clock.now * 1000)
        assert outbox.claim(connection, now, now + LEASE_S * 1000, ["mail"], 1)
    sender = posts()
    assert await sender.round() == 0
    clock.now += LEASE_S
    assert await sender.round() == 1
    assert addresses(server) == ["ann@b.nl"]
    assert office.rows()[0].tries == 2


async def test_one_that_kills_its_sender_each_time_is_given_up(
    office: Office, posts: Posts, server: MailServer, clock: Clock, store: Store
) -> None:
    office.mail("ann@b.nl")
    for _ in range(len(RETRIES_S) + 1):
        with store.write() as connection:
            outbox.claim(connection, int(clock.now * 1000), int(clock.now * 1000), ["mail"], 1)
    assert await posts().round() == 1
    assert server.got == []
    assert "ended each time" in str(office.rows()[0].problem)
    assert office.rows()[0].due_ms is None


async def test_tries_are_further_and_further_apart_and_then_it_is_given_up(
    office: Office, posts: Posts, server: MailServer, clock: Clock
) -> None:
    server.refuses["ann@b.nl"] = "450 busy, ask postmaster@b.nl"
    office.mail("ann@b.nl")
    sender = posts()
    began = clock.now
    at = []
    with structlog.testing.capture_logs() as told:
        while (due := office.rows()[0].due_ms) is not None:
            clock.now = due / 1000
            at.append(clock.now - began)
            assert await sender.round() == 1
    assert at == [0, 60, 360, 2160, 9360, 30960]
    row = office.rows()[0]
    assert (row.sent_ms, row.body, row.tries) == (None, "", 6)
    assert str(row.problem).startswith("it says 450 busy")
    assert [line["event"] for line in told] == ["given up"]
    assert posts.counted == [("mail", "failed")] * 5 + [("mail", "given_up")]
    with sender._store.read() as connection:
        assert outbox.failed_since(connection, 0, 5)[0] == 1


async def test_what_is_refused_for_good_is_given_up_at_once_and_the_others_go(
    office: Office, posts: Posts, server: MailServer
) -> None:
    server.refuses["ann@b.nl"] = "550 no such user"
    office.mail("ann@b.nl", "no address", "bob@b.nl")
    office.post(*(Notice("webhook", f"https://{n}.nl", "acct_1", "a", "{}") for n in (1, 2)))
    posts.hooks.failures = [WebhookError("410", final=True), WebhookError("500")]
    await posts().round()
    found = {row.target: (row.due_ms, row.problem) for row in office.rows()}
    assert found["ann@b.nl"][0] is None
    assert found["no address"] == (None, "no usable address")
    assert addresses(server) == ["bob@b.nl"]
    hooks = sorted(str(found[f"https://{n}.nl"][1]) for n in (1, 2))
    assert hooks == ["410", "500"]
    assert sorted(posts.counted) == [
        ("mail", "given_up"),
        ("mail", "given_up"),
        ("mail", "sent"),
        ("webhook", "failed"),
        ("webhook", "given_up"),
    ]


async def test_a_server_that_is_away_costs_each_mail_a_try(
    office: Office, posts: Posts, server: MailServer, clock: Clock
) -> None:
    office.mail("ann@b.nl", "bob@b.nl")
    port, posts.smtp = server.port, Smtp("127.0.0.1", 1, "none", sender="a@b.nl", timeout=1)
    await posts().round()
    for row in office.rows():
        assert (row.tries, row.due_ms) == (1, (NOON + 60) * 1000)
    posts.smtp = Smtp("127.0.0.1", port, "none", sender="a@b.nl")
    clock.now += 60
    await posts().round()
    assert addresses(server) == ["ann@b.nl", "bob@b.nl"]


async def test_a_server_that_hangs_up_costs_only_one_mail_a_try(
    office: Office, posts: Posts, server: MailServer
) -> None:
    office.mail("ann@b.nl", "bob@b.nl")
    server.hang_up = 1
    sender = posts()
    await sender.round()
    assert sorted(row.tries for row in office.rows()) == [0, 1]
    await sender.round()
    assert len(server.got) == 1


async def test_a_password_is_not_repeated(office: Office, posts: Posts, server: MailServer) -> None:
    server.refuses["ann@b.nl"] = "550 not with hunter2-secret"
    posts.smtp = Smtp("127.0.0.1", server.port, "none", password="hunter2-secret", sender="a@b.nl")
    office.mail("ann@b.nl")
    await posts(redact=lambda text: text.replace("with", "-")).round()
    assert office.rows()[0].problem == "it says 550 not - …"


async def test_mails_wait_while_no_server_is_configured_and_webhooks_do_not(
    office: Office, posts: Posts
) -> None:
    office.mail("ann@b.nl")
    office.post(Notice("webhook", "https://b.nl", "acct_1", "a", "{}"))
    posts.smtp = Smtp()
    sender = posts()
    assert await sender.round() == 1
    assert sender.waiting == 1


async def test_old_rows_go_after_a_month(office: Office, posts: Posts, clock: Clock) -> None:
    office.mail("ann@b.nl")
    sender = posts()
    await sender.round()
    clock.now += KEPT_S
    await sender.round()
    assert len(office.rows()) == 1
    clock.now += 3601
    await sender.round()
    assert office.rows() == []


async def test_what_could_not_be_written_down_is_not_sent_again(
    office: Office, posts: Posts, server: MailServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.mail("ann@b.nl")
    sender = posts()

    def away(*_: object) -> None:
        raise StoreError("away")

    with monkeypatch.context() as patch:
        patch.setattr(outbox, "finish", away)
        assert await sender.round() == 1
        clock.now += LEASE_S
        assert await sender._guarded_round() == 0
        assert await sender._guarded_round() == 0
    assert await sender.round() == 0
    assert addresses(server) == ["ann@b.nl"]
    assert office.rows()[0].sent_ms is not None


async def test_a_server_that_says_nothing_does_not_hold_up_the_end(
    office: Office, posts: Posts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post_module, "_GRACE_S", 0.1)
    heard = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for said in (b"220 here\r\n", b"250 mail.test\r\n"):
            writer.write(said)
            await reader.readline()
        heard.set()  # whom it is from; says nothing to that
        await reader.read()
        writer.close()

    listening = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    posts.smtp = Smtp("127.0.0.1", port, "none", sender="ai@example.com", timeout=50)
    office.mail("ann@b.nl", "bob@b.nl")
    sender = posts()
    job = asyncio.create_task(sender.run())
    await asyncio.wait_for(heard.wait(), 10)
    job.cancel()
    async with asyncio.timeout(10):
        await sender.close()
        await until(lambda: sorted(row.tries for row in office.rows()) == [0, 1])
    listening.close()


async def test_only_the_node_that_leads_sends(
    office: Office, posts: Posts, server: MailServer
) -> None:
    leading = False
    job = asyncio.create_task(posts(leads=lambda: leading).run())
    await asyncio.sleep(0)
    office.mail("ann@b.nl")
    assert server.got == []
    job.cancel()
    leading = True
    job = asyncio.create_task(posts(leads=lambda: leading).run())
    await until(lambda: len(server.got) == 1)
    await until(lambda: office.rows()[0].due_ms is None)
    job.cancel()
