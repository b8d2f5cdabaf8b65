"""What was billed wrong elsewhere: caches, thinking, streams that were left, repeats, roundings."""

import asyncio
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.api.wire import Caller as Wire
from tests.app.books import ENDPOINTS, PREPAID, Books, body, post
from tests.app.conftest import Caller, Start
from tests.formats.anthropic import made
from zurelay.access.accounts import Budget
from zurelay.config.faults import ConfigError
from zurelay.config.load import load
from zurelay.store.usage import usage_by
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply, chat_usage
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Close, Pause, Script, Stall, chunk, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

HEAD = """
[server]
expose_routes = false
[sandbox]
enabled = false
[routing]
start_deadline_s = 20
[providers.claude]
kind = "anthropic"
base_url = "{claude}"
api_key = "k"
catalogue = false
[providers.chat]
kind = "groq"
base_url = "{chat}"
api_key = "k"
catalogue = false
[providers.other]
kind = "groq"
base_url = "{chat}"
api_key = "k"
catalogue = false
[providers.third]
kind = "groq"
base_url = "{chat}"
api_key = "k"
catalogue = false
"""
MODEL = (
    '[models."{name}"]\nroutes = {routes}\ncontext = 200000\nmax_output = 20000\nprice = {price}\n'
)
DEAR = '{ input = "3", cached_input = "0.30", cache_write = "3.75", output = "15" }'
LIGHT = '{ input = "0.80", cached_input = "0.08", cache_write = "1.00", output = "4.00" }'
TWO = '{ input = "1.00", output = "7.5" }'


def config(upstream: ScriptedUpstream, second: ScriptedUpstream, price: str, more: str = "") -> str:
    """`claude` and `test-model` at that price."""
    text = HEAD.format(claude=upstream.base_url, chat=second.base_url)
    for name, routes in (("claude", '["claude"]'), ("test-model", '["chat"]')):
        text += MODEL.format(name=name, routes=routes, price=price)
    return text + more


def message(stream: bool, first: Mapping[str, int], last: Mapping[str, int]) -> Script:
    """An answer of Anthropic's, with what it counts at its beginning and at its end."""
    if not stream:
        content = [{"type": "text", "text": "Hello"}]
        whole = {"id": "msg_up", "type": "message", "role": "assistant", "model": "up"}
        ended = {"stop_reason": "end_turn", "stop_sequence": None, "usage": {**first, **last}}
        return json_reply({**whole, "content": content, **ended})
    ending = made.event(
        "message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage=last
    ) + made.event("message_stop")
    events = made.start(**first) + made.text(0, "Hello") + ending
    return [*sse_reply([])[:-1], chunk(events), chunk(b"")]


WAYS = [(path, stream) for path in ENDPOINTS for stream in (False, True)]


