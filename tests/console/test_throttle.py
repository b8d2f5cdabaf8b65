"""Sign-ins are slowed down: by one process alone, and by several over one store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tests.store.rows import Clock
from zurelay.console import throttle
from zurelay.console.throttle import TRIES, WINDOW_S, Throttle
from zurelay.office.desk import Desk
from zurelay.office.failures import Failures
from zurelay.store import schema
from zurelay.store.engine import open_store


def test_after_some_failures_one_waits_until_the_window_has_passed() -> None:
    clock = Clock(1000.0)
    tries = Throttle(clock)
    for _ in range(TRIES["pair"]):
        assert tries.wait("ann@example.com", "1.1.1.1") == 0
        tries.failed("Ann@example.com ", "1.1.1.1")
        clock.now += 10
    assert tries.wait("ann@example.com", "1.1.1.1") == int(WINDOW_S) - 10 * TRIES["pair"]
    assert tries.wait("ann@example.com", "2.2.2.2") == 0
    assert tries.wait("bob@example.com", "1.1.1.1") == 0
    clock.now += WINDOW_S
    assert tries.wait("ann@example.com", "1.1.1.1") == 0


def test_one_place_that_tries_many_people_waits() -> None:
    tries = Throttle(Clock(0.0))
    for number in range(TRIES["ip"]):
        tries.failed(f"{number}@example.com", "1.1.1.1")
    assert tries.wait("new@example.com", "1.1.1.1") > 0
    assert tries.wait("new@example.com", "2.2.2.2") == 0


def test_what_is_counted_apart_keeps_nobody_from_signing_in() -> None:
    tries = Throttle(Clock(0.0))
    for number in range(TRIES["ip"]):
        tries.failed(f"{number}@example.com", "2001:db8::1", "forgot:")
    assert tries.wait("new@example.com", "2001:db8::2", "forgot:") > 0
    assert tries.wait("0@example.com", "2001:db8::1") == 0


def test_one_person_tried_from_many_places_is_protected() -> None:
    tries = Throttle(Clock(0.0))
    for number in range(TRIES["email"]):
        tries.failed("ann@example.com", f"1.1.1.{number}")
    assert tries.wait("ann@example.com", "9.9.9.9") > 0


def test_all_addresses_of_a_network_are_one_place() -> None:
    tries = Throttle(Clock(0.0))
    for number in range(TRIES["ip"]):
        tries.failed(f"{number}@example.com", f"2001:db8::{number:x}")
    assert tries.wait("new@example.com", "2001:db8::ffff:1") > 0
    assert tries.wait("new@example.com", "2001:db8:0:1::1") == 0
    for number in range(TRIES["pair"]):
        tries.failed("ann@example.com", "::ffff:1.2.3.4" if number % 2 else "1.2.3.4")
    assert tries.wait("ann@example.com", "1.2.3.4") > 0


def test_a_success_forgets_this_place_for_this_person() -> None:
    tries = Throttle(Clock(0.0))
    for _ in range(TRIES["pair"]):
        tries.failed("ann@example.com", "1.1.1.1")
    tries.succeeded("ann@example.com", "1.1.1.1")
    assert tries.wait("ann@example.com", "1.1.1.1") == 0


def test_memory_is_bounded() -> None:
    tries = Throttle(Clock(0.0))
    for number in range(throttle._MOST_KNOWN):
        tries.failed(f"{number}@example.com", f"{number}")
    assert len(tries._failures) == throttle._MOST_KNOWN


@pytest.fixture
def desk(tmp_path: Path, store_url: str) -> Iterator[Desk]:
    store = open_store(tmp_path / "data", store_url)
    yield Desk(store, Clock(10_000.0))
    store.close()


def rows(desk: Desk) -> int:
    with desk.store.read() as connection:
        query = select(func.count()).select_from(schema.sign_in_failure)
        return int(connection.execute(query).scalar_one())


def test_processes_that_share_a_store_count_together(desk: Desk) -> None:
    clock = desk.clock
    assert isinstance(clock, Clock)
    one, two = (Throttle(Clock(at), Failures(desk)) for at in (0.0, 77.0))
    for number in range(TRIES["pair"]):
        assert one.wait("ann@example.com", "1.1.1.1") == 0
        (one, two)[number % 2].failed("ann@example.com", "1.1.1.1")
        clock.now += 1
    for tries in (one, two):
        assert tries.wait("Ann@example.com", "1.1.1.1") == WINDOW_S - TRIES["pair"]
        assert tries.wait("ann@example.com", "2.2.2.2") == 0
    two.succeeded("ann@example.com", "1.1.1.1")
    assert one.wait("ann@example.com", "1.1.1.1") == 0
    clock.now += WINDOW_S
    assert two.wait("ann@example.com", "1.1.1.1") == 0


def test_places_and_people_are_counted_over_all_processes_too(desk: Desk) -> None:
    one, two = (Throttle(Clock(), Failures(desk)) for _ in range(2))
    for number in range(TRIES["ip"]):
        (one, two)[number % 2].failed(f"{number}@example.com", "1.1.1.1")
    assert one.wait("new@example.com", "1.1.1.1") > 0
    assert two.wait("new@example.com", "1.1.1.1") > 0
    assert two.wait("new@example.com", "3.3.3.3") == 0


def test_asking_writes_nothing(desk: Desk) -> None:
    tries = Throttle(Clock(), Failures(desk))
    for _ in range(TRIES["pair"]):
        tries.failed("ann@example.com", "1.1.1.1")
    before = rows(desk)
    for _ in range(20):
        assert tries.wait("ann@example.com", "1.1.1.1") > 0
    assert rows(desk) == before == 3 * TRIES["pair"]


def test_while_the_store_is_away_each_counts_by_itself(tmp_path: Path) -> None:
    clock = Clock(0.0)
    store = open_store(tmp_path / "data")
    tries = Throttle(clock, Failures(Desk(store)))
    with store.write() as connection:
        connection.exec_driver_sql("ALTER TABLE sign_in_failure RENAME TO away")
    for _ in range(TRIES["pair"]):
        assert tries.wait("ann@example.com", "1.1.1.1") == 0
        tries.failed("ann@example.com", "1.1.1.1")
    assert tries.wait("ann@example.com", "1.1.1.1") == WINDOW_S
    with store.write() as connection:
        connection.exec_driver_sql("ALTER TABLE away RENAME TO sign_in_failure")
    assert tries.wait("ann@example.com", "1.1.1.1") == WINDOW_S
    clock.now += WINDOW_S
    assert tries.wait("ann@example.com", "1.1.1.1") == 0
    store.close()
