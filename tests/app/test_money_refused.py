"""Those who cannot pay: what they are told, what is asked for them, and what stops being refused."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.app.books import ENDPOINTS, PREPAID, Books, post
from tests.app.conftest import Answer, Caller, Start
from tests.app.test_money import config, stored
from zurelay.access.accounts import Budget, Period
from zurelay.store import wallets
from zurelay.store.keys import list_keys
from zurelay.store.terms import change_key
from zurelay.store.transfers import take_available
from zurelay.testing.chat import chat_reply, chat_usage
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream

CENT = 10**7


@pytest.fixture
async def caller(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, store_url: str
) -> AsyncIterator[Caller]:
    """A gateway on either database, where nobody needs a balance unless it says so."""
    yield await start(config(upstream, second, stored(store_url)))


@pytest.fixture
def books(caller: Caller) -> Books:
    return Books(caller.gateway)


def costs(nano_usd: int) -> Any:
    """An answer of `test-model` that costs so much, a multiple of 5000."""
    return json_reply(chat_reply(usage=chat_usage(0, nano_usd // 5000)))


def is_402(answer: Answer, path: str = "/v1/chat/completions") -> bool:
    """In the shape of its format, and never to be tried again."""
    if answer.status != 402:
        return False
    assert answer.headers["x-should-retry"] == "false"
    assert "retry-after" not in answer.headers
    error = answer.json["error"]
    if path == "/v1/messages":
        assert answer.json["type"] == "error"
        assert answer.json["request_id"] == answer.headers["request-id"]
        assert error.keys() == {"type", "message"}
        return bool(error["type"] == "billing_error")
    assert error.keys() == {"message", "type", "param", "code"}
    return (error["type"], error["code"]) == ("insufficient_quota", "insufficient_credit")


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_without_money_nothing_is_asked_and_the_format_says_so(
    caller: Caller, books: Books, upstream: ScriptedUpstream, path: str, stream: bool
) -> None:
    await books.set_account(prepaid=True)
    answer = await post(caller, path, limit=100, stream=stream)
    assert is_402(answer, path), answer.body
    assert "no answer to this prompt" in answer.json["error"]["message"]
    row = await books.row(answer)
    assert (row.status, row.http_status, row.error) == ("error", 402, "insufficient_credit")
    assert (row.cost, row.attempts, row.postings) == (0, [], {})
    assert upstream.requests == []
    await books.audit()


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_the_affordable_tokens_that_are_told_can_be_had(
    caller: Caller, books: Books, upstream: ScriptedUpstream, path: str
) -> None:
    await books.set_account(prepaid=True)
    books.pay_in(1_000_000)
    refused = await post(caller, path, limit=5000)
    assert is_402(refused, path), refused.body
    message = refused.json["error"]["message"]
    tokens = int(message.partition("at most ")[2].partition(" ")[0])
    assert 150 < tokens < 200
    assert is_402(await post(caller, path, limit=tokens + 1), path)
    assert upstream.requests == []
    upstream.enqueue(json_reply(chat_reply()))
    assert (await post(caller, path, limit=tokens)).status == 200
    await books.audit()


async def test_a_request_that_is_a_billion_tokens_dear_is_a_402_not_a_fault(
    caller: Caller, books: Books
) -> None:
    await books.set_account(prepaid=True)
    books.pay_in(10**15)
    answer = await caller.chat(max_completion_tokens=10**9, n=100)
    assert answer.status in (400, 402)


async def test_an_account_in_debt_is_refused_and_a_credit_lets_it_in_at_once(
    caller: Caller, books: Books, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(costs(CENT))
    await caller.chat()
    await books.audit()
    await books.set_account(prepaid=True)
    assert books.balance() == -CENT
    assert is_402(await caller.chat(max_completion_tokens=1))
    books.pay_in(CENT)
    await asyncio.sleep(0.06)
    assert is_402(await caller.chat(max_completion_tokens=1))
    books.pay_in(CENT)
    await asyncio.sleep(0.06)
    upstream.enqueue(costs(5000))
    assert (await caller.chat(max_completion_tokens=1)).status == 200
    await books.audit()
    assert books.balance() == CENT - 5000


async def test_models_without_a_price_are_refused_to_limited_callers_only(
    caller: Caller, books: Books, second: ScriptedUpstream
) -> None:
    second.enqueue(json_reply(chat_reply()))
    answer = await caller.chat(model="unpriced")
    row = await books.row(answer)
    assert (answer.status, row.cost, row.unpriced) == (200, 0, ("model",))
    await books.set_key(budget=Budget(CENT, "day"))
    for path in ENDPOINTS:
        refused = await post(caller, path, model="unpriced")
        assert refused.status == 400
        assert "price" in refused.json["error"]["message"]
        if path != "/v1/messages":
            assert refused.json["error"]["code"] == "model_not_priced"
            assert refused.json["error"]["param"] == "model"
    assert len(second.requests) == 1


async def test_free_models_serve_those_who_have_nothing_or_owe(
    caller: Caller, books: Books, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    await books.set_account(prepaid=True)
    second.enqueue(json_reply(chat_reply()))
    assert (await caller.chat(model="free")).status == 200
    assert "max_completion_tokens" not in second.requests[-1].json
    await books.set_account(prepaid=False)
    upstream.enqueue(costs(CENT))
    await caller.chat()
    await books.set_account(prepaid=True)
    second.enqueue(json_reply(chat_reply()))
    answer = await caller.chat(model="free")
    assert answer.status == 200
    assert (await books.row(answer)).cost == 0
    assert is_402(await caller.chat(max_completion_tokens=1))
    await books.audit()


async def test_an_alternative_that_is_free_serves_where_the_first_is_too_dear(
    caller: Caller, books: Books, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    await books.set_account(prepaid=True)
    second.enqueue(json_reply(chat_reply()))
    answer = await caller.chat(models=["unpriced", "free"])
    assert (answer.status, answer.json["model"]) == (200, "free")
    assert upstream.requests == []


PERIODS: dict[Period, tuple[str, str]] = {
    # the last second of a period in Tokyo, and what its wallet is called
    "day": ("2026-12-04T14:59:59", "2026-12-04"),
    "week": ("2026-12-06T14:59:59", "2026-W49"),
    "month": ("2026-12-31T14:59:59", "2026-12"),
}


@pytest.mark.parametrize("whose", ["key", "account"])
@pytest.mark.parametrize("period", PERIODS)
async def test_a_budget_runs_out_and_begins_anew_with_its_period(
    caller: Caller, books: Books, upstream: ScriptedUpstream, period: Period, whose: str
) -> None:
    at, name = PERIODS[period]
    end = datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
    now = [end]
    parts = caller.gateway.process._parts.parts
    parts.wall = parts.services.wall = lambda: now[0]
    await books.set_account(zone="Asia/Tokyo")
    change = books.set_key if whose == "key" else books.set_account
    await change(budget=Budget(CENT, period))
    upstream.enqueue(costs(CENT))
    answer = await caller.chat(max_completion_tokens=1000)
    assert answer.status == 200
    row = await books.row(answer)
    owner = row.key if whose == "key" else row.account
    assert row.postings == {f"budget:{owner}:{name}": CENT, f"balance:{row.account}": CENT}
    assert is_402(await caller.chat(max_completion_tokens=1))
    mine = (await caller.get("/v1/key")).json
    assert mine["remaining_usd"] == "0"
    now[0] = end + 1
    upstream.enqueue(costs(5000))
    assert (await caller.chat(max_completion_tokens=1000)).status == 200
    mine = (await caller.get("/v1/key")).json
    assert mine["remaining_usd"] == "0.009995"
    if whose == "key":
        assert mine["spent_usd"] == "0.000005"
    await books.audit()


async def test_a_total_budget_never_begins_anew(
    caller: Caller, books: Books, upstream: ScriptedUpstream
) -> None:
    now = [1_796_000_000.0]
    parts = caller.gateway.process._parts.parts
    parts.wall = parts.services.wall = lambda: now[0]
    await books.set_key(budget=Budget(CENT, "total"))
    upstream.enqueue(costs(CENT))
    assert (await caller.chat(max_completion_tokens=1000)).status == 200
    now[0] += 400 * 86_400
    assert is_402(await caller.chat(max_completion_tokens=1))
    mine = (await caller.get("/v1/key")).json
    assert (mine["spent_usd"], mine["remaining_usd"]) == ("0.01", "0")


async def test_the_poorest_of_balance_and_budgets_decides(
    caller: Caller, books: Books, upstream: ScriptedUpstream
) -> None:
    await books.set_account(prepaid=True, budget=Budget(3 * CENT, "month"))
    await books.set_key(budget=Budget(2 * CENT, "day"))
    books.pay_in(5 * CENT)
    left = (await caller.get("/v1/key")).json
    assert (left["spent_usd"], left["remaining_usd"]) == ("0", "0.02")
    upstream.enqueue(costs(CENT), costs(CENT), costs(CENT))
    for remaining in ("0.01", "0"):
        assert (await caller.chat(max_completion_tokens=1800)).status == 200
        assert (await caller.get("/v1/key")).json["remaining_usd"] == remaining
    assert is_402(await caller.chat(max_completion_tokens=1))
    await books.set_key(budget=Budget(10 * CENT, "month"))  # of which two are spent
    assert (await caller.get("/v1/key")).json["remaining_usd"] == "0.01"
    assert (await caller.chat(max_completion_tokens=1800)).status == 200
    assert is_402(await caller.chat(max_completion_tokens=1))
    rows = await books.audit()
    assert [row.cost for row in rows] == [CENT, CENT, 0, CENT, 0]
    assert books.balance() == 2 * CENT


async def test_a_key_without_any_limit_has_null_remaining(caller: Caller, books: Books) -> None:
    mine = (await caller.get("/v1/key")).json
    assert (mine["spent_usd"], mine["remaining_usd"]) == ("0", None)
    await books.set_account(prepaid=True)
    books.pay_in(1)
    assert (await caller.get("/v1/key")).json["remaining_usd"] == "0.000000001"


async def test_limits_that_are_changed_hold_within_a_second(
    caller: Caller, books: Books, upstream: ScriptedUpstream
) -> None:
    """By the polls alone, as an operator's command in another process changes them."""
    from zurelay.store.accounts import list_accounts
    from zurelay.store.terms import change_account

    async def refused_within_a_second(want: bool, **columns: Any) -> None:
        with caller.gateway.store.write() as connection:
            change_account(connection, list_accounts(connection)[0].id, columns)
        loop = asyncio.get_running_loop()
        until = loop.time() + 5  # a second, on a busy machine
        while True:
            upstream.enqueue(costs(0))
            if is_402(await caller.chat(max_completion_tokens=1)) == want:
                return
            assert loop.time() < until
            await asyncio.sleep(0.02)

    await refused_within_a_second(True, prepaid=True)
    await refused_within_a_second(False, prepaid=False)
    await refused_within_a_second(True, budget=0, budget_period="day")
    await refused_within_a_second(False, budget=None, budget_period=None)


