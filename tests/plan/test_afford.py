"""What a caller who can run out of money may ask, and what it is told when that is nothing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from tests.plan.made import model, route, served
from zurelay.chat.problems import Refused
from zurelay.plan.afford import FLOORS, Cost, offer
from zurelay.plan.planner import Candidate, Plan


def candidate(
    effort: str | None = None,
    most: int | None = None,
    name: str = "m",
    context: int | None = 1_000_000,
) -> Candidate:
    known = replace(model(name), max_output=most, context=context)
    return Candidate(
        route=route(model=known),
        served=served(known),
        model=known,
        public_model=name,
        upstream_model=name,
        effort_shown=effort,
    )


def plan(*candidates: Candidate) -> Plan:
    return Plan("m", candidates or (candidate(),), input_estimate=100)


def at(each: int, prompt: int = 0) -> Cost:
    """So many nano-dollars an output token, and so many for the prompt."""
    return lambda tokens: prompt + tokens * each


def test_with_a_limit_of_its_own_the_most_that_can_cost_is_set_aside() -> None:
    given = offer(plan(), [at(10, 500)], 100, 10_000)
    assert given.ceiling == 1500
    assert given.plan.candidates[0].cap is None


def test_the_dearest_candidate_decides_and_none_gives_more_than_its_model_can() -> None:
    both = plan(candidate(), candidate(most=20))
    assert offer(both, [at(10), at(100)], 100, 10_000).ceiling == 2000
    assert offer(both, [at(10), at(10)], 100, 10_000).ceiling == 1000


def test_candidates_that_cannot_be_paid_are_left_out() -> None:
    dear, cheap = candidate(name="dear"), candidate(name="cheap")
    given = offer(plan(dear, cheap), [at(100), at(1)], 100, 500)
    assert [c.public_model for c in given.plan.candidates] == ["cheap"]
    assert given.ceiling == 100


def test_candidates_without_a_price_are_left_out() -> None:
    unknown, known = candidate(name="unknown"), candidate(name="known")
    given = offer(plan(unknown, known), [None, at(1)], 100, 500)
    assert [c.public_model for c in given.plan.candidates] == ["known"]


def test_without_any_price_the_request_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        offer(plan(), [None], 100, 10**12)
    problem = refused.value.problem
    assert (problem.status, problem.code, problem.param) == (400, "model_not_priced", "model")


@pytest.mark.parametrize(
    ("affordable", "told"),
    [(1499, "at most 99 output tokens"), (510, "at most 1 output tokens"), (509, "no answer to")],
)
def test_what_is_unaffordable_is_told_in_tokens(affordable: int, told: str) -> None:
    with pytest.raises(Refused) as refused:
        offer(plan(), [at(10, 500)], 100, affordable)
    problem = refused.value.problem
    assert (problem.status, problem.code) == (402, "insufficient_credit")
    assert problem.should_retry is False
    assert told in problem.message


def test_without_a_limit_an_answer_may_use_a_quarter_of_what_is_left() -> None:
    given = offer(plan(), [at(1)], None, 100_000)
    assert given.plan.candidates[0].cap == 25_000
    assert given.ceiling == 25_000


@pytest.mark.parametrize("effort", [*FLOORS, None])
def test_without_a_limit_an_answer_has_at_least_what_its_effort_needs(effort: str | None) -> None:
    floor = FLOORS.get(effort or "", 4096)
    given = offer(plan(candidate(effort)), [at(1)], None, floor)
    assert given.plan.candidates[0].cap == given.ceiling == floor
    with pytest.raises(Refused):
        offer(plan(candidate(effort)), [at(1)], None, floor - 1)


def test_a_limit_made_here_is_never_above_the_models_own() -> None:
    given = offer(plan(candidate("max", 2000)), [at(1)], None, 10**9)
    assert given.plan.candidates[0].cap == 2000


@pytest.mark.parametrize(
    ("most", "context", "cap"),
    [
        (50_000, 20_000, 19_875),  # the prompt's 100 and a quarter more
        (10_000, 20_000, 10_000),
        (None, 20_000, 19_875),
        (None, 120, 1024),
        (None, None, 4096),
        (50_000, None, 50_000),
    ],
)
def test_a_limit_made_here_fits_into_the_window(
    most: int | None, context: int | None, cap: int
) -> None:
    given = offer(plan(candidate(most=most, context=context)), [at(1)], None, 10**9)
    assert given.plan.candidates[0].cap == given.ceiling == cap


def test_where_length_costs_nothing_no_limit_is_made() -> None:
    for fee, money in ((0, -5), (0, 0), (0, 10**9), (700, 700), (700, 10**9)):
        given = offer(plan(), [at(0, fee)], None, money)
        assert (given.plan.candidates[0].cap, given.ceiling) == (None, fee)


def test_the_operators_estimate_stands_in_for_a_limit() -> None:
    given = offer(plan(candidate("max", 2000), candidate("max")), [at(1)] * 2, None, 10**9, 3000)
    assert [c.cap for c in given.plan.candidates] == [2000, 3000]
    assert given.ceiling == 3000
    with pytest.raises(Refused, match="at most 2999 output"):
        offer(plan(), [at(1)], None, 2999, 3000)
    assert offer(plan(), [at(1)], 5, 2999, 3000).ceiling == 5


def test_each_candidate_has_a_limit_of_its_own() -> None:
    both = plan(candidate("none", name="dear"), candidate("max", name="cheap"))
    given = offer(both, [at(100), at(1)], None, 400_000)
    assert [c.cap for c in given.plan.candidates] == [1024, 100_000]
    assert given.ceiling == 102_400


efforts = st.sampled_from([*FLOORS, None])
costs = st.none() | st.builds(at, st.integers(0, 10**6), st.integers(0, 10**9))


@given(
    st.lists(st.tuples(efforts, st.none() | st.integers(1, 10**6), costs), min_size=1, max_size=5),
    st.none() | st.integers(0, 10**6),
    st.integers(0, 10**13),
)
def test_what_is_offered_can_always_be_paid(
    routes: list[tuple[str | None, int | None, Cost | None]], limit: int | None, affordable: int
) -> None:
    asked = plan(*(candidate(effort, most, f"m{n}") for n, (effort, most, _) in enumerate(routes)))
    priced = [cost for _, _, cost in routes]
    try:
        given = offer(asked, priced, limit, affordable)
    except Refused:
        return
    assert given.plan.candidates
    assert given.ceiling <= affordable
    known = {c.public_model: cost for c, cost in zip(asked.candidates, priced, strict=True)}
    for one in given.plan.candidates:
        cost = known[one.public_model]
        length = one.cap if limit is None else limit
        assert cost is not None
        if length is None:
            assert cost(10**6) == cost(0)
            length = 0
        most = one.model.max_output
        assert cost(length if most is None else min(length, most)) <= given.ceiling
        assert changed(one, cap=None) in asked.candidates
