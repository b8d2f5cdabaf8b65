"""What a fault means for a route, its provider and its origin, and for how long."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plan.made import fail, fault, provider, route, succeed
from zurelay.chat.faults import FaultKind
from zurelay.plan.health import Health, Verdict
from zurelay.plan.route import Route
from zurelay.providers.base import AwsCredential, Kind, Provider

A = route("p", "a")
SIBLING = route("p", "b")
ELSEWHERE = route("q", "a")
GO = Verdict(go=True)
OPEN = Verdict(go=False, reason="open")


def test_an_unknown_route_may_be_tried() -> None:
    assert Health().may_try(A, 0.0) == GO
    assert Health().is_up(A, 0.0)


def test_a_route_is_closed_until_something_cuts_it_off_and_open_however_long_nobody_tries() -> None:
    health = Health()
    assert health.is_closed(A, 0.0)
    fail(health, A, FaultKind.MODEL_MISSING, 1.0)
    assert not health.is_closed(A, 2.0)
    assert not health.is_closed(A, 5000.0)
    assert health.is_closed(SIBLING, 2.0)
    health.may_try(A, 5000.0)
    succeed(health, A, 5000.0)
    assert health.is_closed(A, 5001.0)


# Retry-After.


def test_a_retry_after_rests_the_route_until_its_time_and_no_other() -> None:
    health = Health()
    fail(health, A, FaultKind.RATE_LIMITED, 100.0, retry_after=3.0)
    assert health.may_try(A, 101.0) == Verdict(go=False, wait=2.0, reason="rest")
    assert health.may_try(A, 103.0) == GO
    assert health.may_try(SIBLING, 101.0) == GO
    assert health.may_try(ELSEWHERE, 101.0) == GO


def test_a_retry_after_counts_with_whatever_fault_it_comes() -> None:
    health = Health()
    fail(health, A, FaultKind.OVERLOADED, retry_after=3.0)
    assert health.may_try(A, 1.0).wait == 2.0


def test_a_rest_is_never_shortened_by_a_later_answer_and_never_longer_than_15_minutes() -> None:
    health = Health()
    fail(health, A, FaultKind.RATE_LIMITED, retry_after=60.0)
    fail(health, A, FaultKind.RATE_LIMITED, retry_after=1.0)
    succeed(health, A, 2.0)
    assert health.may_try(A, 2.0).wait == 58.0
    fail(health, A, FaultKind.RATE_LIMITED, retry_after=86_400.0)
    assert health.may_try(A, 0.0).wait == 900.0


def test_a_resting_route_is_not_called_even_as_a_last_resort_or_an_only_route() -> None:
    health = Health()
    fail(health, A, FaultKind.RATE_LIMITED, retry_after=60.0)
    assert health.may_try(A, 1.0, only=True, forced=True).wait == 59.0
    assert health.least_bad([A], 1.0) is None


def test_rate_limits_that_say_when_do_not_open_the_breaker_others_do() -> None:
    health = Health()
    fail(health, A, FaultKind.RATE_LIMITED, times=20, retry_after=1.0)
    assert health.may_try(A, 1.0) == GO
    fail(health, A, FaultKind.RATE_LIMITED, 1.0, times=10)
    assert health.may_try(A, 1.0) == OPEN


# Credentials.


@pytest.mark.parametrize("kind", [FaultKind.REFUSED_CREDENTIAL, FaultKind.OUT_OF_CREDIT])
def test_a_refused_credential_cuts_the_whole_provider_off_at_once(kind: FaultKind) -> None:
    health = Health()
    fail(health, A, kind)
    assert health.may_try(A, 1.0) == OPEN
    assert health.may_try(SIBLING, 1.0) == OPEN
    assert health.may_try(SIBLING, 1.0, only=True) == OPEN
    assert health.may_try(ELSEWHERE, 1.0) == GO
    probe = health.may_try(SIBLING, 30.0)
    assert probe == Verdict(go=True, probe_deadline=10.0)
    health.began(SIBLING, 30.0)
    assert health.may_try(A, 30.0) == OPEN
    health.succeeded(SIBLING, 31.0)
    assert health.may_try(A, 31.0) == GO


def test_a_new_credential_starts_anew() -> None:
    health = Health()
    fail(health, A, FaultKind.REFUSED_CREDENTIAL)
    renewed = route(provider("p", keys=("new",)), "a")
    assert health.may_try(renewed, 1.0) == GO
    same = route(provider("q", keys=("k",)), "a")
    fail(health, ELSEWHERE, FaultKind.REFUSED_CREDENTIAL)
    assert health.may_try(same, 1.0) == OPEN


def test_other_keys_to_sign_with_start_anew_too() -> None:
    def signing(secret: str) -> Route:
        aws = AwsCredential("AKID", secret, "us-east-1")
        return route(replace(provider("s", keys=()), aws=aws), "a")

    health = Health()
    fail(health, signing("old"), FaultKind.REFUSED_CREDENTIAL)
    assert health.may_try(signing("old"), 1.0) == OPEN
    assert health.may_try(signing("new"), 1.0) == GO


# Connections.


def test_three_failed_connections_in_a_row_cut_the_origin_off() -> None:
    health = Health()
    neighbour = route(provider("r", "https://p.example/other"), "x")
    fail(health, A, FaultKind.CONNECT, times=2)
    assert health.may_try(A, 0.0) == GO
    fail(health, A, FaultKind.CONNECT)
    assert health.may_try(A, 1.0) == OPEN
    assert health.may_try(A, 1.0, only=True) == OPEN
    assert health.may_try(neighbour, 1.0) == OPEN
    assert health.may_try(ELSEWHERE, 1.0) == GO
    assert health.may_try(A, 5.0).probe_deadline == 10.0


def test_an_answer_of_any_kind_between_them_shows_that_connections_succeed() -> None:
    health = Health()
    for _ in range(5):
        fail(health, A, FaultKind.CONNECT, times=2)
        fail(health, A, FaultKind.SERVER_ERROR)
        fail(health, A, FaultKind.CONNECT, times=2)
        succeed(health, A)
    assert health.may_try(A, 0.0).go


def test_a_half_open_origin_is_closed_by_an_error_answer_and_opened_by_one_failed_connection() -> (
    None
):
    health = Health()
    fail(health, A, FaultKind.CONNECT, times=3)
    fail(health, A, FaultKind.SERVER_ERROR, 5.0)
    assert health.may_try(A, 5.0) == GO
    fail(health, A, FaultKind.CONNECT, 6.0, times=3)
    fail(health, A, FaultKind.CONNECT, 16.0)
    assert health.may_try(A, 16.0) == OPEN


def test_an_answer_that_began_before_an_origin_was_cut_off_does_not_spare_its_probe() -> None:
    health = Health()
    health.began(A, 0.0)
    fail(health, SIBLING, FaultKind.CONNECT, times=3)
    health.succeeded(A, 1.0, 1.0, "account")
    assert health.may_try(A, 1.0) == OPEN
    fail(health, A, FaultKind.CONNECT, 5.0)
    assert health.may_try(A, 6.0) == OPEN
    assert health.may_try(A, 15.0).go


def test_an_address_that_was_changed_starts_anew() -> None:
    health = Health()
    fail(health, A, FaultKind.CONNECT, times=3)
    moved = route(provider("p", "https://elsewhere.example/v1"), "a")
    assert health.may_try(moved, 1.0) == GO


# The route's own failures.

OWN = [
    FaultKind.TIMEOUT,
    FaultKind.OVERLOADED,
    FaultKind.SERVER_ERROR,
    FaultKind.MODEL_FAULT,
    FaultKind.BAD_ANSWER,
    FaultKind.BROKE_OFF,
    FaultKind.EMPTY,
]


@pytest.mark.parametrize("kind", OWN)
def test_ten_failures_open_the_route_alone(kind: FaultKind) -> None:
    health = Health()
    fail(health, A, kind, times=9)
    assert health.may_try(A, 0.0) == GO
    fail(health, A, kind)
    assert health.may_try(A, 1.0) == OPEN
    assert not health.is_up(A, 1.0)
    assert health.may_try(SIBLING, 1.0) == GO


def test_a_missing_model_opens_the_route_at_once() -> None:
    health = Health()
    fail(health, A, FaultKind.MODEL_MISSING)
    assert health.may_try(A, 1.0) == OPEN
    assert health.may_try(SIBLING, 1.0) == GO


@pytest.mark.parametrize("kind", [*OWN, FaultKind.MODEL_MISSING])
def test_a_models_only_route_never_opens_for_its_own_failures(kind: FaultKind) -> None:
    health = Health()
    fail(health, A, kind, times=30)
    assert health.may_try(A, 1.0, only=True) == GO


def test_one_probe_at_half_open_decides() -> None:
    health = Health()
    fail(health, A, FaultKind.SERVER_ERROR, times=10)
    assert health.may_try(A, 15.0).go
    health.began(A, 15.0)
    assert health.may_try(A, 15.0) == OPEN
    health.failed(A, fault(FaultKind.TIMEOUT), 16.0, "account")
    assert health.may_try(A, 45.0) == OPEN
    health.began(A, 46.0)
    health.succeeded(A, 47.0, 1.0, "account")
    assert health.may_try(A, 47.0) == GO


def test_a_failed_probe_opens_the_route_again_though_its_old_failures_are_forgotten() -> None:
    health = Health()
    fail(health, A, FaultKind.SERVER_ERROR, times=10)
    fail(health, A, FaultKind.SERVER_ERROR, 100.0)
    assert health.may_try(A, 129.0) == OPEN
    assert health.may_try(A, 130.0).go


def test_a_first_token_is_enough_for_a_probe() -> None:
    health = Health()
    fail(health, A, FaultKind.SERVER_ERROR, times=10)
    health.began(A, 15.0)
    health.spoke(A, 16.0)
    assert health.may_try(A, 16.0) == GO


@pytest.mark.parametrize(
    "kind", [FaultKind.REJECTED, FaultKind.CONTEXT_OVERFLOW, FaultKind.CONTENT_POLICY]
)
def test_the_requests_own_faults_mark_nothing_down_and_free_the_probe(kind: FaultKind) -> None:
    health = Health()
    fail(health, A, kind, times=30)
    assert health.may_try(A, 0.0) == GO
    assert health.snapshot(A, 0.0).errors == ()
    fail(health, A, FaultKind.SERVER_ERROR, times=10)
    fail(health, A, kind, 15.0)
    assert health.may_try(A, 15.0).go


def test_a_cancelled_probe_makes_room_for_another() -> None:
    health = Health()
    fail(health, A, FaultKind.SERVER_ERROR, times=10)
    health.began(A, 15.0)
    health.neutral(A)
    assert health.may_try(A, 15.0).go


@pytest.mark.parametrize(
    ("kind", "retry_after"),
    [
        (FaultKind.CONNECT, None),
        (FaultKind.REFUSED_CREDENTIAL, None),
        (FaultKind.RATE_LIMITED, 1.0),
    ],
)
def test_a_probe_of_the_route_that_fails_for_another_reason_leaves_it_half_open(
    kind: FaultKind, retry_after: float | None
) -> None:
    health = Health()
    fail(health, A, FaultKind.SERVER_ERROR, times=10)
    fail(health, A, kind, 15.0, retry_after=retry_after)
    assert health.may_try(A, 300.0).probe_deadline is not None


def test_a_credential_probe_that_fails_for_another_reason_leaves_it_half_open() -> None:
    for kind in (FaultKind.CONNECT, FaultKind.SERVER_ERROR):
        health = Health()
        fail(health, A, FaultKind.REFUSED_CREDENTIAL)
        fail(health, A, kind, 30.0)
        assert health.may_try(A, 30.0).probe_deadline is not None


@pytest.mark.parametrize(
    ("first_tokens", "deadline"), [(2.0, 6.0), (0.1, 1.0), (5.0, 10.0), (30.0, 30.0)]
)
def test_a_probe_has_three_times_the_usual_worst_or_ten_seconds(
    first_tokens: float, deadline: float
) -> None:
    health = Health()
    for _ in range(10):
        succeed(health, A, first=first_tokens)
    fail(health, A, FaultKind.SERVER_ERROR, 100.0, times=10)
    assert health.may_try(A, 115.0).probe_deadline == pytest.approx(deadline)


def test_after_closing_the_share_grows_over_a_minute() -> None:
    health = Health()
    assert health.share(A, 0.0) == 1.0
    fail(health, A, FaultKind.REFUSED_CREDENTIAL)
    succeed(health, A, 30.0)
    assert health.share(A, 60.0) == pytest.approx(0.5)
    assert health.share(SIBLING, 60.0) == pytest.approx(0.5)
    assert health.share(A, 90.0) == 1.0


# Whatever happens.

ROUTES = (A, SIBLING, ELSEWHERE)
happenings = st.lists(
    st.tuples(
        st.sampled_from(["began", "succeeded", "failed", "failed", "neutral", "spoke"]),
        st.sampled_from(ROUTES),
        st.sampled_from(list(FaultKind)),
        st.sampled_from([None, None, 2.0, 5000.0]),
        st.floats(0, 40),
    ),
    max_size=80,
)


@given(happenings)
def test_a_rest_is_kept_and_everything_recovers_by_itself(
    script: list[tuple[str, Route, FaultKind, float | None, float]],
) -> None:
    health, now = Health(), 0.0
    rests: dict[str, float] = {}
    for what, of, kind, retry_after, pause in script:
        now += pause
        if what == "began" and health.may_try(of, now).go:
            assert now >= rests.get(of.id, 0.0)
            health.began(of, now)
        elif what == "succeeded":
            health.succeeded(of, now, 1.0, "a")
        elif what == "failed":
            health.failed(of, fault(kind, retry_after), now, "a")
            own = not fault(kind).moves_on or kind is FaultKind.CONNECT
            if retry_after is not None and not own:
                rests[of.id] = max(rests.get(of.id, 0.0), now + min(900.0, retry_after))
        elif what == "neutral":
            health.neutral(of)
        elif what == "spoke":
            health.spoke(of, now)
        for each in ROUTES:
            verdict = health.may_try(each, now)
            assert (verdict.wait is None) == (verdict.reason != "rest")
            assert 0 < health.share(each, now) <= 1
            assert health.snapshot(each, now).in_flight >= 0
    for each in ROUTES:
        for _ in range(3):
            health.neutral(each)  # whatever was under way is over
        later = now + 2000.0
        assert health.may_try(each, later).go
        health.began(each, later)
        health.succeeded(each, later, 1.0, "a")
        assert health.may_try(each, later) == GO


def test_what_the_sandbox_does_on_request_says_nothing_of_it() -> None:
    kind = Kind("sandbox", "Sandbox", "openai_chat", "")
    sandbox = route(Provider("sandbox", kind, "sandbox://local/v1"))
    health = Health()
    fail(health, sandbox, FaultKind.RATE_LIMITED, retry_after=30.0)
    fail(health, sandbox, FaultKind.REFUSED_CREDENTIAL)
    fail(health, sandbox, FaultKind.OVERLOADED, times=30)
    assert health.may_try(sandbox, 1.0).go


# What others are told, and tell.


def listening() -> tuple[Health, list[tuple[str, float]]]:
    health, told = Health(), list[tuple[str, float]]()
    health.told = lambda name, seconds: told.append((name, seconds))
    return health, told


def test_a_rest_is_told_once_and_learnt_elsewhere() -> None:
    one, told = listening()
    for _ in range(3):
        fail(one, A, FaultKind.RATE_LIMITED, 100.0, retry_after=30.0)
    assert told == [(A.id, 30.0)]
    other = Health()
    other.learn(A.id, 30.0, 5_000.0)
    assert other.may_try(A, 5_010.0) == Verdict(go=False, wait=20.0, reason="rest")
    assert other.may_try(A, 5_030.0) == GO
    assert other.may_try(SIBLING, 5_010.0) == GO


def test_a_route_in_use_learns_too_and_is_never_woken_early() -> None:
    health = Health()
    fail(health, A, FaultKind.RATE_LIMITED, 0.0, retry_after=60.0)
    health.learn(A.id, 5.0, 0.0)
    assert health.may_try(A, 10.0).wait == 50.0


def test_what_is_learnt_is_believed_no_longer_than_a_retry_after() -> None:
    health = Health()
    health.learn(A.id, 1e9, 0.0)
    assert health.may_try(A, 0.0).wait == 900.0


@pytest.mark.parametrize("used_before", [False, True])
def test_a_refused_credential_is_told_by_a_name_that_does_not_give_it_away(
    used_before: bool,
) -> None:
    one, told = listening()
    keyed = route(provider("p", keys=("sk-secret",)), "a")
    fail(one, keyed, FaultKind.REFUSED_CREDENTIAL, 100.0)
    fail(one, keyed, FaultKind.REFUSED_CREDENTIAL, 101.0)
    [(name, seconds)] = told
    assert seconds == 30.0
    assert "secret" not in name
    other = Health()
    if used_before:
        succeed(other, keyed, 0.0)
    other.learn(name, seconds, 500.0)
    assert other.may_try(keyed, 510.0) == OPEN
    assert other.may_try(keyed, 531.0).probe_deadline is not None
    another = route(provider("p", keys=("sk-new",)), "a")
    assert other.may_try(another, 510.0) == GO


def test_what_was_learnt_does_not_pile_up() -> None:
    health = Health()
    for number in range(30_000):
        health.learn(f"route-{number}", 1.0, float(number))
    assert len(health._learnt) <= 10_000


def failing_at(health: Health) -> None:
    for _ in range(12):
        fail(health, A, FaultKind.OVERLOADED, 100.0)


def test_a_route_that_fails_is_told_once_and_cut_off_where_nothing_speaks_for_it() -> None:
    one, told = listening()
    failing_at(one)
    [(name, seconds)] = told
    assert (name, seconds) == (f"failing:{A.id}", 15.0)
    new, used = Health(), Health()
    succeed(used, A, 490.0)
    for health in (new, used):
        health.learn(name, seconds, 500.0)
        assert health.may_try(A, 510.0) == OPEN
        assert health.may_try(A, 510.0, only=True) == GO
        assert health.may_try(A, 515.0).probe_deadline is not None
        assert health.may_try(SIBLING, 510.0) == GO


def test_a_route_that_works_here_is_not_cut_off_because_it_fails_elsewhere() -> None:
    health = Health()
    for _ in range(10):
        succeed(health, A, 490.0)
    health.learn(f"failing:{A.id}", 15.0, 500.0)
    assert health.may_try(A, 501.0) == GO


def test_what_was_learnt_and_is_over_is_no_reason_for_a_probe() -> None:
    one, told = listening()
    failing_at(one)
    fail(one, SIBLING, FaultKind.REFUSED_CREDENTIAL, 100.0)
    fail(one, SIBLING, FaultKind.RATE_LIMITED, 100.0, retry_after=20.0)
    assert len(told) == 3
    new = Health()
    for name, seconds in told:
        new.learn(name, seconds, 500.0)
    assert new.may_try(A, 600.0) == GO
    assert new.may_try(SIBLING, 600.0) == GO
