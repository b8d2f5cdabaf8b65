"""Properties of what several processes come to together."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.plan.made import fault, provider, route
from zurelay.chat.faults import FaultKind
from zurelay.plan.health import Health
from zurelay.plan.merging import Together, together
from zurelay.plan.report import IDLE, ErrorShown, Report, Standing, shown

ROUTE = route(provider("a"))
SEVERITY = ["closed", "half_open", "resting", "open"]

errors = st.builds(
    ErrorShown,
    reason=st.sampled_from(["connect", "server_error"]),
    http_status=st.none() | st.just(500),
    message=st.text(max_size=3),
    age_s=st.integers(0, 50).map(float),
)
figures = st.none() | st.integers(1, 5000).map(float)
standings = st.builds(
    Standing,
    state=st.sampled_from(SEVERITY),
    cause=st.none() | st.sampled_from(["route", "connection", "credential"]),
    wait_s=st.integers(0, 100).map(float),
    samples=st.integers(0, 200),
    success_rate=st.floats(0, 1).map(lambda one: round(one, 4)),
    first_token_p50_ms=figures,
    first_token_p95_ms=figures,
    in_flight=st.integers(0, 50),
    attempts_1h=st.integers(0, 1000),
    failed_1h=st.integers(0, 1000),
    last_errors=st.lists(errors, max_size=5).map(
        lambda found: tuple(sorted(found, key=lambda one: one.age_s))
    ),
).map(lambda one: one if one.samples else replace(one, success_rate=None))
crowds = st.lists(standings, min_size=1, max_size=6)


def reports(each: Sequence[Standing]) -> list[Report]:
    return [Report(f"j{n}", f"gw-{n}", {"a:u": one}) for n, one in enumerate(each)]


def of(each: Sequence[Standing]) -> Together:
    return together(reports(each), "a:u")


def nameless(one: Standing) -> Standing:
    return replace(one, last_errors=tuple(replace(e, process="") for e in one.last_errors))


@given(standings)
def test_one_process_alone_is_shown_as_it_is(one: Standing) -> None:
    seen = of([one])
    # Errors of the same age may stand in another order.
    assert nameless(replace(seen.standing, last_errors=())) == replace(one, last_errors=())
    assert sorted(map(repr, nameless(seen.standing).last_errors)) == sorted(
        map(repr, one.last_errors)
    )
    assert (seen.processes, seen.state_at) == (1, ("gw-0",))


@given(crowds, st.randoms(use_true_random=False))
def test_the_order_of_processes_changes_nothing(each: list[Standing], chance: object) -> None:
    given_ = reports(each)
    other = list(given_)
    chance.shuffle(other)  # type: ignore[attr-defined]
    one, two = together(given_, "a:u"), together(other, "a:u")
    assert one.standing == two.standing
    assert sorted(one.state_at) == sorted(two.state_at)
    assert (one.processes, one.up_in) == (two.processes, two.up_in)


@given(crowds)
def test_counts_are_sums_and_means_lie_between(each: list[Standing]) -> None:
    seen = of(each).standing
    for name in ("samples", "in_flight", "attempts_1h", "failed_1h"):
        assert getattr(seen, name) == sum(getattr(one, name) for one in each)
    answered = sum(one.samples * (one.success_rate or 0) for one in each)
    if seen.success_rate is None:
        assert seen.samples == 0
    else:
        assert math.isclose(seen.success_rate * seen.samples, answered, abs_tol=0.0001 * 1200)
    for name in ("first_token_p50_ms", "first_token_p95_ms"):
        known = [value for one in each if (value := getattr(one, name)) is not None]
        mean = getattr(seen, name)
        assert (mean is None) == (not known)
        if known:
            assert min(known) - 0.1 <= mean <= max(known) + 0.1


@given(crowds)
def test_the_worst_state_counts_and_those_that_see_it_are_named(each: list[Standing]) -> None:
    seen = of(each)
    worst = max((one.state for one in each), key=SEVERITY.index)
    assert seen.standing.state == worst
    assert seen.state_at == tuple(f"gw-{n}" for n, one in enumerate(each) if one.state == worst)
    waits = [(one.wait_s, one.cause) for one in each if one.state == worst]
    assert (seen.standing.wait_s, seen.standing.cause) in waits
    assert seen.standing.wait_s == max(wait for wait, _ in waits)
    assert seen.up_in == sum(one.state in {"closed", "half_open"} for one in each)
    assert seen.processes == len(each)


@given(crowds)
def test_the_newest_errors_of_all_are_told_with_who_met_them(each: list[Standing]) -> None:
    met = [
        replace(error, process=f"gw-{n}") for n, one in enumerate(each) for error in one.last_errors
    ]
    found = of(each).standing.last_errors
    assert len(found) == min(5, len(met))
    assert [one.age_s for one in found] == sorted(one.age_s for one in met)[:5]
    assert all(one in met for one in found)


@given(crowds)
def test_who_did_not_use_the_route_changes_no_figure(each: list[Standing]) -> None:
    seen, more = of(each), together([*reports(each), Report("j9", "idle", {})], "a:u")
    assert more.standing == seen.standing
    assert (more.processes, more.up_in) == (seen.processes + 1, seen.up_in + 1)


ENDS = ["answer", "error", "connect", "own", "none"]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(ENDS)), min_size=1, max_size=60),
)
def test_attempts_spread_over_processes_count_as_if_one_had_made_them(
    attempts: list[tuple[int, str]],
) -> None:
    alone, spread = Health(), [Health() for _ in range(4)]
    for number, (who, end) in enumerate(attempts):
        now = 100.0 + number / 100
        for health in (alone, spread[who]):
            health.began(ROUTE, now)
            if end == "answer":
                health.succeeded(ROUTE, now, 0.5, "acct")
            elif end != "none":
                kinds = {"error": FaultKind.SERVER_ERROR, "connect": FaultKind.CONNECT}
                kind = kinds.get(end, FaultKind.REJECTED)
                health.failed(ROUTE, fault(kind), now, "acct")
    (one,) = shown({"a:u": alone.snapshot(ROUTE, 101.0)}, str).values()
    parts = [shown({"a:u": health.snapshot(ROUTE, 101.0)}, str) for health in spread]
    all_of_them = [Report(f"j{n}", f"gw-{n}", part) for n, part in enumerate(parts)]
    seen = together(all_of_them, "a:u").standing
    for name in ("samples", "in_flight", "attempts_1h", "failed_1h", "first_token_p50_ms"):
        assert getattr(seen, name) == getattr(one, name), name
    assert (seen.success_rate is None) == (one.success_rate is None)
    assert math.isclose(seen.success_rate or 0, one.success_rate or 0, abs_tol=0.0002)
    assert [error.age_s for error in seen.last_errors] == [error.age_s for error in one.last_errors]


def test_figures_of_the_last_minute_count_more_than_those_of_before() -> None:
    now = Standing(samples=10, success_rate=1.0, attempts_1h=10, first_token_p50_ms=100.0)
    other = replace(now, samples=30, first_token_p50_ms=500.0)
    before = replace(now, samples=0, success_rate=None, first_token_p50_ms=9000.0)
    assert of([now, other, before]).standing.first_token_p50_ms == 400.0
    hour = replace(before, attempts_1h=30, first_token_p50_ms=1000.0)
    assert of([before, hour]).standing.first_token_p50_ms == 3000.0
    old = [replace(one, attempts_1h=0) for one in (before, hour)]
    assert of(old).standing.first_token_p50_ms == 5000.0


def test_nobody_knows_nothing() -> None:
    with pytest.raises(ValueError, match="no process"):
        together([], "a:u")
    assert together([Report("j", "gw", {})], "a:u").standing == IDLE
