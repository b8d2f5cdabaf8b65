from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import structlog

from tests.mail_server import MailServer, mail_server
from tests.store.rows import Clock
from zurelay.app.alarm import MOST_TRIES, Alarm
from zurelay.app.webhooks import WebhookError, Webhooks
from zurelay.config.alerts import Alerts
from zurelay.config.smtp import Smtp
from zurelay.office.desk import Desk, Letterhead
from zurelay.store.engine import open_store

NOON = 1_795_953_600.0
HOOK = "http://10.0.0.7/in"
HEAD = Letterhead("https://ai.example.com", "Acme", "")


class Hooks(Webhooks):
    """Notes what it is to send; fails as often as told."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str, str]] = []
        self.failures: list[WebhookError] = []

    async def send(
        self, id_: str, url: str, body: str, secret: str, now: float, *, inside: bool
    ) -> None:
        assert inside
        assert url == HOOK
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append((id_, msgspec.json.decode(body)["type"], secret))


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


@pytest.fixture
async def alarm(
    tmp_path: Path, clock: Clock, hooks: Hooks, server: MailServer
) -> AsyncIterator[Alarm]:
    store = open_store(tmp_path)
    store.close()  # nothing may ask it
    desk = replace(Desk(store, clock), letters=lambda: HEAD)
    smtp = Smtp("127.0.0.1", server.port, "none", "", "", "ai@example.com")
    alerts = Alerts(("ops@example.com",), HOOK, "whsec_YWJj")
    made = Alarm(desk, "n1", lambda: alerts, lambda: smtp, hooks)
    yield made
    await made.close()


async def test_five_minutes_without_a_database_are_told_once_and_so_is_the_end(
    alarm: Alarm, clock: Clock, hooks: Hooks, server: MailServer
) -> None:
    await alarm.look(None)
    clock.now += 299
    await alarm.look(NOON)
    assert hooks.sent == []
    clock.now += 1
    await alarm.look(NOON)
    await alarm.look(NOON)
    assert [(name, secret) for _, name, secret in hooks.sent] == [("alert.raised", "whsec_YWJj")]
    clock.now += 60
    await alarm.look(None)
    await alarm.look(None)
    assert [name for _, name, _ in hooks.sent] == ["alert.raised", "alert.ended"]
    (begun, over) = [mail for _, mail in server.got]
    assert begun["Subject"] == "Alert: Node n1 cannot reach its database."
    assert over["Subject"] == "Over: Node n1 cannot reach its database."


async def test_a_database_that_is_back_soon_is_not_told(
    alarm: Alarm, clock: Clock, hooks: Hooks, server: MailServer
) -> None:
    await alarm.look(NOON)
    clock.now += 200
    await alarm.look(None)
    assert (hooks.sent, server.got) == ([], [])


async def test_what_is_not_taken_is_tried_again_but_not_for_ever(
    alarm: Alarm, clock: Clock, hooks: Hooks, server: MailServer
) -> None:
    hooks.failures = [WebhookError("away")]
    server.answers = ["451 later"]
    clock.now += 300
    await alarm.look(NOON)
    assert (hooks.sent, server.got) == ([], [])
    await alarm.look(NOON)
    assert (len(hooks.sent), len(server.got)) == (1, 1)
    hooks.failures = [WebhookError("away") for _ in range(MOST_TRIES)]
    with structlog.testing.capture_logs() as logged:
        for _ in range(MOST_TRIES + 5):
            await alarm.look(None)
    assert len(hooks.sent) == 1
    assert [line["given_up"] for line in logged] == [False, True]
    hooks.failures = [WebhookError("gone", final=True)]
    await alarm.look(NOON)
    await alarm.look(NOON)
    assert len(hooks.sent) == 1
