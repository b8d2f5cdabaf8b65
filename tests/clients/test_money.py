"""What official SDKs do where money or a limit is used up: 402 is final, 429 is waited for."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anthropic
import anyio
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from tests.app.books import HI, PREPAID, Books
from tests.app.conftest import Caller, Start, start, upstream
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream

__all__ = ["start", "upstream"]  # fixtures of the whole gateway

CONFIG = """
[sandbox]
enabled = false
[providers.first]
kind = "groq"
base_url = "{upstream}"
api_key = "SECRET-1"
catalogue = false
[models."test-model"]
routes = ["first"]
context = 100000
price = {{ input = "1.00", output = "5.00" }}
"""

Ask = Callable[[], Awaitable[Any]]


@pytest.fixture
async def caller(start: Start, upstream: ScriptedUpstream) -> Caller:
    return await start(CONFIG.format(upstream=upstream.base_url) + PREPAID)


@pytest.fixture
def books(caller: Caller) -> Books:
    return Books(caller.gateway)


@pytest.fixture
async def asks(caller: Caller) -> AsyncIterator[dict[str, Ask]]:
    """Each SDK as a user makes it, with its usual second tries, on each endpoint."""
    gateway = caller.gateway
    base_url = f"{gateway.base_url}/v1"
    async with (
        AsyncOpenAI(base_url=base_url, api_key=gateway.key, timeout=20) as one,
        AsyncAnthropic(base_url=gateway.base_url, api_key=gateway.key, timeout=20) as two,
    ):
        model: Any = {"model": "test-model"}
        turns: Any = HI
        chat = {**model, "messages": turns, "max_completion_tokens": 100}
        message = {**model, "messages": turns, "max_tokens": 100}
        reply = {**model, "input": "Hi", "max_output_tokens": 100}
        yield {
            "chat": lambda: one.chat.completions.create(**chat),
            "chat stream": lambda: one.chat.completions.create(**chat, stream=True),
            "responses": lambda: one.responses.create(**reply),
            "responses stream": lambda: one.responses.create(**reply, stream=True),
            "messages": lambda: two.messages.create(**message),
            "messages stream": lambda: two.messages.create(**message, stream=True),
        }


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long an SDK waits before each new try; the waiting itself is left out."""
    taken: list[float] = []

    async def nap(seconds: float) -> None:
        taken.append(seconds)

    monkeypatch.setattr(anyio, "sleep", nap)
    return taken


async def test_a_402_is_an_error_with_its_code_and_is_not_tried_again(
    asks: dict[str, Ask], books: Books, upstream: ScriptedUpstream, naps: list[float]
) -> None:
    for name, ask in asks.items():
        with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as raised:
            await ask()
        error: Any = raised.value
        assert error.status_code == 402, name
        assert "credit" in error.message, name
        if isinstance(error, openai.APIStatusError):
            assert (error.code, error.type) == ("insufficient_credit", "insufficient_quota"), name
        else:
            assert error.body["error"]["type"] == "billing_error", name
        assert error.request_id.startswith("req_")
    assert naps == []
    assert upstream.requests == []
    assert len(await books.audit()) == len(asks)


async def test_a_429_is_waited_for_as_long_as_it_says(
    asks: dict[str, Ask], books: Books, upstream: ScriptedUpstream, naps: list[float]
) -> None:
    books.pay_in(10**9)
    await books.set_key(rpm=1)
    upstream.enqueue(json_reply(chat_reply()))
    await asks["chat"]()
    for name, ask in asks.items():
        naps.clear()
        with pytest.raises((openai.RateLimitError, anthropic.RateLimitError)) as raised:
            await ask()
        refused: Any = raised.value
        wait = int(refused.response.headers["retry-after"])
        assert len(naps) == 2, name
        assert all(abs(nap - wait) <= 1 for nap in naps), name
    assert len(upstream.requests) == 1
    rows = await books.audit()
    assert rows[0].http_status == 200
    assert {row.http_status for row in rows[1:]} == {429}
    assert sum(row.count for row in rows[1:]) == 3 * len(asks)


async def test_a_limit_that_is_told_lets_the_request_through(
    asks: dict[str, Ask], caller: Caller, books: Books, upstream: ScriptedUpstream
) -> None:
    """As a program would: read the affordable tokens, ask for so many."""
    books.pay_in(300_000)
    gateway = caller.gateway
    async with AsyncOpenAI(base_url=f"{gateway.base_url}/v1", api_key=gateway.key) as sdk:
        turns: Any = HI
        with pytest.raises(openai.APIStatusError) as raised:
            await sdk.chat.completions.create(
                model="test-model", messages=turns, max_completion_tokens=4000
            )
        tokens = int(raised.value.message.partition("at most ")[2].split()[0])
        upstream.enqueue(json_reply(chat_reply(usage=chat_usage(9, tokens))))
        answer = await sdk.chat.completions.create(
            model="test-model", messages=turns, max_completion_tokens=tokens
        )
        assert answer.usage is not None
        assert answer.usage.completion_tokens == tokens
    rows = await books.audit()
    assert rows[-1].cost == 9000 + 5000 * tokens


async def test_the_usage_an_sdk_reads_is_what_is_billed(
    asks: dict[str, Ask], books: Books, upstream: ScriptedUpstream
) -> None:
    books.pay_in(10**9)
    usage = chat_usage(11, 7)
    for name, ask in asks.items():
        stream = "stream" in name
        chunks = sse_reply(chat_chunks("Hello there", usage=usage))
        upstream.enqueue(chunks if stream else json_reply(chat_reply("Hello", usage=usage)))
        answer = await ask()
        if stream:
            async for _ in answer:
                pass
        elif name == "chat":
            assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (11, 7)
        else:
            assert (answer.usage.input_tokens, answer.usage.output_tokens) == (11, 7)
    rows = await books.audit()
    assert {row.cost for row in rows} == {11 * 1000 + 7 * 5000}
