import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import structlog

from tests.office.people import NOON
from tests.office.spending import spend
from tests.store.rows import Clock, a_key, with_account
from zurelay.access.accounts import Budget
from zurelay.app.alarm import Alarm
from zurelay.app.watch import Machine, Watch
from zurelay.config.alerts import Alerts
from zurelay.office import watching
from zurelay.office.desk import Desk
from zurelay.office.watching import Sighting
from zurelay.store.alerts import Alert, list_alerts, open_of_operators
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.keys import add_key
from zurelay.store.outbox import claim

HOOK = "http://10.0.0.7/in"
DOWN = Sighting("route_down", "p:a", {"route": "p:a", "model": "a"})


class Node:
    """A node's watch, what it sees, and whether it leads."""

    def __init__(self, desk: Desk, name: str, data: Path) -> None:
        self.seen: list[Sighting] = []
        self.leads = False
        self.alerts = Alerts(webhook=HOOK, disk_percent=100, clock_s=3600)
        self.watch = Watch(
            desk, Machine(name, data), lambda: self.alerts, lambda: self.seen, lambda: self.leads
        )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(NOON)
    monkeypatch.setattr(watching, "database_time", lambda _: clock.now)
    return clock


@pytest.fixture
async def nodes(tmp_path: Path, store_url: str, clock: Clock) -> AsyncIterator[list[Node]]:
    """Two, of which the first leads."""
    store = with_account(open_store(tmp_path, store_url))
    found = [Node(Desk(store, clock), f"n{number}", tmp_path) for number in (1, 2)]
    found[0].leads = True
    yield found
    for one in found:
        await one.watch.close()
        await one.watch.close()
    store.close()


def store_of(node: Node) -> Store:
    return node.watch._desk.store


def holding(node: Node) -> list[Alert]:
    with store_of(node).read() as connection:
        return open_of_operators(connection)


def told(node: Node) -> list[str]:
    """The names of what waits for the webhook."""
    with store_of(node).write() as connection:
        now = int(NOON * 1000) * 2
        found = claim(connection, now, now + 1, ["webhook"], 100)
        assert all(one.account is None and one.target == HOOK for one in found)
        return [msgspec.json.decode(one.body)["type"] for one in found]


async def rounds(clock: Clock, nodes: list[Node], many: int) -> None:
    for _ in range(many):
        clock.now += 30
        await asyncio.gather(*(one.watch.round() for one in nodes))


async def test_two_nodes_raise_it_once_and_it_ends_when_neither_sees_it(
    nodes: list[Node], clock: Clock
) -> None:
    one, two = nodes
    one.seen, two.seen = [DOWN], [DOWN]
    await rounds(clock, nodes, 2)
    (alert,) = holding(one)
    assert (alert.kind, alert.subject) == ("route_down", "route_down:p:a")
    assert one.watch.open == two.watch.open == {"route_down": 1}
    one.seen = []
    await rounds(clock, nodes, 6)
    assert len(holding(one)) == 1  # the other sees it still
    two.seen = []
    await rounds(clock, nodes, 5)
    assert holding(one) == []
    assert one.watch.open == {}
    assert told(one) == ["alert.raised", "alert.ended"]
    one.seen = [DOWN]
    await rounds(clock, nodes, 1)
    assert told(one) == ["alert.raised"]


async def test_who_has_just_begun_to_lead_ends_nothing_yet(nodes: list[Node], clock: Clock) -> None:
    one, two = nodes
    two.seen = [DOWN]
    await rounds(clock, [two], 1)
    clock.now += 3600  # the database was away
    await one.watch.round()
    assert len(holding(one)) == 1


async def test_a_round_that_fails_is_not_the_last(
    nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.app.watch.ROUND_S", 0.0)
    rounds_, done = 0, asyncio.Event()

    def look() -> list[Sighting]:
        nonlocal rounds_
        rounds_ += 1
        if rounds_ == 2:
            done.set()
        raise RuntimeError("whatever it is")

    monkeypatch.setattr(nodes[0].watch, "_look", look)
    running = asyncio.create_task(nodes[0].watch.run())
    waiting = asyncio.create_task(done.wait())
    with structlog.testing.capture_logs() as logs:
        await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    assert not running.done()
    assert logs[0]["event"] == "a round of the watch failed"
    running.cancel()


class SlowAlarm(Alarm):
    """One whose servers do not answer."""

    def __init__(self) -> None:
        self.looks: list[float | None] = []
        self.ends = asyncio.Event()

    async def look(self, since: float | None) -> None:
        self.looks.append(since)
        await self.ends.wait()
        raise RuntimeError("whatever it is")

    async def close(self) -> None:
        """Nothing to close."""


async def test_servers_that_do_not_answer_keep_no_node_from_looking(
    nodes: list[Node], clock: Clock
) -> None:
    one, alarm = nodes[0], SlowAlarm()
    one.watch._alarm = alarm
    one.seen = [DOWN]
    await rounds(clock, [one], 3)
    assert alarm.looks == [None]
    assert holding(one)[0].seen_ms == int(clock.now * 1000)
    with structlog.testing.capture_logs() as logs:
        alarm.ends.set()
        assert one.watch._telling is not None
        await asyncio.wait([one.watch._telling])
    assert [line["event"] for line in logs] == ["operators could not be told"]
    alarm.ends.clear()
    await rounds(clock, [one], 1)
    assert len(alarm.looks) == 2
    await one.watch.close()  # also while it tells


async def test_the_node_that_leads_looks_at_budgets(nodes: list[Node], clock: Clock) -> None:
    one, two = nodes
    key = a_key(budget=Budget(10**9, "month"))
    with store_of(one).write() as connection:
        add_key(connection, key)
    spend(one.watch._desk, key, str(8 * 10**8))

    def kinds() -> list[str]:
        with store_of(one).read() as connection:
            return [alert.kind for alert in list_alerts(connection, None, 0, limit=9)]

    await rounds(clock, [two], 1)
    assert kinds() == []
    await rounds(clock, [one, two], 2)
    assert kinds().count("budget") == 1


async def test_a_full_disk_is_an_alert_of_the_machine(nodes: list[Node], clock: Clock) -> None:
    one = nodes[0]
    usage = shutil.disk_usage(one.watch._machine.data)
    one.alerts = Alerts(disk_percent=max(1, usage.used * 100 // (usage.used + usage.free)))
    await rounds(clock, [one], 1)
    assert [alert.subject for alert in holding(one)] == ["disk:n1"]


async def test_what_goes_wrong_in_a_round_does_not_end_the_watch(
    nodes: list[Node], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = nodes[0]
    one.seen = [DOWN]
    with monkeypatch.context() as broken, structlog.testing.capture_logs() as logged:
        broken.setattr(watching, "raise_seen", lambda *_: 1 / 0)
        await rounds(clock, [one], 1)
    assert [line["event"] for line in logged] == ["a round of the watch failed"]
    await rounds(clock, [one], 1)
    assert len(holding(one)) == 1
    assert one.watch._away_since is None


async def test_a_store_that_does_not_answer_is_told_once_and_tried_again(
    nodes: list[Node], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreError("it is away")

    one = nodes[0]
    one.seen = [DOWN]
    with monkeypatch.context() as broken, structlog.testing.capture_logs() as logged:
        broken.setattr(watching, "raise_seen", away)
        await rounds(clock, [one], 2)
    assert [line["error"] for line in logged] == ["it is away"]
    assert one.watch._away_since == NOON + 30
    await rounds(clock, [one], 1)
    assert len(holding(one)) == 1
    assert one.watch._away_since is None
