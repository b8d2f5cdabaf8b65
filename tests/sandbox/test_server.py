import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest

from zurelay.sandbox.server import App, running

MESSAGES: list[Any] = [{"role": "user", "content": "Hello there"}]


@pytest.fixture
async def base_url() -> AsyncIterator[str]:
    async with running() as url:
        yield url


@pytest.fixture
async def client(base_url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=base_url, api_key="any", max_retries=0) as made:
        yield made


async def streamed(client: openai.AsyncOpenAI, model: str, **fields: Any) -> list[Any]:
    stream = await client.chat.completions.create(
        model=model, messages=MESSAGES, stream=True, **fields
    )
    return [chunk async for chunk in stream]


async def raw(base_url: str, request: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = base_url.removeprefix("http://").removesuffix("/v1").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    await writer.drain()
    return reader, writer


def post(model: str, **fields: Any) -> bytes:
    body = json.dumps({"model": model, "messages": MESSAGES, **fields}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def test_the_official_sdk_gets_a_plain_answer(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="sandbox/echo", messages=MESSAGES)
    assert answer.choices[0].message.content == "Hello there"
    assert answer.usage is not None
    assert answer.usage.total_tokens == 8


async def test_the_official_sdk_reads_a_stream(client: openai.AsyncOpenAI) -> None:
    chunks = await streamed(
        client, "sandbox/lorem?tokens=5&tps=200", stream_options={"include_usage": True}
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "Lorem ipsum dolor sit amet,"
    assert chunks[-1].usage.completion_tokens == 5


async def test_the_official_sdk_calls_tools_to_the_end(client: openai.AsyncOpenAI) -> None:
    tools: Any = [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
    ]
    first = await client.chat.completions.create(
        model="sandbox/tools", messages=MESSAGES, tools=tools
    )
    message = first.choices[0].message
    assert message.tool_calls is not None
    (call,) = message.tool_calls
    assert call.type == "function"
    assert json.loads(call.function.arguments) == {"city": "text"}
    history = [
        *MESSAGES,
        message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "sunny"},
    ]
    second = await client.chat.completions.create(
        model="sandbox/tools", messages=history, tools=tools
    )
    assert "get_weather answered: sunny" in (second.choices[0].message.content or "")


async def test_the_official_sdk_sees_thinking(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model="sandbox/reasoning", messages=MESSAGES, reasoning_effort="low"
    )
    assert getattr(answer.choices[0].message, "reasoning_content", "")
    assert answer.usage is not None
    assert answer.usage.completion_tokens_details is not None
    assert answer.usage.completion_tokens_details.reasoning_tokens == 20


async def test_the_official_sdk_sees_refusals(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="sandbox/refusal", messages=MESSAGES)
    assert answer.choices[0].message.refusal
    assert answer.choices[0].message.content is None


@pytest.mark.parametrize(
    ("model", "error"),
    [
        ("sandbox/error?status=400", openai.BadRequestError),
        ("sandbox/error?status=401", openai.AuthenticationError),
        ("sandbox/error?status=503", openai.InternalServerError),
        ("sandbox/rate-limit", openai.RateLimitError),
        ("sandbox/nope", openai.NotFoundError),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_official_sdk_raises_the_error_of_the_status(
    client: openai.AsyncOpenAI, model: str, error: type[openai.APIStatusError], stream: bool
) -> None:
    with pytest.raises(error):
        await client.chat.completions.create(model=model, messages=MESSAGES, stream=stream)


async def test_the_official_sdk_raises_an_error_event(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.APIError, match="503"):
        await streamed(client, "sandbox/error?after=2")


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_cut_answer_is_a_connection_error(
    client: openai.AsyncOpenAI, after: int, stream: bool
) -> None:
    model = f"sandbox/cut?after={after}"
    with pytest.raises(openai.APIConnectionError):
        if stream:
            await streamed(client, model)
        else:
            await client.chat.completions.create(model=model, messages=MESSAGES)


async def test_the_models_are_listed(client: openai.AsyncOpenAI) -> None:
    assert "sandbox/echo" in [model.id async for model in client.models.list()]


async def test_a_connection_serves_one_request_after_another(base_url: str) -> None:
    reader, writer = await raw(base_url, post("sandbox/echo") + post("sandbox/echo"))
    for _ in range(2):
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        length = next(
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.startswith(b"content-length")
        )
        assert b"Hello there" in await reader.readexactly(length)
    writer.close()


async def test_a_client_that_leaves_ends_a_stalled_answer() -> None:
    body = {"model": "sandbox/stall?after=1", "messages": MESSAGES, "stream": True}
    heard: list[dict[str, Any]] = [
        {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False},
        {"type": "http.disconnect"},
    ]
    sent: list[dict[str, Any]] = []
    token = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if len(heard) == 1:
            await token.wait()
        return heard.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if b"Lorem" in message.get("body", b""):
            token.set()

    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions"}
    await asyncio.wait_for(App()(scope, receive, send), 5)
    assert sent[-1]["more_body"]


async def test_other_servers_see_a_cut_as_a_failure_of_the_application() -> None:
    body = {"model": "sandbox/cut?after=1", "messages": MESSAGES, "stream": True}
    message = {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}
    heard = [message]

    async def receive() -> dict[str, Any]:
        if not heard:
            await asyncio.Event().wait()
        return heard.pop()

    async def send(message: dict[str, Any]) -> None:
        pass

    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions"}
    with pytest.raises(ConnectionAbortedError):
        await App()(scope, receive, send)


async def test_a_body_that_is_too_long_is_refused(
    base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.sandbox.server._MOST_BODY", 50)
    reader, writer = await raw(base_url, post("sandbox/echo"))
    assert b" 413 " in await asyncio.wait_for(reader.readline(), 5)
    writer.close()


async def test_a_port_in_use_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        async with running(port=taken.getsockname()[1]):
            pass


async def test_it_runs_until_it_is_told_to_stop() -> None:
    code = "from zurelay.sandbox.server import run; run('127.0.0.1', 0, lambda u: print(u, flush=True))"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, env={**os.environ}
    )
    assert process.stdout is not None
    url = (await asyncio.wait_for(process.stdout.readline(), 30)).decode().strip()
    async with openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=0) as client:
        answer = await client.chat.completions.create(model="echo", messages=MESSAGES)
        assert answer.choices[0].message.content == "Hello there"
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 30) == 0
