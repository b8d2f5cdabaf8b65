"""Money through the whole gateway: whatever happens to a request, the books are right."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.api.wire import Caller as Wire
from tests.app.books import ENDPOINTS, PREPAID, Books, body, post
from tests.app.conftest import Caller, Start, until
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import (
    Close,
    Pause,
    Reset,
    Script,
    Stall,
    json_reply,
    sse_reply,
)
from zurelay.testing.upstream import ScriptedUpstream

CREDIT = 10**9  # a dollar
USED = 9 * 1000 + 3 * 5000  # what `chat_usage()` costs at `test-model`

CONFIG = """
[server]
expose_routes = false
[sandbox]
enabled = false
[streaming]
early_open_s = 0.1
[routing]
connect_deadline_s = 1
start_deadline_s = 1
idle_deadline_s = 1
[providers.first]
kind = "groq"
base_url = "{first}"
api_key = "SECRET-1"
catalogue = false
[providers.second]
kind = "groq"
base_url = "{second}"
api_key = "SECRET-2"
catalogue = false
[models."test-model"]
routes = [{{ provider = "first", model = "up" }}]
context = 100000
max_output = 5000
price = {{ input = "1.00", cached_input = "0.10", output = "5.00" }}
[models."resting"]
routes = [{{ provider = "first", model = "resting-up" }}]
context = 100000
price = {{ input = "1.00", output = "5.00" }}
[models."dear"]
routes = [{{ provider = "second", model = "dear-up" }}]
context = 100000
max_output = 5000
price = {{ input = "10.00", output = "50.00" }}
[models."unpriced"]
routes = [{{ provider = "second", model = "unpriced-up" }}]
[models."free"]
routes = [{{ provider = "second", model = "free-up" }}]
price = "free"
{more}
"""


def config(first: ScriptedUpstream, second: ScriptedUpstream, more: str = PREPAID) -> str:
    return CONFIG.format(first=first.base_url, second=second.base_url, more=more)


def stored(url: str) -> str:
    """Where a gateway keeps what it knows."""
    return f'[storage]\nurl = "{url}"\n'


@pytest.fixture
async def caller(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, store_url: str
) -> AsyncIterator[Caller]:
    """A gateway on either database."""
    yield await start(config(upstream, second, PREPAID + stored(store_url)))


@pytest.fixture
def books(caller: Caller) -> Books:
    made = Books(caller.gateway)
    made.pay_in(CREDIT)
    return made


def good(stream: bool, usage: Any = None, **fields: Any) -> Script:
    usage = chat_usage() if usage is None else usage
    if stream:
        return sse_reply(chat_chunks("Hello there", usage=usage, **fields))
    return json_reply(chat_reply("Hello there", usage=usage, **fields))


def nothing(stream: bool) -> Script:
    """An empty answer."""
    return sse_reply(chat_chunks("")) if stream else json_reply(chat_reply(""))


def untold(stream: bool) -> Script:
    """An answer without usage."""
    if stream:
        return sse_reply(chat_chunks("Hello there"))
    reply = chat_reply("Hello there")
    del reply["usage"]
    return json_reply(reply)


def refused(stream: bool) -> Script:
    if stream:
        return sse_reply(chat_chunks("", finish_reason="content_filter", usage=chat_usage()))
    return json_reply(chat_reply("", finish_reason="content_filter"))


def cut(stream: bool) -> Script:
    """Breaks off after three of some tokens, or in the midst of a plain answer."""
    if stream:
        return [*sse_reply(chat_chunks(["One", " two", " three", " four"]))[:5], Close()]
    whole = json_reply(chat_reply())[0]
    return [type(whole)(whole.data[:-20]), Close()]  # type: ignore[attr-defined,call-arg]


def failing(status: int, **headers: str) -> Script:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return json_reply({"error": {"message": "no"}}, status, named)


COUNTED: dict[str, tuple[Callable[[bool], Script], int | None]] = {
    "good": (good, USED),
    "cached": (
        lambda s: good(s, {**chat_usage(100, 3), "prompt_tokens_details": {"cached_tokens": 90}}),
        10 * 1000 + 90 * 100 + 3 * 5000,
    ),
    "an explicit zero": (lambda s: good(s, chat_usage(0, 0)), 0),
    "no usage": (untold, None),
    "refused": (refused, USED),
    "cut by length": (lambda s: good(s, finish_reason="length"), USED),
    "more than the limit": (lambda s: good(s, chat_usage(9, 100_000)), None),
    "more than the window": (lambda s: good(s, chat_usage(10**9, 3)), None),
    "slow to begin": (lambda s: [Pause(0.15), *good(s)], USED),
}
"""What an upstream does, and what it costs; None where the cost is an estimate."""

UNPAID: dict[str, tuple[Callable[[bool], list[Script]], str]] = {
    "its own fault": (lambda _: [failing(400)], "test-model"),
    "broken": (lambda _: [failing(500)], "test-model"),
    "broken twice": (lambda _: [failing(503), failing(503)], "test-model"),
    "slow and broken": (lambda _: [[Pause(0.15), *failing(500)]], "test-model"),
    "reset": (lambda _: [[Reset()]] * 3, "test-model"),
    "silent": (lambda _: [[Stall()]], "test-model"),
    "empty": (lambda s: [nothing(s)], "test-model"),
    "rate limited": (lambda _: [failing(429, retry_after="600")], "resting"),
    "resting": (lambda _: [], "resting"),
    "no such model": (lambda _: [], "nobody"),
    "no price": (lambda _: [], "unpriced"),
}


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_whatever_an_upstream_does_the_books_are_right(
    caller: Caller, books: Books, upstream: ScriptedUpstream, path: str, stream: bool
) -> None:
    for name, (script, cost) in COUNTED.items():
        upstream.enqueue(script(stream))
        answer = await post(caller, path, limit=50, stream=stream)
        assert answer.status == 200, (name, answer.body)
        row = await books.row(answer, name)
        assert row.status == "ok", name
        assert row.cost == cost if cost is not None else 0 < row.cost < 10**6, name
        assert row.cost_estimated == (cost is None), name
        assert row.postings == ({f"balance:{row.account}": row.cost} if row.cost else {}), name
    for name, (scripts, model) in UNPAID.items():
        upstream.enqueue(*scripts(stream))
        asked = len(upstream.requests)
        answer = await post(caller, path, limit=50, stream=stream, model=model)
        assert b"error" in answer.body, (name, answer.body)
        assert (len(upstream.requests) > asked) == bool(scripts(stream)), name
        upstream._scripts.clear()  # a connection that had gone stale is replaced unseen
        row = await books.row(answer, name)
        assert (row.status, row.cost, row.postings) == ("error", 0, {}), name
    rows = await books.audit()
    assert books.balance() == CREDIT - sum(row.cost for row in rows)


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_stream_that_breaks_off_costs_what_was_delivered(
    caller: Caller, books: Books, upstream: ScriptedUpstream, path: str
) -> None:
    upstream.enqueue(cut(True))
    answer = await post(caller, path, limit=50, stream=True)
    assert b"error" in answer.body
    row = (await books.audit())[-1]
    assert (row.status, row.cost_estimated) == ("error", True)
    assert 0 < row.cost < USED * 10
    upstream.enqueue(cut(False), cut(False))
    assert (await post(caller, path, limit=50)).status == 502
    assert (await books.audit())[-1].cost == 0


async def ask_apart(gateway_port: int, key: str, path: str, **fields: Any) -> Wire:
    """Ask on a connection of its own."""
    wire = await Wire.to(gateway_port)
    data = json.dumps(body(path, **fields)).encode()
    wire.write(
        f"POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n"
        f"content-length: {len(data)}\r\n\r\n".encode()
        + data
    )
    return wire


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_caller_who_leaves_pays_for_what_was_made_by_then(
    caller: Caller, books: Books, upstream: ScriptedUpstream, path: str
) -> None:
    port, key = caller.gateway.process.port, caller.gateway.key
    events = chat_chunks(["One", " two", " three"], usage=chat_usage())
    stories: dict[str, tuple[Script, bool, bool]] = {
        "before the first token": ([Stall()], True, False),
        "before it, with the stream open": ([Stall()], True, True),
        "after some": ([*sse_reply(events)[:4], Stall()], True, True),
        "plain": ([Stall()], False, False),
    }
    for number, (name, (script, stream, wait)) in enumerate(stories.items(), 1):
        upstream.enqueue(script)
        wire = await ask_apart(port, key, path, stream=stream, limit=50)
        await upstream.wait_requests(number)
        if wait:
            await wire.reader.readuntil(b"two" if name == "after some" else b"\r\n\r\n")
        await wire.close()
        await upstream.wait_closed(number)
        row = (await books.audit(name))[-1]
        assert row.status == "client_closed", name
        assert (row.cost > 0) == (name == "after some"), name
        assert row.cost_estimated == (name == "after some"), name


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
async def test_after_failures_the_model_that_answered_is_paid(
    caller: Caller,
    books: Books,
    upstream: ScriptedUpstream,
    second: ScriptedUpstream,
    stream: bool,
) -> None:
    upstream.enqueue(failing(503), good(stream))
    row = await books.row(await caller.chat(stream=stream))
    assert (len(row.attempts), row.cost) == (2, USED)
    for first in ([failing(500)], [nothing(stream)], [[Pause(0.15), *failing(500)]]):
        upstream.enqueue(*first)
        second.enqueue(good(stream))
        answer = await caller.chat(stream=stream, models=["dear"])
        assert answer.status == 200
        row = await books.row(answer)
        assert (row.answered_by, row.cost) == ("dear", 10 * USED)
    # Both broken: nobody pays.
    upstream.enqueue(failing(500))
    second.enqueue(failing(500))
    await caller.chat(stream=stream, models=["dear"])
    assert (await books.audit())[-1].cost == 0


async def test_a_dearer_alternative_that_cannot_be_paid_is_not_asked(
    caller: Caller, books: Books, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    books.pay_in(600_000 - CREDIT)  # a hundred tokens at 5 dollars a million, not at 50
    upstream.enqueue(failing(500))
    answer = await caller.chat(models=["dear"], max_completion_tokens=100)
    assert answer.status == 502
    assert second.requests == []
    upstream.enqueue(failing(500))
    second.enqueue(good(False))
    answer = await caller.chat(models=["dear"], max_completion_tokens=5)
    assert answer.status == 200
    assert (await books.audit())[-1].cost == 10 * USED


async def test_a_hedge_is_paid_once(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    routes = '[models."both"]\nroutes = ["first", { provider = "second", priority = 2 }]\n'
    price = 'context = 100000\nprice = { input = "1.00", output = "5.00" }\n'
    text = config(upstream, second, PREPAID + routes + price)
    caller = await start(text.replace("[routing]", "[routing]\nhedge = true"))
    books = Books(caller.gateway)
    books.pay_in(CREDIT)
    services = caller.gateway.process._parts.parts.services
    route = caller.gateway.process._gateway.core.snapshot.table.models["both"].routes[0]
    for _ in range(50):
        services.health.began(route, 0.0)
        services.health.succeeded(route, 0.0, 0.05, "account")
        services.hedges.requested()
    upstream.enqueue([Stall()])
    second.enqueue(good(True))
    await caller.chat(model="both", stream=True)
    row = (await books.audit())[-1]
    assert [a.status for a in row.attempts] == ["cancelled", "ok"]
    assert row.cost == USED


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
async def test_a_repeat_is_paid_once_and_leaving_it_is_no_discount(
    caller: Caller, books: Books, upstream: ScriptedUpstream, stream: bool
) -> None:
    name = {"idempotency-key": "order-1"}
    go = asyncio.Event()
    script = good(stream)
    upstream.enqueue([Pause(go), *script])
    asked = [asyncio.create_task(caller.chat(name, stream=stream)) for _ in range(5)]
    await upstream.wait_requests()
    left = asyncio.create_task(caller.chat(name, stream=stream))
    await asyncio.sleep(0.01)
    left.cancel()
    go.set()
    await asyncio.gather(*asked)
    await caller.chat(name, stream=stream)
    (row,) = await books.audit()
    assert row.cost == USED
    upstream.enqueue([Pause(0.1), *good(stream)])
    left = asyncio.create_task(caller.chat({"idempotency-key": "order-2"}, stream=stream))
    await upstream.wait_requests(2)
    left.cancel()
    await until(lambda: len(upstream.requests) == 2)
    assert (await books.audit())[-1].cost == USED
    # Failures free the key, and each try stands by itself.
    upstream.enqueue(failing(500), good(stream))
    for status in (502, 200):
        assert (await caller.chat({"idempotency-key": "3"}, stream=stream)).status == status
    assert [row.cost for row in await books.audit()][-2:] == [0, USED]


async def test_embeddings_are_paid_and_never_sent_a_limit(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(
        PREPAID + f'[providers.own]\nkind = "mistral"\nbase_url = "{upstream.base_url}"\n'
        'api_key = "k"\n[models."my-vectors"]\nroutes = [{ provider = "own", model = "v" }]\n'
        'price = { input = "0.50", output = "0" }\n'
    )
    books = Books(caller.gateway)
    used = {"prompt_tokens": 8, "total_tokens": 8}
    vectors = {
        "object": "list",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
        "model": "v",
        "usage": used,
    }
    asked = len(upstream.requests)
    for model in ("mistral-embed", "my-vectors"):
        answer = await post(caller, "/v1/embeddings", model=model)
        assert (answer.status, answer.json["error"]["code"]) == (402, "insufficient_credit")
    assert len(upstream.requests) == asked
    books.pay_in(100_000)
    await asyncio.sleep(0.06)  # so long an empty wallet is not looked into again
    for model, cost in (("mistral-embed", 800), ("my-vectors", 4000)):
        upstream.enqueue(json_reply(vectors))
        assert (await post(caller, "/v1/embeddings", model=model)).status == 200
        assert (await books.audit(model))[-1].cost == cost
        assert upstream.requests[-1].json.keys() <= {"model", "input"}
    upstream.enqueue(json_reply({**vectors, "usage": None}))
    await post(caller, "/v1/embeddings", model="my-vectors")
    assert (await books.audit())[-1].cost > 0
    upstream.enqueue(json_reply({**vectors, "data": []}))
    await post(caller, "/v1/embeddings", model="my-vectors")
    assert (await books.audit())[-1].cost == 0


async def test_what_is_asked_for_together_is_reserved_together(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    """A request's hold is the most it can cost, of all its choices, until it is over."""
    caller = await start(config(upstream, second).replace('"groq"', '"vllm"'))
    books = Books(caller.gateway)
    books.pay_in(CREDIT)
    go = asyncio.Event()
    upstream.enqueue([Pause(go), *good(False)], [Pause(go), *good(True)])
    asked = [
        asyncio.create_task(caller.chat(max_completion_tokens=100, n=2)),
        asyncio.create_task(caller.chat(max_completion_tokens=100, stream=True)),
    ]
    await upstream.wait_requests(2)
    ledger = books.ledger
    assert ledger.holds == 2
    prompt = ledger.held - 300 * 5000
    assert 0 < prompt < 300 * 1000
    (one,) = ledger.wallets._slices.values()
    assert (one.held, one.free) == (ledger.held, CREDIT - ledger.held)
    go.set()
    await asyncio.gather(*asked)
    await books.audit()


