"""When a breaker opens, lets a probe through, closes, and how its share grows back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.plan.breaker import Breaker, Outcomes, State


def test_a_new_breaker_is_closed_and_lets_everything_through() -> None:
    breaker = Breaker(10.0, 40.0)
    assert breaker.state(0.0) is State.CLOSED
    assert breaker.allows(0.0)
    assert breaker.share(0.0) == 1.0
    assert breaker.wait(0.0) == 0.0


def test_it_opens_then_lets_one_probe_through_at_half_open() -> None:
    breaker = Breaker(10.0, 40.0)
    breaker.failed(100.0)
    assert breaker.state(109.9) is State.OPEN
    assert not breaker.allows(109.9)
    assert breaker.wait(104.0) == 6.0
    assert breaker.state(110.0) is State.HALF_OPEN
    assert breaker.wait(115.0) == 0.0
    assert breaker.allows(110.0)
    breaker.began(110.0)
    assert not breaker.allows(110.0)


def test_a_request_that_begins_while_it_is_open_is_no_probe() -> None:
    breaker = Breaker(10.0, 40.0)
    breaker.failed(100.0)
    breaker.began(105.0)
    assert breaker.allows(110.0)


def test_a_probe_that_succeeds_closes_it_and_its_share_grows_over_a_minute() -> None:
    breaker = Breaker(10.0, 40.0)
    breaker.failed(100.0)
    breaker.began(110.0)
    breaker.succeeded(112.0)
    assert breaker.state(112.0) is State.CLOSED
    assert breaker.share(112.0) == pytest.approx(0.1)
    assert breaker.share(142.0) == pytest.approx(0.5)
    assert breaker.share(172.0) == 1.0
    assert breaker.share(999.0) == 1.0


def test_a_probe_that_fails_opens_it_for_twice_as_long_up_to_a_bound() -> None:
    breaker = Breaker(10.0, 40.0)
    now = 0.0
    for expected in (10.0, 20.0, 40.0, 40.0):
        breaker.failed(now)
        assert breaker.wait(now) == expected
        now += expected
        breaker.began(now)


def test_a_probe_that_tells_nothing_leaves_room_for_another() -> None:
    breaker = Breaker(10.0, 40.0)
    breaker.failed(0.0)
    breaker.began(10.0)
    breaker.freed()
    assert breaker.state(10.0) is State.HALF_OPEN
    assert breaker.allows(10.0)


def test_late_results_of_requests_from_before_change_nothing_while_it_is_open() -> None:
    breaker = Breaker(10.0, 40.0)
    breaker.failed(0.0)
    breaker.failed(9.0)
    breaker.succeeded(9.0)
    assert breaker.state(9.5) is State.OPEN
    assert breaker.state(10.0) is State.HALF_OPEN


def test_the_success_of_a_request_that_was_forced_through_closes_it() -> None:
    breaker = Breaker(10.0, 40.0)
    breaker.failed(0.0)
    breaker.forced()
    breaker.failed(1.0)
    assert breaker.wait(1.0) == 9.0
    breaker.succeeded(2.0)
    assert breaker.state(2.0) is State.CLOSED
    breaker.failed(3.0)
    breaker.succeeded(4.0)
    assert breaker.state(4.0) is State.OPEN


def test_it_forgets_earlier_openings_once_its_share_is_whole() -> None:
    breaker = Breaker(10.0, 40.0)
    breaker.failed(0.0)
    breaker.succeeded(10.0)
    breaker.failed(69.0)
    assert breaker.wait(69.0) == 20.0
    breaker.succeeded(89.0)
    breaker.failed(149.0)
    assert breaker.wait(149.0) == 10.0


# Outcomes.


def outcomes(*told: tuple[str, bool], start: float = 0.0) -> Outcomes:
    kept = Outcomes()
    for step, (account, success) in enumerate(told):
        kept.add(start + step * 0.01, account, success=success)
    return kept


def test_fewer_than_ten_samples_are_never_too_bad() -> None:
    assert not outcomes(*[("a", False)] * 9).too_bad(1.0)
    assert outcomes(*[("a", False)] * 10).too_bad(1.0)


def test_half_failed_is_too_bad_less_is_not() -> None:
    assert outcomes(*[("a", False)] * 5, *[("a", True)] * 5).too_bad(1.0)
    assert not outcomes(*[("a", False)] * 4, *[("a", True)] * 6).too_bad(1.0)


def test_the_failures_of_one_account_among_several_are_not_the_routes() -> None:
    mostly = [("a", False)] * 9
    assert not outcomes(*mostly, ("b", True)).too_bad(1.0)
    assert outcomes(*mostly, ("b", False)).too_bad(1.0)


def test_the_failures_of_two_accounts_among_more_are_the_routes() -> None:
    assert outcomes(*[("a", False)] * 5, *[("b", False)] * 4, ("c", True)).too_bad(1.0)


def test_only_the_last_two_hundred_are_kept() -> None:
    kept = outcomes(*[("a", False)] * 200, *[("a", True)] * 150)
    assert kept.samples(4.0) == 200
    assert kept.success_rate(4.0) == 0.75


def test_outcomes_are_forgotten_after_a_minute() -> None:
    kept = outcomes(*[("a", False)] * 10)
    assert kept.success_rate(1.0) == 0.0
    assert kept.samples(61.0) == 0
    assert kept.success_rate(61.0) is None
    assert not kept.too_bad(61.0)


def test_the_success_rate_counts_what_is_kept() -> None:
    kept = outcomes(*[("a", True)] * 3, ("a", False))
    assert kept.success_rate(1.0) == 0.75
    assert kept.samples(1.0) == 4


@given(st.lists(st.tuples(st.floats(0, 30), st.booleans()), max_size=300))
def test_the_rate_is_always_that_of_the_samples_in_the_window(
    told: list[tuple[float, bool]],
) -> None:
    kept, now, log = Outcomes(), 0.0, []
    for pause, success in told:
        now += pause
        kept.add(now, "a", success=success)
        log.append((now, success))
        log = [entry for entry in log if entry[0] > now - 60][-200:]
        assert kept.samples(now) == len(log)
        rate = kept.success_rate(now)
        assert rate == pytest.approx(sum(s for _, s in log) / len(log))
