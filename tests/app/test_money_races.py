"""Many spend the last cent at once: no more than it is spent, and all of it is accounted for."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from tests.app.books import ENDPOINTS, PREPAID, Books, post
from tests.app.conftest import Caller, Start
from tests.app.test_money import config
from zurelay.access.accounts import Budget
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import Pause, Script, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

CENT = 10**7
LIMIT = 100
HI = 14 * 1000  # no prompt here is estimated at more than 14 tokens


@pytest.fixture
async def spender(start: Start, second: ScriptedUpstream) -> AsyncIterator[Caller]:
    """A gateway whose upstream takes a moment, and uses of the output what it may, or less."""
    dice = random.Random(1)

    def answer(request: Request) -> Script:
        most = request.json["max_completion_tokens"]
        usage = chat_usage(dice.randint(1, 8), dice.randint(1, most))
        pause = Pause(dice.uniform(0, 0.02))
        if dice.random() < 0.1:
            return [pause, *json_reply({"error": {"message": "broken"}}, 500)]
        if request.json.get("stream"):
            return [pause, *sse_reply(chat_chunks("Hello there", usage=usage))]
        return [pause, *json_reply(chat_reply(usage=usage))]

    async with ScriptedUpstream(answer=answer) as upstream:
        patient = config(upstream, second, PREPAID).replace(
            "_deadline_s = 1\n", "_deadline_s = 30\n"
        )
        yield await start(patient)


async def spend_all(caller: Caller, callers: int, seed: int) -> dict[int, int]:
    """Each asks in any way until it is refused, then one for as little as can be.

    Gives how often each status came.
    """
    seen: dict[int, int] = {}

    async def spend(number: int, *limits: int) -> None:
        dice = random.Random(f"{seed}/{number}")
        while True:
            path, stream = dice.choice(ENDPOINTS), dice.random() < 0.5
            limit = dice.choice(limits)
            answer = await post(caller, path, limit=limit, stream=stream)
            seen[answer.status] = seen.get(answer.status, 0) + 1
            if answer.status == 402:
                return

    await asyncio.gather(*(spend(n, 1, 20, LIMIT) for n in range(callers)))
    await spend(callers, 1)
    return seen


@pytest.mark.parametrize("limited_by", ["balance", "account", "key"])
async def test_two_hundred_callers_spend_the_last_cent_and_no_more(
    spender: Caller, limited_by: str
) -> None:
    books = Books(spender.gateway)
    await books.set_key(concurrency=1000)
    if limited_by == "balance":
        books.pay_in(CENT)
    else:
        await books.set_account(prepaid=False)
        change = books.set_account if limited_by == "account" else books.set_key
        await change(budget=Budget(CENT, "month"))
    seen = await spend_all(spender, 200, 7)
    assert seen.pop(402) == 201
    assert seen.keys() <= {200, 502}
    rows = await books.audit()
    assert sum(row.count for row in rows) == sum(seen.values()) + 201
    spent = sum(row.cost for row in rows)
    assert books.ledger.overrun == 0
    assert CENT - HI - 2 * 5000 < spent <= CENT  # not even one token more was to be had
    mine = (await spender.get("/v1/key")).json
    assert float(mine["remaining_usd"]) == pytest.approx((CENT - spent) / 10**9)
    if limited_by == "balance":
        assert books.balance() == CENT - spent


@pytest.mark.parametrize("limited_by", ["balance", "key"])
async def test_of_fifty_at_once_as_many_are_let_in_as_can_be_paid(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, limited_by: str
) -> None:
    """On a wallet that was never used before, before anything has cost anything."""
    text = config(upstream, second, PREPAID if limited_by == "balance" else "")
    caller = await start(text.replace("_deadline_s = 1\n", "_deadline_s = 30\n"))
    books = Books(caller.gateway)
    if limited_by == "balance":
        books.pay_in(5 * CENT)
    else:
        await books.set_key(budget=Budget(5 * CENT, "total"))
    go = asyncio.Event()
    upstream._answer = lambda _: [Pause(go), *json_reply(chat_reply(usage=chat_usage(0, 1980)))]
    asked = [
        asyncio.create_task(caller.chat(max_completion_tokens=1980)) for _ in range(50)
    ]  # 0.0099 dollars each, and some of a hundredth of a cent for the prompt
    await upstream.wait_requests(5)
    while sum(task.done() for task in asked) < 45:
        await asyncio.sleep(0.001)
    assert len(upstream.requests) == 5
    assert {task.result().status for task in asked if task.done()} == {402}
    go.set()
    answers = await asyncio.gather(*asked)
    assert sorted(answer.status for answer in answers) == [200] * 5 + [402] * 45
    rows = await books.audit()
    assert sum(row.cost for row in rows) == 5 * 1980 * 5000
    assert len(upstream.requests) == 5


async def test_money_that_comes_while_it_is_spent_is_spent_too(spender: Caller) -> None:
    books = Books(spender.gateway)
    await books.set_key(concurrency=1000)

    async def pay() -> None:
        for _ in range(20):
            await asyncio.to_thread(books.pay_in, CENT // 10)
            await asyncio.sleep(0.01)

    paying = asyncio.create_task(pay())
    while not paying.done():
        await spend_all(spender, 20, 3)
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.06)
    await spend_all(spender, 20, 4)
    await paying
    rows = await books.audit()
    assert 2 * CENT - HI - 2 * 5000 < sum(row.cost for row in rows) <= 2 * CENT
    assert books.ledger.overrun == 0


async def test_callers_who_leave_at_any_moment_take_nothing_with_them(spender: Caller) -> None:
    """Also while the store is asked for money, and while answers are under way."""
    books = Books(spender.gateway)
    await books.set_key(concurrency=1000)
    books.pay_in(CENT)
    dice = random.Random(5)

    async def come_and_go(number: int) -> None:
        asking = asyncio.create_task(
            post(spender, ENDPOINTS[number % 3], limit=LIMIT, stream=number % 2 == 0)
        )
        await asyncio.sleep(dice.choice((0, 0.001, 0.01, 0.02)))
        asking.cancel()
        await asyncio.wait([asking])

    for _ in range(4):
        await asyncio.gather(*(come_and_go(n) for n in range(50)))
    await books.audit()
    left = books.balance()
    await spend_all(spender, 20, 9)
    rows = await books.audit()
    assert left > 0
    assert CENT - HI - 2 * 5000 < sum(row.cost for row in rows) <= CENT
