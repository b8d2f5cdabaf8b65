from dataclasses import replace

import msgspec

from tests.plan.made import fail, provider, route, served, succeed, table
from zurelay.chat.faults import FaultKind
from zurelay.plan.health import Health
from zurelay.plan.report import (
    IDLE,
    decoded,
    encoded,
    is_idle,
    marks,
    routes_of,
    shown,
    states_of,
)

FIRST = route(provider("a"))
SECOND = route(provider("b"))
TABLE = table(served("m", [FIRST, SECOND]), served("n", [FIRST]))


def hidden(text: str) -> str:
    return text.replace("words", "[hidden]")


def test_every_route_is_told_once_also_one_that_is_stopped() -> None:
    held = replace(served("m", [SECOND]), held=((FIRST, "route"),))
    assert [one.id for one in routes_of(table(held, served("n", [FIRST])))] == ["b:u", "a:u"]
    assert list(states_of(TABLE, Health(), 1.0)) == ["a:u", "b:u"]


def test_a_route_that_nobody_used_is_idle_and_shown_as_such() -> None:
    states = states_of(TABLE, Health(), 1.0)
    assert all(is_idle(one) for one in states.values())
    assert shown(states, hidden) == {"a:u": IDLE, "b:u": IDLE}


def test_whatever_happened_to_a_route_is_worth_telling() -> None:
    def of(health: Health, now: float) -> bool:
        return is_idle(health.snapshot(FIRST, now))

    health = Health()
    health.began(FIRST, 10.0)
    assert not of(health, 10.0)
    health.succeeded(FIRST, 11.0, 0.5)
    assert not of(health, 12.0)
    assert not of(health, 80.0), "it was tried in the last hour"
    assert of(health, 8000.0)
    resting = Health()
    resting.learn("a:u", 30.0, 10.0)
    assert not of(resting, 11.0)
    assert of(resting, 50.0)
    failed = Health()
    fail(failed, FIRST, FaultKind.SERVER_ERROR, 10.0)
    assert not of(failed, 8000.0), "its last error is told however old it is"


def test_what_travels_arrives_as_it_was_but_older() -> None:
    health = Health()
    succeed(health, FIRST, 10.0, first=0.25)
    health.began(FIRST, 10.0)
    fail(health, SECOND, FaultKind.RATE_LIMITED, 10.0, retry_after=30)
    told = shown(states_of(TABLE, health, 12.0), hidden)
    text = encoded(told)
    assert decoded(text) == told
    later = decoded(text, 5.0)
    assert later is not None
    assert later["a:u"] == told["a:u"]
    assert (told["b:u"].wait_s, later["b:u"].wait_s) == (28.0, 23.0)
    assert [error.age_s for error in later["b:u"].last_errors] == [7.0]
    assert [error.message for error in later["b:u"].last_errors] == ["[hidden]"]
    much_later = decoded(text, 500.0)
    assert much_later is not None
    assert much_later["b:u"].wait_s == 0.0


def test_the_longest_messages_are_cut_on_their_way() -> None:
    health = Health()
    fail(health, FIRST, FaultKind.SERVER_ERROR, 10.0)
    told = shown(states_of(TABLE, health, 12.0), lambda _: "é" * 1000)
    (error,) = (decoded(encoded(told)) or {})["a:u"].last_errors
    assert error.message == "é" * 300


def test_words_that_come_again_are_made_fit_to_be_shown_once() -> None:
    health = Health()
    for one in (FIRST, SECOND):
        fail(health, one, FaultKind.SERVER_ERROR, 10.0, times=3)
    asked: list[str] = []

    def redact(text: str) -> str:
        asked.append(text)
        return text.upper()

    told = shown(states_of(TABLE, health, 12.0), redact)
    assert asked == ["words"]
    assert [e.message for one in told.values() for e in one.last_errors] == ["WORDS"] * 6


def test_what_another_release_wrote_is_no_word_or_read_as_far_as_it_is_known() -> None:
    assert decoded('{"a:u": {"state": "closed", "colour": "red"}}') == {"a:u": IDLE}
    assert decoded('{"a:u": {"state": "asleep"}}') is None
    assert decoded("[]") is None
    assert decoded("") is None


def test_marks_change_when_something_happens_and_not_with_time() -> None:
    health = Health()
    succeed(health, FIRST, 10.0)
    fail(health, SECOND, FaultKind.RATE_LIMITED, 10.0, retry_after=300)

    def of(now: float) -> object:
        states = states_of(TABLE, health, now)
        return marks({id_: (one, now) for id_, one in states.items()})

    before = of(12.25)
    assert of(12.75) == of(30.5) == of(60.25) == before
    health.began(FIRST, 61.0)
    assert of(61.5) != before
    health.neutral(FIRST)
    assert of(62.0) == before
    fail(health, SECOND, FaultKind.RATE_LIMITED, 63.0, retry_after=500)
    assert of(64.0) != before


def test_an_idle_route_takes_no_room() -> None:
    assert encoded({"a:u": IDLE}) == '{"a:u":{}}'
    assert msgspec.json.decode(encoded({})) == {}
