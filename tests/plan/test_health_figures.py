"""Last resorts, capacity, and what operators and the order of routes are told of a route."""

import pytest

from tests.plan.made import fail, provider, route, succeed
from zurelay.chat.faults import Fault, FaultKind
from zurelay.plan.health import Health, Verdict
from zurelay.plan.route import Route

A = route("p", "a")
SIBLING = route("p", "b")
ELSEWHERE = route("q", "a")
GO = Verdict(go=True)
OPEN = Verdict(go=False, reason="open")


# Last resorts.


def cut_off(*routes: Route) -> Health:
    health = Health()
    for each in routes:
        fail(health, each, FaultKind.SERVER_ERROR, times=10)
    return health


def test_few_requests_try_a_route_that_is_cut_off() -> None:
    health = cut_off(A)
    granted = [health.may_try(A, 1.0, forced=True).go for _ in range(10)]
    assert granted == [True] * 3 + [False] * 7
    assert health.may_try(A, 10.9, forced=True) == OPEN
    assert health.may_try(A, 11.0, forced=True) == GO


def test_under_load_one_in_twenty_tries_it() -> None:
    health = cut_off(A)
    assert sum(health.may_try(A, 1.0, forced=True).go for _ in range(1000)) == 50


def test_a_last_resort_that_succeeds_closes_the_breaker() -> None:
    health = cut_off(A)
    assert health.may_try(A, 1.0, forced=True).go
    succeed(health, A, 2.0)
    assert health.may_try(A, 2.0) == GO


def test_looking_at_a_route_takes_no_last_resort() -> None:
    health = cut_off(A)
    for _ in range(100):
        health.is_up(A, 1.0)
        health.may_try(A, 1.0)
        health.least_bad([A], 1.0)
    assert health.may_try(A, 1.0, forced=True).go


def test_the_least_bad_has_a_credential_then_the_best_rate_then_the_shortest_wait() -> None:
    health = cut_off(A, ELSEWHERE)
    succeed(health, ELSEWHERE, 1.0)
    assert health.least_bad([A, ELSEWHERE], 2.0) is ELSEWHERE
    fail(health, ELSEWHERE, FaultKind.OUT_OF_CREDIT, 2.0)
    assert health.least_bad([A, ELSEWHERE], 2.0) is A
    later = cut_off(A)
    fail(later, ELSEWHERE, FaultKind.SERVER_ERROR, 5.0, times=10)
    assert later.least_bad([ELSEWHERE, A], 6.0) is A


def test_a_route_that_may_be_tried_is_no_last_resort() -> None:
    assert cut_off(A).least_bad([A, ELSEWHERE], 1.0) is A
    assert Health().least_bad([A], 0.0) is None
    assert Health().least_bad([], 0.0) is None


# Capacity and figures.


def test_a_full_provider_takes_no_more() -> None:
    health = Health()
    busy = provider("p", most=2)
    one, two = route(busy, "a"), route(busy, "b")
    health.began(one, 0.0)
    assert health.load(two) == 0.5
    health.began(two, 0.0)
    assert health.may_try(one, 0.0) == Verdict(go=False, reason="full")
    assert health.least_bad([one], 0.0) is None
    health.neutral(two)
    assert health.may_try(one, 0.0) == GO
    assert health.load(route("q")) == 0.0


def test_attempts_under_way_survive_a_reload() -> None:
    health = Health()
    old, new = route(provider("p", most=2), "a"), route(provider("p", keys=("n",), most=2), "a")
    health.began(old, 0.0)
    health.began(new, 0.0)
    assert not health.may_try(new, 0.0).go
    health.succeeded(old, 0.0)
    assert health.snapshot(new, 0.0).in_flight == 1


def test_an_attempt_that_ends_twice_does_not_make_the_count_negative() -> None:
    health = Health()
    health.neutral(A)
    health.began(A, 0.0)
    assert health.snapshot(A, 0.0).in_flight == 1


def test_figures_need_samples() -> None:
    health = Health()
    for count in range(1, 12):
        assert health.first_token(A) == (None if count <= 5 else 2.0)
        assert health.success_rate(A, 0.0) == (None if count <= 10 else 1.0)
        succeed(health, A, first=2.0)
    fail(health, A, FaultKind.SERVER_ERROR)
    assert health.success_rate(A, 0.0) == pytest.approx(11 / 12)
    assert health.success_rate(A, 61.0) is None


def test_a_hedge_needs_fifty_samples_of_the_same_size() -> None:
    health = Health()
    for _ in range(49):
        health.succeeded(A, 0.0, 2.0, input_tokens=100)
    health.succeeded(A, 0.0, 2.0, input_tokens=50_000)
    assert health.hedge_after(A, 100) is None
    health.succeeded(A, 0.0, 3.0, input_tokens=100)
    assert health.hedge_after(A, 1_999) == 2.0
    assert health.hedge_after(A, 2_000) is None


def test_operators_see_a_routes_state_figures_and_last_errors() -> None:
    health = Health()
    fresh = health.snapshot(A, 0.0)
    assert (fresh.state, fresh.cause, fresh.wait, fresh.samples) == ("closed", None, 0.0, 0)
    assert (fresh.success_rate, fresh.first_token_p50, fresh.first_token_p95) == (None, None, None)
    succeed(health, A, first=2.0)
    fail(health, A, FaultKind.EMPTY, 1.0)
    health.began(A, 1.0)
    seen = health.snapshot(A, 3.0)
    assert (seen.samples, seen.success_rate, seen.in_flight) == (2, 0.5, 1)
    assert (seen.first_token_p50, seen.first_token_p95) == (2.0, 2.0)
    assert [(e.ago, e.fault.kind) for e in seen.errors] == [(2.0, FaultKind.EMPTY)]


@pytest.mark.parametrize(
    ("kind", "times", "cause", "opens_s"),
    [
        (FaultKind.SERVER_ERROR, 10, "route", 15.0),
        (FaultKind.CONNECT, 3, "connection", 5.0),
        (FaultKind.REFUSED_CREDENTIAL, 1, "credential", 30.0),
    ],
)
def test_operators_see_why_a_route_is_cut_off(
    kind: FaultKind, times: int, cause: str, opens_s: float
) -> None:
    health = Health()
    fail(health, A, kind, times=times)
    seen = health.snapshot(A, 1.0)
    assert (seen.state, seen.cause, seen.wait) == ("open", cause, opens_s - 1)
    seen = health.snapshot(A, opens_s)
    assert (seen.state, seen.cause, seen.wait) == ("half_open", cause, 0.0)
    fail(health, A, FaultKind.RATE_LIMITED, opens_s, retry_after=9.0)
    seen = health.snapshot(A, opens_s)
    assert (seen.state, seen.cause, seen.wait) == ("resting", None, 9.0)


def test_few_errors_are_kept_and_their_words_cut() -> None:
    health = Health()
    for number in range(9):
        health.failed(A, Fault(FaultKind.EMPTY, f"{number}" * 5000), float(number))
    errors = health.snapshot(A, 8.0).errors
    assert [e.fault.message[0] for e in errors] == ["8", "7", "6", "5", "4"]
    assert {len(e.fault.message) for e in errors} == {1000}
