"""The office beside a running gateway: what people do takes effect on what callers may."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import CONFIG, Answer, Caller
from tests.office.people import OWNER, refusal
from zurelay.chat.problems import Problem
from zurelay.office.accounts import (
    AccountChange,
    change_account,
    get_account,
    resume_account,
    stop_account,
)
from zurelay.office.desk import Desk
from zurelay.office.keys import KeyChange, change_key, get_key
from zurelay.office.money import Payment, RefundForm, credit, debit, refund
from zurelay.office.personal import SubjectForm, erase
from zurelay.office.requests import Wanted, get, list_requests
from zurelay.office.statements import list_months, statement
from zurelay.office.values import BudgetForm
from zurelay.testing.chat import chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

COST = Decimal("0.000024")  # of `chat_reply()` at the prices of CONFIG


@pytest.fixture
async def caller(tmp_path: Path, store_url: str) -> AsyncIterator[Caller]:
    """A gateway whose accounts need a balance, before an upstream that always answers."""
    async with contextlib.AsyncExitStack() as stack:
        upstream = ScriptedUpstream(answer=lambda _: json_reply(chat_reply("Hello")))
        await stack.enter_async_context(upstream)
        config = CONFIG.format(upstream=upstream.base_url) + "[billing]\nprepaid = true\n"
        if store_url:
            config += f'[storage]\nurl = "{store_url}"\n'
        gateway = await stack.enter_async_context(RunningGateway(tmp_path, config))
        client = await stack.enter_async_context(HttpClient())
        yield Caller(gateway, client)


@pytest.fixture
def desk(caller: Caller) -> Desk:
    return Desk(caller.gateway.store, prepaid=lambda: True)


async def status(caller: Caller, wanted: int) -> Answer:
    """Ask until that status comes; the test's own timeout bounds it."""
    while (answer := await caller.chat(max_tokens=100, user="ann")).status != wanted:
        assert answer.status in (200, 401, 402), answer.body
        await asyncio.sleep(0.02)
    return answer


async def office(call: Any, *arguments: Any, **named: Any) -> Any:
    """A use case, in a thread as everywhere beside a gateway."""
    return await asyncio.to_thread(call, *arguments, **named)


async def logged(desk: Desk, answer: Answer) -> dict[str, Any]:
    """The entry of an answered request, once it is in the log."""
    while True:
        page = await office(list_requests, desk, OWNER, Wanted(), 100)
        for entry in page.data:
            if entry["id"] == answer.headers["x-request-id"]:
                return dict(entry)
        await asyncio.sleep(0.02)


def balance(desk: Desk) -> Decimal:
    return Decimal(get_account(desk, OWNER, "default").balance_usd)


async def test_a_credit_lets_callers_in_and_a_debit_takes_back_what_is_idle(
    caller: Caller, desk: Desk
) -> None:
    assert (await caller.chat(max_tokens=100)).status == 402
    await office(credit, desk, OWNER, "default", Payment("1", "in"))
    answer = await status(caller, 200)
    assert Decimal((await logged(desk, answer))["cost_usd"]) == COST
    assert balance(desk) == 1 - COST
    # The node has leased all of it by now; what it does not use comes back.
    await office(debit, desk, OWNER, "default", Payment(str(1 - COST), "out"))
    assert balance(desk) == 0
    assert (await caller.chat(max_tokens=100)).status == 402
    problem: Problem = await office(refusal, debit, desk, OWNER, "default", Payment("1", "more"))
    assert problem.status == 409


async def test_a_refund_can_be_spent_again(caller: Caller, desk: Desk) -> None:
    await office(credit, desk, OWNER, "default", Payment("0.0006", "in"))
    answer = await status(caller, 200)
    entry = await logged(desk, answer)
    await office(refund, desk, OWNER, entry["id"], RefundForm())
    assert balance(desk) == Decimal("0.0006")
    await status(caller, 200)


async def test_the_month_adds_up_to_the_log_and_the_balance(caller: Caller, desk: Desk) -> None:
    await office(credit, desk, OWNER, "default", Payment("1", "in"))
    answers = [await status(caller, 200) for _ in range(5)]
    for answer in answers:
        await logged(desk, answer)
    (month,) = await office(list_months, desk, OWNER, "default")
    made = await office(statement, desk, OWNER, "default", month.month)
    assert Decimal(made.charges_usd) == 5 * COST
    assert Decimal(made.closing_usd) == balance(desk) == 1 - 5 * COST
    assert sum(Decimal(line.amount_usd) for line in made.lines) == 5 * COST
    assert made.other_usd == "0"


async def test_a_stopped_account_is_refused_within_a_second(caller: Caller, desk: Desk) -> None:
    await office(credit, desk, OWNER, "default", Payment("1", "in"))
    await status(caller, 200)
    await office(stop_account, desk, OWNER, "default")
    async with asyncio.timeout(20):
        answer = await status(caller, 401)
    assert b"stopped" in answer.body
    await office(resume_account, desk, OWNER, "default")
    async with asyncio.timeout(20):
        await status(caller, 200)


async def test_a_budget_that_is_changed_holds_at_once(caller: Caller, desk: Desk) -> None:
    await office(credit, desk, OWNER, "default", Payment("1", "in"))
    key = (await office(get_key, desk, OWNER, "first key")).id
    await office(change_key, desk, OWNER, key, KeyChange(budget=BudgetForm("0.01", "day")))
    await logged(desk, await status(caller, 200))
    seen = await office(get_key, desk, OWNER, key)
    spent = Decimal(seen.spent_usd)
    assert spent >= COST
    assert Decimal(seen.remaining_usd) == Decimal("0.01") - spent
    await office(change_key, desk, OWNER, key, KeyChange(budget=BudgetForm("0.0001", "day")))
    async with asyncio.timeout(20):
        answer = await status(caller, 402)
    assert b"affordable" in answer.body
    await office(change_key, desk, OWNER, key, KeyChange(budget=BudgetForm("0.5", "day")))
    async with asyncio.timeout(20):
        await status(caller, 200)


async def test_an_account_that_becomes_postpaid_needs_no_balance(
    caller: Caller, desk: Desk
) -> None:
    assert (await caller.chat(max_tokens=100)).status == 402
    await office(change_account, desk, OWNER, "default", AccountChange(prepaid=False))
    await logged(desk, await status(caller, 200))
    assert balance(desk) == -COST


async def test_what_a_node_has_not_logged_yet_is_erased_too(caller: Caller, desk: Desk) -> None:
    await office(credit, desk, OWNER, "default", Payment("1", "in"))
    answers = [await status(caller, 200) for _ in range(3)]
    done = await office(erase, desk, OWNER, SubjectForm(user="ann"))
    assert done.undelivered == 0
    for answer in answers:
        await logged(desk, answer)
        entry = await office(get, desk, OWNER, answer.headers["x-request-id"])
        assert entry["user"] is None
