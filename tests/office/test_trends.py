"""How usage went, on SQLite and on PostgreSQL."""

import msgspec
import pytest

from tests.office.people import ACCOUNT, MEMBER, NOON, OWNER, READER, STRANGER, refusal
from tests.store.rows import a_record
from zurelay.meter.record import Attempt, RequestRecord
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.trends import MOST_GROUPS, SPANS, Span, Totals, provider_trend, trend
from zurelay.store.requests import add_requests


def written(desk: Desk, *records: RequestRecord) -> None:
    with desk.store.write() as connection:
        add_requests(connection, [(one, msgspec.json.encode(one)) for one in records])


@pytest.mark.parametrize("span", list(SPANS))
def test_a_span_ends_now_and_its_steps_are_even(desk: Desk, span: Span) -> None:
    hours, step = SPANS[span]
    written(desk, a_record(NOON - 1, cost=3), a_record(NOON - hours * 3600 - step * 3600, cost=9))
    found = trend(desk, OWNER, span, "none")
    assert len(found.times) == hours // step
    assert {b - a for a, b in zip(found.times, found.times[1:], strict=False)} == {step * 3600}
    assert found.times[-1] <= NOON < found.times[-1] + step * 3600
    assert (found.totals.cost, found.before.cost) == (3, 9)
    assert sum(one.cost for one in found.steps) == 3
    assert found.groups == []


def test_groups_come_dearest_first_and_the_smaller_ones_together(desk: Desk) -> None:
    written(
        desk,
        *(a_record(NOON, answered_by=f"m{at:02}", cost=100 - at) for at in range(12)),
        a_record(NOON - 3600, answered_by="m00", cost=1, first_token_ms=40.0),
    )
    found = trend(desk, OWNER, "24h", "model")
    assert [one.id for one in found.groups[:-1]] == [f"m{at:02}" for at in range(MOST_GROUPS)]
    rest = found.groups[-1]
    assert rest.rest
    assert rest.totals.requests == 12 - MOST_GROUPS
    first = found.groups[0]
    assert (first.totals.cost, first.totals.first_token_ms) == (101, 40.0)
    assert [one.cost for one in first.steps[-2:]] == [1, 100]
    assert sum(one.totals.cost for one in found.groups) == found.totals.cost


def test_one_more_than_most_needs_no_rest(desk: Desk) -> None:
    written(desk, *(a_record(NOON, answered_by=f"m{at}") for at in range(MOST_GROUPS + 1)))
    assert not any(one.rest for one in trend(desk, OWNER, "24h", "model").groups)


def test_keys_and_accounts_have_names(desk: Desk) -> None:
    key = create_key(desk, OWNER, NewKey("website")).details
    written(desk, a_record(NOON, key=key.id))
    assert trend(desk, OWNER, "24h", "key").groups[0].name == "website"
    assert trend(desk, OWNER, "24h", "account").groups[0].name == ACCOUNT.name
    assert trend(desk, OWNER, "24h", "model", key="website").totals.requests == 1


def test_half_of_the_answers_began_sooner(desk: Desk) -> None:
    times = (10.0, None, 30.0, 20.0)
    written(desk, *(a_record(NOON + at, first_token_ms=ms) for at, ms in enumerate(times)))
    found = trend(desk, OWNER, "24h", "none")
    assert found.totals.first_token_ms == 20.0
    assert found.steps[-1].first_token_ms == 20.0
    assert found.steps[0].first_token_ms is None


def test_each_sees_their_own_account(desk: Desk) -> None:
    written(desk, a_record(NOON), a_record(NOON + 1, account="acct_other"))
    assert trend(desk, OWNER, "24h", "none").totals.requests == 2
    assert trend(desk, MEMBER, "24h", "none").totals.requests == 1
    assert trend(desk, STRANGER, "24h", "none").totals.requests == 1
    assert refusal(trend, desk, MEMBER, "24h", "none", account="acct_other").status == 404


def test_totals_tell_tokens_and_failures() -> None:
    totals = Totals(requests=4, errors=1)
    totals.tokens |= {"input": 1, "cached_input": 2, "cache_write": 4, "output": 8, "reasoning": 3}
    assert (totals.tokens_in, totals.tokens_out, totals.error_rate) == (7, 8, 0.25)
    assert Totals().error_rate == 0.0


def test_failures_by_provider_come_most_first(desk: Desk) -> None:
    def tried(route: str, status: str) -> Attempt:
        return Attempt(route=route, number=1, model="m", status=status, start_ms=0.0)

    written(
        desk,
        a_record(NOON, attempts=[tried("a:m", "ok"), tried("b:m", "failed")]),
        a_record(NOON - 3600, attempts=[tried("b:m", "failed"), tried("a:m", "failed")]),
    )
    times, (first, second) = provider_trend(desk, READER, 2)
    assert times == [NOON - 3600, NOON]
    assert (first.provider, first.answered, first.failed) == ("b", [0, 0], [1, 1])
    assert (second.provider, second.answered, second.failed) == ("a", [0, 1], [1, 0])
    assert refusal(provider_trend, desk, MEMBER).status == 403


def test_times_are_left_out_where_nobody_asks(desk: Desk) -> None:
    written(desk, a_record(NOON - 1, first_token_ms=40.0, cost=3))
    timed = trend(desk, OWNER, "24h", "model")
    bare = trend(desk, OWNER, "24h", "model", timed=False)
    assert (timed.totals.first_token_ms, bare.totals.first_token_ms) == (40.0, None)
    assert (bare.totals.cost, bare.groups[0].totals.cost) == (3, 3)


@pytest.mark.parametrize("span", list(SPANS))
def test_each_step_has_its_own_sums_and_times(desk: Desk, span: Span) -> None:
    width = SPANS[span][1] * 3600
    late, early = NOON - 1, NOON - 1 - 2 * width
    written(
        desk,
        a_record(late, first_token_ms=40.0, cost=3),
        a_record(early, first_token_ms=70.0, cost=5),
    )
    found = trend(desk, OWNER, span, "model")
    told = {
        time: (one.cost, one.first_token_ms)
        for time, one in zip(found.times, found.steps, strict=True)
        if one.requests
    }
    assert told == {
        int(at // width * width): (cost, ms) for at, cost, ms in ((late, 3, 40.0), (early, 5, 70.0))
    }