async def test_a_budget_that_is_changed_while_it_is_spent_holds_within_a_second(
    caller: Caller, books: Books, upstream: ScriptedUpstream
) -> None:
    """The gateway has leased it, and returns what it does not use."""
    await books.set_key(budget=Budget(5 * CENT, "total"))
    upstream.enqueue(costs(2 * CENT))
    assert (await caller.chat(max_completion_tokens=4000)).status == 200

    async def change(budget: int, remaining: str, status: int) -> None:
        with caller.gateway.store.write() as connection:
            key = list_keys(connection)[0].id
            change_key(connection, key, {"budget": budget})
            wallets.change_budget(connection, key, "total", budget)
            wallets.recall(connection, f"budget:{key}:total")
        loop = asyncio.get_running_loop()
        until = loop.time() + 5  # a second, on a busy machine
        while True:
            upstream.enqueue(costs(0))
            mine = (await caller.get("/v1/key")).json
            answer = await caller.chat(max_completion_tokens=1000) if status == 402 else None
            if mine["remaining_usd"] == remaining and (answer is None or is_402(answer)):
                return
            assert loop.time() < until, (mine, answer)
            await asyncio.sleep(0.02)

    await change(CENT, "0", 402)  # less than was spent already
    await change(4 * CENT, "0.02", 200)
    await asyncio.sleep(0.06)  # so long an empty wallet is not looked into again
    upstream._scripts.clear()
    upstream.enqueue(costs(CENT))
    assert (await caller.chat(max_completion_tokens=2000)).status == 200
    assert (await caller.get("/v1/key")).json["remaining_usd"] == "0.01"
    await books.audit()


