from tests.store.rows import Clock
from zurelay.console import throttle
from zurelay.console.throttle import TRIES, WINDOW_S, Throttle


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


def test_one_person_tried_from_many_places_is_protected() -> None:
    tries = Throttle(Clock(0.0))
    for number in range(TRIES["email"]):
        tries.failed("ann@example.com", f"1.1.1.{number}")
    assert tries.wait("ann@example.com", "9.9.9.9") > 0


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
