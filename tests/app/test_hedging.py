"""A second route beside a slow first one: who answers, what is told, what it may cost."""

from typing import Any

import pytest

from tests.app.conftest import Answer, Caller, Start, until
from tests.app.gateways import configuration
from zurelay.meter.record import RequestRecord
from zurelay.relay.job import Services
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.script import Pause, Script, Stall, head, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream

HEDGE = "hedge = true"


def services(caller: Caller) -> Services:
    return caller.gateway.process._parts.parts.services


def known_to_be_fast(caller: Caller, budget: int = 50) -> None:
    """The first route's answers usually begin within 50 ms, and there is money for a hedge."""
    shared = services(caller)
    table = caller.gateway.process._gateway.core.snapshot.table
    first = table.models["test-model"].routes[0]
    for _ in range(50):
        shared.health.began(first, 0.0)
        shared.health.succeeded(first, 0.0, 0.05, "account")
    for _ in range(budget):
        shared.hedges.requested()


async def record(caller: Caller, answer: Answer) -> RequestRecord:
    """The log entry as operators see it."""
    ledger = caller.gateway.process._parts.ledger
    found = await ledger.read(answer.headers["x-request-id"], None)
    assert found is not None
    return found


def good(text: str, stream: bool) -> Script:
    return sse_reply(chat_chunks(text)) if stream else json_reply(chat_reply(text))


def said(answer: Answer, stream: bool) -> Any:
    return answer.text if stream else answer.json["choices"][0]["message"]["content"]


@pytest.mark.parametrize("stream", [False, True])
async def test_the_second_route_answers_for_a_slow_first_one(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, stream: bool
) -> None:
    caller = await start(configuration(upstream, second, routing=HEDGE))
    known_to_be_fast(caller)
    upstream.enqueue([Stall()])
    second.enqueue(good("second", stream))
    answer = await caller.chat(stream=stream)
    assert (answer.status, said(answer, stream)) == (200, "second")
    await upstream.wait_closed()
    row = await record(caller, answer)
    slow, quick = row.attempts
    assert (slow.number, slow.status, slow.reason) == (1, "cancelled", "cancelled")
    assert (quick.number, quick.status, quick.cost) == (2, "ok", 0)
    assert slow.end_ms is not None
    assert slow.end_ms > quick.start_ms >= 50
    assert slow.cost > 0
    assert not services(caller).hedges.allows()
    told = (await caller.logged(answer))["attempts"]
    assert [a["status"] for a in told] == ["cancelled", "ok"]
    assert "cost_usd" not in told[0]


async def test_the_caller_pays_for_one_answer_only(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, routing=HEDGE))
    known_to_be_fast(caller)
    second.enqueue(good("Hi", False), good("Hi", False))
    upstream.enqueue([Stall()], [head(500, {"content-length": "0"})])
    hedged = await record(caller, await caller.chat())
    plain = await record(caller, await caller.chat())
    assert [a.status for a in hedged.attempts] == ["cancelled", "ok"]
    assert [a.status for a in plain.attempts] == ["failed", "ok"]
    assert hedged.cost == plain.cost > 0
    assert plain.attempts[0].cost == 0


async def test_the_first_route_answers_if_it_speaks_first_after_all(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, routing=HEDGE))
    known_to_be_fast(caller)
    upstream.enqueue([Pause(0.3), *good("first", True)])
    second.enqueue([Stall()])
    answer = await caller.chat(stream=True)
    assert answer.text == "first"
    await second.wait_closed()
    assert [a.status for a in (await record(caller, answer)).attempts] == ["ok", "cancelled"]


async def test_a_hedge_that_fails_leaves_the_first_alone(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, routing=HEDGE))
    known_to_be_fast(caller)
    upstream.enqueue([Pause(0.3), *good("first", True)])
    second.enqueue(json_reply({"error": {"message": "busy"}}, 503))
    answer = await caller.chat(stream=True)
    assert answer.text == "first"
    assert [a.status for a in (await record(caller, answer)).attempts] == ["ok", "failed"]


async def test_a_first_route_that_fails_beside_its_hedge_is_only_logged(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, routing=HEDGE))
    known_to_be_fast(caller)
    upstream.enqueue([Pause(0.1), *json_reply({"error": {"message": "broken"}}, 500)])
    second.enqueue([Pause(0.2), *good("second", True)])
    answer = await caller.chat(stream=True)
    assert answer.text == "second"
    assert [a.status for a in (await record(caller, answer)).attempts] == ["failed", "ok"]


@pytest.mark.parametrize(
    ("routing", "budget"), [(HEDGE, 40), ("", 50)], ids=["no budget", "switched off"]
)
async def test_without_budget_or_setting_the_first_route_has_its_time(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, routing: str, budget: int
) -> None:
    caller = await start(configuration(upstream, second, routing=routing))
    known_to_be_fast(caller, budget)
    upstream.enqueue([Pause(0.3), *good("first", True)])
    answer = await caller.chat(stream=True)
    assert answer.text == "first"
    assert second.requests == []
    assert len((await record(caller, answer)).attempts) == 1


async def test_after_a_refused_hedge_the_second_route_is_there_for_failover(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, routing=HEDGE))
    known_to_be_fast(caller, 0)
    upstream.enqueue([Pause(0.1), *json_reply({"error": {"message": "broken"}}, 500)])
    second.enqueue(good("second", True))
    answer = await caller.chat(stream=True)
    assert answer.text == "second"
    assert [a.status for a in (await record(caller, answer)).attempts] == ["failed", "ok"]


async def test_a_caller_who_leaves_cancels_both(
    start: Start, ask: Any, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, routing=HEDGE))
    known_to_be_fast(caller)
    upstream.enqueue([Stall()])
    second.enqueue([Stall()])
    reader = await ask(caller)
    await second.wait_requests()
    await reader.leave()
    await upstream.wait_closed()
    await second.wait_closed()
    await until(lambda: not caller.gateway.process._gateway.core.runs)