async def test_tool_calls_and_thinking_count_as_what_was_made(
    caller: Caller, books: Books, upstream: ScriptedUpstream
) -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
    for delta in ({"reasoning_content": "Hm. " * 40}, {"tool_calls": [call]}, {"refusal": "No."}):
        upstream.enqueue([*sse_reply([chat_chunk(delta)])[:2], Close()])
        await caller.chat(stream=True, tools=[{"type": "function", "function": {"name": "f"}}])
        row = (await books.audit(str(delta)))[-1]
        assert (row.status, row.cost > 0) == ("error", True), delta


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_empty_answers_are_free_for_a_while(
    start: Start,
    upstream: ScriptedUpstream,
    second: ScriptedUpstream,
    store_url: str,
    path: str,
    stream: bool,
) -> None:
    """A model may think for long and say nothing: its provider wants its money."""
    text = config(upstream, second, PREPAID + stored(store_url))
    # On a slow machine either, no stream opens before its first token.
    caller = await start(text.replace("early_open_s = 0.1", "early_open_s = 5"))
    books = Books(caller.gateway)
    books.pay_in(CREDIT)
    usage = chat_usage(9, 2000)
    last = {**chat_chunk({}, finish_reason="stop"), "usage": usage}
    empty = sse_reply([last, "[DONE]"]) if stream else json_reply(chat_reply("", usage=usage))
    for number in range(5):
        upstream.enqueue(empty)
        answer = await post(caller, path, limit=3000, stream=stream)
        assert answer.status == 502
        row = await books.row(answer)
        beyond = number >= 3
        assert (row.status, row.error) == ("error", "upstream_failed")
        assert row.cost == (9000 + 2000 * 5000 if beyond else 0)
        assert (row.usage is not None) == beyond
        assert ("Empty answers are charged" in answer.json["error"]["message"]) == beyond
    rows = await books.audit()
    assert sum(row.cost for row in rows) == 2 * (9000 + 2000 * 5000)


async def test_an_empty_answer_beyond_the_free_ones_is_charged_beside_the_one_that_came(
    caller: Caller, books: Books, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    for beyond in (False, False, False, True):
        upstream.enqueue(json_reply(chat_reply("", usage=chat_usage(9, 2000))))
        second.enqueue(good(False))
        answer = await caller.chat(models=["dear"])
        row = await books.row(answer)
        assert (answer.status, row.answered_by) == (200, "dear")
        assert answer.json["usage"]["completion_tokens"] == 3
        assert row.cost == 10 * USED + (9000 + 2000 * 5000 if beyond else 0)
        assert [attempt.charged > 0 for attempt in row.attempts] == [beyond, False]
    await books.audit()
