"""The budget for second tries on the same route."""

from hypothesis import given
from hypothesis import strategies as st

from zurelay.plan.retries import HedgeBudget, RetryBudget


def spend(budget: RetryBudget, now: float, tries: int = 1000) -> int:
    spent = 0
    while spent < tries and budget.allows(now):
        budget.spend(now)
        spent += 1
    return spent


def test_ten_a_second_are_free_whatever_the_traffic() -> None:
    budget = RetryBudget()
    assert spend(budget, 0.0) == 10
    assert spend(budget, 0.9) == 0
    assert spend(budget, 1.0) == 10


def test_a_tenth_of_the_traffic_of_ten_seconds_is_allowed() -> None:
    budget = RetryBudget()
    for _ in range(1000):
        budget.requested(100.0)
    assert spend(budget, 100.5) == 100
    assert spend(budget, 101.0) == 10


def test_traffic_is_forgotten_after_ten_seconds() -> None:
    budget = RetryBudget()
    for _ in range(1000):
        budget.requested(100.0)
    assert spend(budget, 110.0) == 10
    assert spend(RetryBudget(), 1e9) == 10


def test_retries_are_forgotten_after_ten_seconds_too() -> None:
    budget = RetryBudget(floor=0)
    for second in range(10):
        for _ in range(100):
            budget.requested(second)
    assert spend(budget, 9.0) == 100
    for _ in range(100):
        budget.requested(19.0)
    assert spend(budget, 19.0) == 10


def test_a_share_without_a_floor() -> None:
    budget = RetryBudget(share=0.02, floor=0)
    assert not budget.allows(0.0)
    for _ in range(100):
        budget.requested(0.0)
    assert spend(budget, 0.0) == 2


def test_a_clock_that_stands_or_steps_back_a_little_does_no_harm() -> None:
    budget = RetryBudget()
    budget.requested(50.0)
    assert spend(budget, 49.5) == 10
    assert spend(budget, 50.5) == 0


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(0, 40), st.integers(0, 40)), max_size=40))
def test_second_tries_never_exceed_a_tenth_of_traffic_and_the_floor(
    script: list[tuple[float, int, int]],
) -> None:
    budget, now = RetryBudget(), 0.0
    requests: list[float] = []
    retries: list[float] = []
    for pause, asked, tried in script:
        now += pause
        for _ in range(asked):
            budget.requested(now)
            requests.append(now)
        retries += [now] * spend(budget, now, tried)
        for second in {int(at) for at in retries}:
            here = sum(int(at) == second for at in retries)
            traffic = sum(second - 10 < int(at) <= second for at in requests)
            assert here <= max(10, 0.1 * traffic + 1)


def test_hedges_never_exceed_their_share_of_requests() -> None:
    budget = HedgeBudget()
    hedges = 0
    for requests in range(1, 10_001):
        budget.requested()
        if budget.allows():
            budget.spend()
            hedges += 1
        assert hedges <= requests * 0.02
    assert hedges == 200


def test_hedges_are_saved_up_for_a_slow_moment_but_not_without_end() -> None:
    budget = HedgeBudget()
    for _ in range(100_000):
        budget.requested()
    hedges = 0
    while budget.allows():
        budget.spend()
        hedges += 1
    assert hedges == 10