async def test_cache_writes_are_charged_once_whichever_way_is_asked(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(config(upstream, second, DEAR, PREPAID))
    books = Books(caller.gateway)
    books.pay_in(10**10)
    first = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 12304,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
    for path, stream in WAYS:
        upstream.enqueue(message(stream, first, {"output_tokens": 550}))
        counts = stream and "chat" in path
        extra: Any = {"stream_options": {"include_usage": True}} if counts else {}
        answer = await post(caller, path, model="claude", limit=1000, stream=stream, **extra)
        row = await books.row(answer, path)
        assert row.cost == 9_000 + 46_140_000 + 8_250_000, (path, stream)
        if "chat" in path:
            usage = answer.chunks[-1]["usage"] if stream else answer.json["usage"]
            assert (usage["prompt_tokens"], usage["total_tokens"]) == (12307, 12857)
            assert usage["prompt_tokens_details"]["cached_tokens"] == 0
    shown = (await caller.get(f"/v1/requests/{row.id}")).json
    assert shown["cost_usd"] == "0.054399"
    await books.audit()


@pytest.mark.parametrize("repeats_input", [False, True])
async def test_cached_input_costs_the_same_in_a_stream(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, repeats_input: bool
) -> None:
    caller = await start(config(upstream, second, LIGHT, PREPAID))
    books = Books(caller.gateway)
    books.pay_in(10**10)
    counted = {
        "input_tokens": 4,
        "cache_read_input_tokens": 2455,
        "cache_creation_input_tokens": 0,
    }
    last = {**counted, "output_tokens": 23} if repeats_input else {"output_tokens": 23}
    for path, stream in WAYS:
        upstream.enqueue(message(stream, {**counted, "output_tokens": 1}, last))
        answer = await post(caller, path, model="claude", limit=1000, stream=stream)
        row = await books.row(answer)
        assert row.cost == 4 * 800 + 2455 * 80 + 23 * 4000, (path, stream)
        assert row.usage is not None
        assert (row.usage.prompt, row.usage.cached_input, row.usage.completion) == (2459, 2455, 23)
    await books.audit()


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_closing_a_stream_before_its_usage_is_no_way_to_free_answers(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, path: str
) -> None:
    caller = await start(config(upstream, second, TWO, PREPAID))
    books = Books(caller.gateway)
    books.pay_in(10**10)
    words = [f" word{n}" for n in range(200)]
    script = sse_reply(chat_chunks(words, usage=chat_usage(9, 200)))
    at = 2 + 150  # the head and the role chunk, then 150 words
    for number in range(1, 6):
        second.enqueue([*script[:at], Stall()])
        data = json.dumps(body(path, limit=1000, stream=True)).encode()
        wire = await Wire.to(caller.gateway.process.port)
        wire.write(
            f"POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {caller.gateway.key}\r\n"
            f"content-length: {len(data)}\r\n\r\n".encode()
            + data
        )
        await wire.reader.readuntil(b"word149")
        await wire.close()
        await second.wait_closed(number)
    rows = await books.audit()
    assert len(rows) == 5
    for row in rows:
        assert (row.status, row.cost_estimated) == ("client_closed", True)
        assert row.usage is not None
        assert 100 <= row.usage.completion <= 400
        assert row.cost > 100 * 7500
    assert books.balance() == 10**10 - sum(row.cost for row in rows)


def thought(prompt: int, completion: int, total: int, reasoning: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": total,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


THOUGHT: Mapping[str, tuple[dict[str, Any], int]] = {
    "inside": (thought(2008, 266, 2274, 261), 266),
    "beside": (thought(36, 10, 736, 690), 700),
    "beside, a little": (thought(38, 11, 266, 217), 228),
}


@pytest.mark.parametrize("name", THOUGHT)
async def test_thinking_is_billed_once_and_never_for_nothing(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, name: str
) -> None:
    caller = await start(config(upstream, second, TWO, PREPAID))
    books = Books(caller.gateway)
    books.pay_in(10**10)
    usage, billed = THOUGHT[name]
    for stream in (False, True):
        second.enqueue(
            sse_reply(chat_chunks("Hello", usage=usage))
            if stream
            else json_reply(chat_reply("Hello", usage=usage))
        )
        options: Any = {"stream_options": {"include_usage": True}} if stream else {}
        answer = await caller.chat(max_completion_tokens=2000, stream=stream, **options)
        told = answer.chunks[-1]["usage"] if stream else answer.json["usage"]
        assert told["completion_tokens"] == billed
        assert told["total_tokens"] == told["prompt_tokens"] + billed
        row = await books.row(answer)
        assert row.cost == usage["prompt_tokens"] * 1000 + billed * 7500
    await books.audit()


async def test_claudes_thinking_is_inside_its_output(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(config(upstream, second, TWO, PREPAID))
    books = Books(caller.gateway)
    books.pay_in(10**10)
    for path, stream in WAYS:
        counted = {"input_tokens": 64, "output_tokens": 1}
        told = {"output_tokens": 135, "output_tokens_details": {"thinking_tokens": 78}}
        upstream.enqueue(message(stream, counted, told))  # type: ignore[arg-type]
        answer = await post(caller, path, model="claude", limit=1000, stream=stream)
        assert (await books.row(answer)).cost == 64 * 1000 + 135 * 7500, (path, stream)
    await books.audit()


async def test_reservations_do_not_pile_up_over_a_hundred_requests_of_all_fates(
    tmp_path: Path, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    """Each may cost 0.06 dollars and costs next to nothing; the budget is 0.30."""
    text = config(upstream, second, TWO).replace("start_deadline_s = 20", "start_deadline_s = 1")
    ended = 0
    async with HttpClient() as client:
        for begun in (0, 50):  # the gateway is started again in between
            async with RunningGateway(tmp_path, text) as gateway:
                if begun == 0:
                    key = gateway.key
                    await Books(gateway).set_key(budget=Budget(300_000_000, "total"))
                gateway.key = key
                books, caller = Books(gateway), Caller(gateway, client)
                for number in range(begun, begun + 50):
                    ended += await _one_of_six(caller, second, number)
                await books.audit()
                left = (await caller.get("/v1/key")).json
                spent = sum(row.cost for row in books.rows())
                assert Decimal(left["spent_usd"]) * 10**9 == spent
                assert Decimal(left["remaining_usd"]) * 10**9 == 300_000_000 - spent
    assert ended == 100


async def _one_of_six(caller: Caller, chat: ScriptedUpstream, number: int) -> bool:
    """One request; whether it was let in."""
    path = ENDPOINTS[number % 3]
    fate = number % 6 if number % 48 else 5  # a time-out takes a second
    stream = fate in (1, 4)
    script: dict[int, list[Script]] = {
        0: [json_reply(chat_reply())],
        1: [[*sse_reply(chat_chunks(["One", " two"]))[:3], Stall()]],  # left by the caller
        2: [json_reply({"error": {"message": "no"}}, 500)],
        3: [json_reply({"error": {"message": "no"}}, 400)],
        4: [[*sse_reply(chat_chunks(["One", " two"]))[:3], Close()]],  # cut by the upstream
        5: [[Stall()] if number % 48 == 0 else json_reply(chat_reply())],
    }
    chat.enqueue(*script[fate])
    if fate != 1:
        answer = await post(caller, path, limit=8000, stream=stream)
        return answer.status != 402
    data = json.dumps(body(path, limit=8000, stream=True)).encode()
    wire = await Wire.to(caller.gateway.process.port)
    wire.write(
        f"POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {caller.gateway.key}\r\n"
        f"content-length: {len(data)}\r\n\r\n".encode()
        + data
    )
    await wire.reader.readuntil(b"One")
    await wire.close()
    return True


SMALL: Mapping[str, tuple[str, int, int, str]] = {
    # price, tokens of the prompt, nano-dollars with one token of output, in dollars
    "a tenth of a cent a thousand": ('{ input = "0.05", output = "0.40" }', 1, 450, "0.00000045"),
    "twelve decimals": ('{ input = "0.076234102728", output = "0" }', 1, 76, "0.000000076"),
    "a third": ('{ input = "0.1", output = "0" }', 3, 300, "0.0000003"),
}


@pytest.mark.parametrize("name", SMALL)
async def test_small_costs_are_neither_rounded_away_nor_blurred(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, name: str
) -> None:
    price, prompt, cost, dollars = SMALL[name]
    caller = await start(config(upstream, second, price, PREPAID))
    books = Books(caller.gateway)
    books.pay_in(10**10)
    second._answer = lambda _: json_reply(chat_reply(usage=chat_usage(prompt, 1)))
    for _ in range(10):
        answers = await asyncio.gather(*(caller.chat(max_completion_tokens=1) for _ in range(20)))
    rows = await books.audit()
    assert [row.cost for row in rows] == [cost] * 200
    assert books.balance() == 10**10 - 200 * cost
    with caller.gateway.store.read() as connection:
        (used,) = usage_by(connection, "model")
    assert (used.requests, used.cost) == (200, 200 * cost)
    assert (await caller.logged(answers[0]))["cost_usd"] == dollars
    spent = (await caller.get("/v1/key")).json["spent_usd"]
    assert Decimal(spent) == 200 * Decimal(dollars)
    assert "e" not in spent.lower()


def test_a_negative_price_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "zurelay.toml"
    file.write_text('[models."m"]\nroutes = ["sandbox"]\nprice = { input = "-1", output = "1" }\n')
    with pytest.raises(ConfigError, match="price"):
        load(file, {}, tmp_path)


@pytest.mark.parametrize("stream", [False, True])
async def test_three_attempts_are_one_request_and_one_bill(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, stream: bool
) -> None:
    routes = '["chat", { provider = "other", priority = 2 }, { provider = "third", priority = 3 }]'
    more = MODEL.format(name="three", routes=routes, price=TWO) + PREPAID
    caller = await start(config(upstream, second, TWO, more))
    books = Books(caller.gateway)
    books.pay_in(10**10)
    usage = chat_usage(100, 10)
    second.enqueue(json_reply({"error": {"message": "no"}}, 500))
    second.enqueue(
        sse_reply([chat_chunk({}, finish_reason="stop")])
        if stream
        else json_reply(chat_reply("", usage=usage))
    )
    second.enqueue(
        sse_reply(chat_chunks("Hello", usage=usage))
        if stream
        else json_reply(chat_reply("Hello", usage=usage))
    )
    await caller.chat(model="three", max_completion_tokens=100, stream=stream)
    (row,) = await books.audit()
    assert [(each.number, each.status) for each in row.attempts] == [
        (1, "failed"),
        (2, "failed"),
        (3, "ok"),
    ]
    assert row.attempts[1].reason == "empty"
    assert row.cost == 100 * 1000 + 10 * 7500
    with caller.gateway.store.read() as connection:
        (used,) = usage_by(connection, "model")
    assert (used.requests, used.cost) == (1, row.cost)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_bridged_request_and_its_repeat_are_one_row(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, stream: bool
) -> None:
    caller = await start(config(upstream, second, TWO, PREPAID))
    books = Books(caller.gateway)
    books.pay_in(10**10)
    key = {"idempotency-key": "once", "x-client-request-id": "mine"}
    counted = {"input_tokens": 7, "output_tokens": 1}
    upstream.enqueue([Pause(0.05), *message(stream, counted, {"output_tokens": 5})])
    answers = await asyncio.gather(
        *(
            post(caller, "/v1/responses", key, model="claude", stream=stream, limit=100)
            for _ in range(3)
        )
    )
    assert {answer.status for answer in answers} == {200}
    (row,) = await books.audit()
    assert row.cost == 7 * 1000 + 5 * 7500
