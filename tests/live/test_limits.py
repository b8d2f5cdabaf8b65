"""One suite for both kinds of limits: in this process, and shared through a real Valkey."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.live.limiting import Asking, Milliseconds, local, shared
from tests.valkey_server import ValkeyServer
from zurelay.chat.problems import Problem, Refused
from zurelay.live.limits import UNLIMITED, LocalLimits
from zurelay.meter.limits import Bound, Grant

KEY = Bound("key", "key", rpm=3)
TOKENS = Bound("key", "key", tpm=100)
PLACES = Bound("key", "key", concurrency=2)
ACCOUNT = Bound("account", "account", rpm=2, tpm=100)


@pytest.fixture(params=["local", "shared"])
async def on(request: pytest.FixtureRequest) -> AsyncIterator[Asking]:
    clock = Milliseconds()
    if request.param == "local":
        yield Asking(local(clock), clock)
        return
    async with shared(request.getfixturevalue("shared_valkey"), clock) as limits:
        yield Asking(limits, clock)


async def test_so_many_are_let_in_and_then_none_until_the_first_leaves(on: Asking) -> None:
    for _ in range(3):
        await on.ask(KEY)
        on.clock.ms += 1_500
    wait = await on.wait_of(KEY)
    assert wait == 60_000 - 4_500
    on.clock.ms += wait - 1
    assert await on.wait_of(KEY) == 1  # a moment before: no
    on.clock.ms += 1
    await on.ask(KEY)  # then: yes
    assert await on.wait_of(KEY) == 1_500


async def test_a_refused_request_uses_nothing_up(on: Asking) -> None:
    await on.ask(ACCOUNT, tokens=10)
    await on.ask(ACCOUNT, tokens=10)
    for _ in range(5):
        problem = await on.refused(KEY, ACCOUNT, PLACES, tokens=10)
        assert "this account" in problem.message
    assert await on.left(KEY) == {"requests": 3}
    on.clock.ms += 60_000
    await on.ask(PLACES)
    await on.ask(PLACES)


async def test_the_first_refusal_by_tokens_leaves_the_requests_alone(on: Asking) -> None:
    both = Bound("key", "key", rpm=3, tpm=100)
    await on.ask(both, tokens=90)
    await on.refused(both, tokens=11)
    assert await on.left(both) == {"requests": 2, "tokens": 10}


async def test_tokens_are_set_aside_and_put_right(on: Asking) -> None:
    first = await on.ask(TOKENS, tokens=60)
    assert await on.wait_of(TOKENS, tokens=41) == 60_000
    first.end(20)
    assert await on.left(TOKENS) == {"tokens": 80}
    (await on.ask(TOKENS, tokens=80)).end(None)  # nobody knows: the estimate stays
    assert await on.wait_of(TOKENS, tokens=1) == 60_000


async def test_a_request_that_used_more_counts_the_rest_from_then_on(on: Asking) -> None:
    long = await on.ask(TOKENS, tokens=10)
    on.clock.ms += 59_000
    long.end(95)
    assert await on.left(TOKENS) == {"tokens": 5}
    on.clock.ms += 1_000  # the ten leave, the 85 stay
    assert await on.left(TOKENS) == {"tokens": 15}
    assert await on.wait_of(TOKENS, tokens=16) == 59_000


async def test_a_request_that_outlived_its_minute_gives_nothing_back(on: Asking) -> None:
    old = await on.ask(TOKENS, tokens=50)
    on.clock.ms += 61_000
    await on.ask(TOKENS, tokens=50)
    old.end(0)
    assert await on.left(TOKENS) == {"tokens": 50}


async def test_a_grant_ends_once(on: Asking) -> None:
    grant = await on.ask(TOKENS, PLACES, tokens=60)
    grant.end(50)
    grant.end(0)
    grant.cancel()
    assert await on.left(TOKENS) == {"tokens": 50}


async def test_what_is_cancelled_never_was(on: Asking) -> None:
    everything = Bound("key", "key", rpm=1, tpm=100, concurrency=1)
    for _ in range(4):
        (await on.ask(everything, tokens=100)).cancel()
    assert await on.left(everything) == {"requests": 1, "tokens": 100}


async def test_a_place_is_held_until_the_end(on: Asking) -> None:
    first, _second = await on.ask(PLACES), await on.ask(PLACES)
    problem = await on.refused(PLACES)
    assert "at once" in problem.message
    assert problem.retry_after == 1
    on.clock.ms += 3_600_000
    if isinstance(on.limits, LocalLimits):  # elsewhere the lease has lapsed in that hour
        await on.refused(PLACES)
    first.end(None)
    await on.ask(PLACES)


async def test_an_estimate_above_the_limit_waits_for_an_empty_minute(on: Asking) -> None:
    await on.ask(TOKENS, tokens=1)
    assert await on.wait_of(TOKENS, tokens=5_000) == 60_000
    on.clock.ms += 60_000
    big = await on.ask(TOKENS, tokens=5_000)
    await on.refused(TOKENS, tokens=1)
    big.end(30)
    assert await on.left(TOKENS) == {"tokens": 70}


async def test_an_input_above_the_limit_never_fits(on: Asking) -> None:
    problem = await on.refused(KEY, TOKENS, tokens=5_000, least=101)
    assert problem.should_retry is False
    assert problem.retry_after is None
    assert "too large" in problem.message
    assert await on.left(KEY) == {"requests": 3}


async def test_headers_tell_of_the_tightest_bound(on: Asking) -> None:
    grant = await on.ask(Bound("key", "key", rpm=100, tpm=50), ACCOUNT, tokens=20)
    assert grant.headers(on.clock()) == [
        (b"x-ratelimit-limit-requests", b"2"),
        (b"x-ratelimit-remaining-requests", b"1"),
        (b"x-ratelimit-reset-requests", b"1m0s"),
        (b"x-ratelimit-limit-tokens", b"50"),
        (b"x-ratelimit-remaining-tokens", b"30"),
        (b"x-ratelimit-reset-tokens", b"1m0s"),
    ]
    messages = await on.ask(KEY, anthropic=True)
    assert [name for name, _ in messages.headers(0)] == [
        b"anthropic-ratelimit-requests-limit",
        b"anthropic-ratelimit-requests-remaining",
        b"anthropic-ratelimit-requests-reset",
    ]


async def test_bounds_that_limit_nothing_cost_nothing(on: Asking) -> None:
    assert on.limits.admit_now([Bound("a", "key"), Bound("b", "account")], 5) is UNLIMITED
    assert UNLIMITED.headers(0) == []


async def test_what_each_node_counts_itself_needs_nobody_else(on: Asking) -> None:
    here = on.named(Bound("here", "key", concurrency=1, shared=False))
    grant = on.limits.admit_now([here], 5)
    assert grant is not None
    with pytest.raises(Refused):
        on.limits.admit_now([here], 5)
    grant.end(5)
    assert on.limits.admit_now([here], 5) is not None


async def test_a_place_here_is_free_again_when_the_shared_limit_refuses(on: Asking) -> None:
    here = Bound("here", "key", concurrency=1, shared=False)
    await on.refused(here, Bound("none", "key", rpm=0))
    await on.ask(here, KEY)
    assert "at once" in (await on.refused(here, KEY)).message
    assert await on.left(KEY) == {"requests": 2}


async def test_a_look_counts_nothing_and_knows_what_this_node_counts(on: Asking) -> None:
    here = Bound("here", "key", concurrency=1, shared=False)
    for _ in range(3):
        on.limits.look([on.named(here), on.named(KEY)])
    grant = await on.ask(here, KEY)
    with pytest.raises(Refused):
        on.limits.look([on.named(here)])
    grant.end(0)
    on.limits.look([on.named(here), on.named(KEY)])
    assert await on.left(KEY) == {"requests": 2}


async def test_a_changed_limit_holds_for_what_was_counted_before(on: Asking) -> None:
    for _ in range(3):
        await on.ask(KEY)
    lower, higher = Bound("key", "key", rpm=2), Bound("key", "key", rpm=4)
    assert await on.wait_of(lower) == 60_000
    await on.ask(higher)


STEP = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from([0, 1, 250, 999, 1_000, 20_000, 59_000, 61_000])),
    st.tuples(st.just("ask"), st.integers(0, 120)),
    st.tuples(st.just("end"), st.one_of(st.none(), st.integers(0, 150))),
    st.tuples(st.just("cancel"), st.none()),
)
BOUNDS = (
    Bound("key", "key", rpm=3, tpm=150, concurrency=3),
    Bound("account", "account", rpm=4, tpm=300),
    Bound("model", "model", tpm=250),
)


@settings(max_examples=60)
@given(steps=st.lists(STEP, min_size=5, max_size=40))
async def test_both_kinds_say_the_same_of_any_traffic(
    shared_valkey: ValkeyServer, steps: list[tuple[str, int | None]]
) -> None:
    clock = Milliseconds()
    async with shared(shared_valkey, clock) as limits:
        both = [Asking(local(clock), clock), Asking(limits, clock)]
        open_grants: list[list[Grant]] = [[], []]
        for what, number in steps:
            if what == "wait":
                clock.ms += number or 0
                if number == 61_000:  # a lease of 15 s by that clock: take it anew
                    limits.opened()
                continue
            told = []
            for asking, grants in zip(both, open_grants, strict=True):
                if what == "ask":
                    told.append(await _outcome(asking, number or 0, grants))
                elif grants:
                    grant = grants.pop(0)
                    if what == "end":
                        grant.end(number)
                    else:
                        grant.cancel()
            assert not told or told[0] == told[1]


async def _outcome(
    asking: Asking, tokens: int, grants: list[Grant]
) -> Problem | list[tuple[bytes, bytes]]:
    try:
        grant = await asking.ask(*BOUNDS, tokens=tokens, least=tokens // 2)
    except Refused as refused:
        return refused.problem
    grants.append(grant)
    return grant.headers(asking.clock())


async def test_memory_is_for_those_who_asked_in_the_last_minute() -> None:
    clock = Milliseconds()
    limits = local(clock)
    for number in range(2_000):
        limits.admit_now([Bound(f"key:{number}", "key", rpm=5)], 0).end(None)
        clock.ms += 100
        assert limits.windows <= 601
    clock.ms += 60_000
    for _ in range(400):
        limits.admit_now([Bound("one", "key", rpm=1_000)], 0)
    assert limits.windows == 1