async def test_a_balance_can_be_taken_back_while_a_gateway_has_leased_it(
    caller: Caller, books: Books, upstream: ScriptedUpstream
) -> None:
    await books.set_account(prepaid=True)
    books.pay_in(5 * CENT)
    upstream.enqueue(costs(CENT))
    assert (await caller.chat(max_completion_tokens=2000)).status == 200
    wallet = wallets.account_balance(books.account.id).id
    loop = asyncio.get_running_loop()
    until = loop.time() + 5  # a second, on a busy machine
    while True:
        with caller.gateway.store.write() as connection:
            if take_available(connection, wallet, 4 * CENT):
                break
            wallets.recall(connection, wallet)
        assert loop.time() < until
        await asyncio.sleep(0.1)
    books.paid_in -= 4 * CENT
    assert is_402(await caller.chat(max_completion_tokens=1))
    await books.audit()
    assert books.balance() == 0


async def test_prepaid_can_be_switched_by_the_configuration(
    caller: Caller,
    books: Books,
    upstream: ScriptedUpstream,
    second: ScriptedUpstream,
) -> None:
    upstream.enqueue(costs(0), costs(0))
    assert (await caller.chat()).status == 200
    await caller.gateway.reload(config(upstream, second, PREPAID))
    assert is_402(await caller.chat(max_completion_tokens=1))
    await books.set_account(prepaid=False)
    assert (await caller.chat(max_completion_tokens=1)).status == 200
