"""Rate limits over the whole gateway: alone, and shared through a real Valkey."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from tests.api.wire import Caller as Wire
from tests.app.conftest import Answer, Ask, Caller, until
from tests.valkey_server import ValkeyServer
from zurelay.live.limits import LocalLimits
from zurelay.live.shared_limits import SharedLimits
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Pause, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

CONFIG = """
[server]
expose_routes = false

[limits]
{limits}

[providers.first]
kind = "groq"
base_url = "{upstream}"
api_key = "SECRET-1234"
catalogue = false

[providers.vectors]
kind = "mistral"
base_url = "{upstream}"
api_key = "SECRET-1234"

[models."test-model"]
routes = [{{ provider = "first", model = "upstream-name" }}]
max_output = 5000
price = {{ input = "1.00", output = "5.00" }}
{model}
"""

HI = [{"role": "user", "content": "Hi"}]
PATHS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": HI, "max_tokens": 100},
    "/v1/messages": {"messages": HI, "max_tokens": 100},
    "/v1/responses": {"input": "Hi", "max_output_tokens": 100},
}


class Standing:
    """A clock that stands still until it is moved on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return 1_000_000 + self.ahead

    def ms(self) -> int:
        return int(self() * 1000)


class Limited(Caller):
    """A caller of a gateway whose limits go by a clock of the test's own."""

    clock: Standing

    async def post(self, path: str, **fields: Any) -> Answer:
        body = json.dumps({"model": "test-model", **fields}).encode()
        headers = {**self.gateway.headers, "content-type": "application/json"}
        return await self.send("POST", path, body, headers)


Begin = Callable[..., Any]


@pytest.fixture(params=["alone", "shared"])
async def begin(
    request: pytest.FixtureRequest, tmp_path: Path, upstream: ScriptedUpstream
) -> AsyncIterator[Begin]:
    """Starts a gateway with these lines of `[limits]`, and of the model's table."""
    running: list[RunningGateway] = []
    client = HttpClient()

    async def start(limits: str, model: str = "") -> Limited:
        config = CONFIG.format(upstream=upstream.base_url, limits=limits, model=model)
        if request.param == "shared":
            server: ValkeyServer = request.getfixturevalue("shared_valkey")
            server.flush(1)
            config += f'[storage]\nvalkey_url = "valkey://127.0.0.1:{server.port}/1"\n'
        gateway = RunningGateway(tmp_path, config)
        await gateway.__aenter__()
        running.append(gateway)
        caller = Limited(gateway, client)
        caller.clock = Standing()
        kept = gateway.process._gateway.core.parts.limits
        if isinstance(kept, SharedLimits):
            kept._server_ms = caller.clock.ms
            kept._deadline = 10
            kept.opened()
            kept = kept._own
        assert isinstance(kept, LocalLimits)
        kept._clock = caller.clock
        return caller

    yield start
    await client.aclose()
    for one in running:
        await one.__aexit__()


def limits_told(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if "ratelimit" in name}


async def test_the_limit_is_let_in_and_the_next_is_told_when_to_come_again(
    begin: Begin, upstream: ScriptedUpstream
) -> None:
    caller = await begin("rpm = 2")
    upstream.enqueue(json_reply(chat_reply()), sse_reply(chat_chunks("Hi")))
    first = await caller.chat()
    assert first.status == 200
    told = limits_told(first)
    # Wall time goes on: what is told counts down until it is sent.
    assert told.pop("x-ratelimit-reset-requests").startswith(("1m", "5"))
    assert told == {"x-ratelimit-limit-requests": "2", "x-ratelimit-remaining-requests": "1"}
    second = await caller.chat(stream=True)
    assert second.headers["x-ratelimit-remaining-requests"] == "0"

    refused = await caller.chat()
    assert refused.status == 429
    error = refused.json["error"]
    assert (error["type"], error["code"]) == ("rate_limit_error", "rate_limit_exceeded")
    assert "this key: 2 requests per minute" in error["message"]
    assert refused.headers["retry-after"] == "60"
    assert refused.headers["x-ratelimit-remaining-requests"] == "0"
    assert len(upstream.requests) == 2
    row = await caller.logged(refused)
    assert (row["status"], row["http_status"]) == ("error", 429)
    assert (row["error"], row["attempts"], row["cost_usd"]) == ("rate_limit_exceeded", [], "0")

    caller.clock.ahead += int(refused.headers["retry-after"])
    upstream.enqueue(json_reply(chat_reply()))
    assert (await caller.chat()).status == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [False, True])
async def test_every_endpoint_counts_against_the_same_limits(
    begin: Begin, upstream: ScriptedUpstream, path: str, stream: bool
) -> None:
    caller = await begin("rpm = 1\ntpm = 500")
    upstream.enqueue(sse_reply(chat_chunks("Hi")) if stream else json_reply(chat_reply()))
    first = await caller.post(path, stream=stream, **PATHS[path])
    assert first.status == 200, first.body
    second = await caller.post(path, stream=stream, **PATHS[path])
    assert second.status == 429
    assert int(second.headers["retry-after"]) > 50
    prefix = "anthropic-ratelimit-" if path == "/v1/messages" else "x-ratelimit-"
    for answer in (first, second):
        told = limits_told(answer)
        assert len(told) == 6
        assert all(name.startswith(prefix) for name in told)
    if path == "/v1/messages":
        assert second.json["error"]["type"] == "rate_limit_error"
        assert first.headers["anthropic-ratelimit-requests-remaining"] == "0"
        reset = first.headers["anthropic-ratelimit-requests-reset"]
        assert time.strptime(reset, "%Y-%m-%dT%H:%M:%SZ")
    assert len(upstream.requests) == 1


async def test_embeddings_count_too(begin: Begin, upstream: ScriptedUpstream) -> None:
    caller = await begin("rpm = 1\ntpm = 500")
    used = {"prompt_tokens": 8, "total_tokens": 8}
    item = {"object": "embedding", "index": 0, "embedding": [0.5]}
    upstream.enqueue(json_reply({"object": "list", "data": [item], "usage": used}))
    body = {"model": "mistral-embed", "input": "one"}
    first = await caller.post("/v1/embeddings", **body)
    assert first.status == 200, first.body
    assert int(first.headers["x-ratelimit-remaining-tokens"]) > 480  # its answer has no tokens
    assert (await caller.post("/v1/embeddings", **body)).status == 429


async def test_counts_of_tokens_are_limited_apart(begin: Begin, upstream: ScriptedUpstream) -> None:
    caller = await begin("rpm = 1\ntpm = 500")
    count = "/v1/messages/count_tokens"
    first = await caller.post(count, messages=HI)
    assert first.status == 200
    assert first.headers["anthropic-ratelimit-requests-remaining"] == "0"
    second = await caller.post(count, messages=HI)
    assert (second.status, second.json["error"]["type"]) == (429, "rate_limit_error")
    upstream.enqueue(json_reply(chat_reply()))
    assert (await caller.chat()).status == 200


async def test_tokens_are_set_aside_while_it_runs_and_put_right_after(
    begin: Begin, upstream: ScriptedUpstream, ask: Ask
) -> None:
    caller = await begin("tpm = 5000")
    go = asyncio.Event()
    script = sse_reply(
        chat_chunks("one two", usage={"prompt_tokens": 100, "completion_tokens": 60})
    )
    upstream.enqueue([*script[:3], Pause(go), *script[3:]])
    running = await ask(caller, max_tokens=4000)
    await running.head()
    assert int(running.headers["x-ratelimit-remaining-tokens"]) < 1000
    assert (await caller.chat(max_tokens=4000)).status == 429
    go.set()
    await running.writes()
    upstream.enqueue(json_reply(chat_reply()))
    after = await caller.chat(max_tokens=1)
    assert after.status == 200
    assert 5000 - 160 - 20 <= int(after.headers["x-ratelimit-remaining-tokens"]) < 5000 - 160


async def test_a_failed_request_counts_as_one_and_its_tokens_do_not(
    begin: Begin, upstream: ScriptedUpstream
) -> None:
    caller = await begin("rpm = 5\ntpm = 1000")
    upstream.enqueue(json_reply({"error": {"message": "no"}}, 400))
    failed = await caller.chat(max_tokens=900)
    assert failed.status == 400
    assert failed.headers["x-ratelimit-remaining-requests"] == "4"
    upstream.enqueue(json_reply(chat_reply()))
    after = await caller.chat(max_tokens=900)
    assert after.status == 200
    assert after.headers["x-ratelimit-remaining-requests"] == "3"


async def test_a_request_refused_for_another_reason_uses_nothing_up(
    begin: Begin, upstream: ScriptedUpstream
) -> None:
    caller = await begin("rpm = 1")
    wrong: list[dict[str, Any]] = [{"model": "no-such"}, {"temperature": "hot"}, {"messages": []}]
    for fields in wrong:
        assert (await caller.chat(**fields)).status in (400, 404)
    upstream.enqueue(json_reply(chat_reply()))
    assert (await caller.chat()).headers["x-ratelimit-remaining-requests"] == "0"


async def test_a_place_is_free_again_when_the_caller_leaves(
    begin: Begin, upstream: ScriptedUpstream, ask: Ask
) -> None:
    model = "limits = { concurrency = 1 }"
    caller = await begin("", model)
    script = sse_reply(chat_chunks("one two"))
    upstream.enqueue([*script[:3], Pause(asyncio.Event())])
    running = await ask(caller)
    await running.write()
    refused = await caller.chat()
    assert refused.status == 429
    assert "at once for this model, all callers together: the limit is 1" in refused.body.decode()
    assert refused.headers["retry-after"] == "1"
    await running.leave()
    await until(lambda: not caller.gateway.process._gateway.core.runs)
    upstream.enqueue(json_reply(chat_reply()))
    assert (await caller.chat()).status == 200


async def test_no_more_than_a_hundred_at_once_unless_it_is_set_otherwise(
    begin: Begin, upstream: ScriptedUpstream, ask: Ask
) -> None:
    caller = await begin("concurrency = 2")
    go = asyncio.Event()
    for _ in range(2):
        upstream.enqueue([Pause(go), *json_reply(chat_reply())])
    running = [asyncio.create_task(caller.chat()) for _ in range(2)]
    await upstream.wait_requests(2)
    refused = await caller.chat()
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert limits_told(refused) == {}
    go.set()
    assert [(await one).status for one in running] == [200, 200]
    await caller.gateway.reload(caller.gateway.config_path.read_text().replace("= 2\n", "= 0\n"))
    upstream.enqueue(json_reply(chat_reply()))
    assert (await caller.chat()).status == 200


async def test_a_repeat_of_an_idempotency_key_counts_once(
    begin: Begin, upstream: ScriptedUpstream
) -> None:
    caller = await begin("rpm = 1")
    upstream.enqueue(json_reply(chat_reply()))
    key = {"idempotency-key": "once"}
    first, again = await caller.chat(key), await caller.chat(key)
    assert (first.status, again.status) == (200, 200)
    assert first.body == again.body
    assert (await caller.chat()).status == 429


async def test_a_burst_cannot_pass_the_limit_on_tokens(
    begin: Begin, upstream: ScriptedUpstream
) -> None:
    caller = await begin("tpm = 1000")
    reply = json_reply(chat_reply(usage={"prompt_tokens": 10, "completion_tokens": 165}))
    upstream.enqueue(*[reply for _ in range(20)])
    answers = await asyncio.gather(*(caller.chat(max_tokens=165) for _ in range(20)))
    let_in = [one for one in answers if one.status == 200]
    assert {one.status for one in answers} == {200, 429}
    assert len(upstream.requests) == len(let_in)
    assert 175 * len(let_in) <= 1000 + 175


async def test_a_body_that_would_come_in_vain_is_not_read(
    begin: Begin, upstream: ScriptedUpstream, ask: Ask
) -> None:
    caller = await begin("concurrency = 1")
    go = asyncio.Event()
    upstream.enqueue([Pause(go), *json_reply(chat_reply())])
    running = asyncio.create_task(caller.chat())
    await upstream.wait_requests(1)
    for header, refused in (("x-any: 1", True), ("idempotency-key: k", False)):
        wire = await Wire.to(caller.gateway.process.port)
        lines = [
            "POST /v1/messages HTTP/1.1",
            "host: x",
            f"authorization: Bearer {caller.gateway.key}",
            "content-length: 1000000",
            header,
        ]
        wire.write("\r\n".join([*lines, "", "{"]).encode())
        if refused:
            assert b" 429 " in await wire.line()
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(wire.line(), 0.05)
        await wire.close()
    go.set()
    assert (await running).status == 200


async def test_a_model_is_limited_over_all_its_callers_and_no_other_is(
    begin: Begin, upstream: ScriptedUpstream
) -> None:
    caller = await begin("", "limits = { rpm = 1 }")
    upstream.enqueue(json_reply(chat_reply()))
    assert (await caller.chat()).status == 200
    assert (await caller.chat()).status == 429
    other = await caller.chat(model="sandbox/echo")
    assert (other.status, limits_told(other)) == (200, {})


@pytest.mark.parametrize("who", ["openai", "anthropic"])
async def test_the_sdks_wait_as_they_are_told_and_then_succeed(
    begin: Begin, upstream: ScriptedUpstream, who: str
) -> None:
    caller = await begin("rpm = 1")
    gateway = caller.gateway
    upstream.enqueue(json_reply(chat_reply()), json_reply(chat_reply("Later")))
    assert (await caller.chat()).status == 200
    caller.clock.ahead += 59.75
    seen: list[tuple[int, float]] = []

    async def note(response: Any) -> None:
        seen.append((response.status_code, time.monotonic()))
        if response.status_code == 429:
            caller.clock.ahead += int(response.headers["retry-after-ms"]) / 1000

    hooks = {"response": [note]}
    if who == "openai":
        async with AsyncOpenAI(
            base_url=f"{gateway.base_url}/v1",
            api_key=gateway.key,
            max_retries=1,
            timeout=20,
            http_client=openai.DefaultAsyncHttpxClient(event_hooks=hooks),
        ) as client:
            chat = await client.chat.completions.create(
                model="test-model", messages=[{"role": "user", "content": "Hi"}]
            )
            said = chat.choices[0].message.content
    else:
        async with AsyncAnthropic(
            base_url=gateway.base_url,
            api_key=gateway.key,
            max_retries=1,
            timeout=20,
            http_client=anthropic.DefaultAsyncHttpxClient(event_hooks=hooks),
        ) as claude:
            message = await claude.messages.create(
                model="test-model", max_tokens=50, messages=[{"role": "user", "content": "Hi"}]
            )
            block = message.content[0]
            said = block.text if block.type == "text" else ""
    assert said == "Later"
    assert [status for status, _ in seen] == [429, 200]
    assert seen[1][1] - seen[0][1] >= 0.25
    scrape = (await caller.get("/metrics")).body.decode()
    (counted,) = [line for line in scrape.split("\n") if 'http_status="429"' in line]
    assert counted.endswith(" 1.0")


async def test_two_gateways_share_what_a_key_may_use(
    tmp_path: Path, upstream: ScriptedUpstream, shared_valkey: ValkeyServer
) -> None:
    shared_valkey.flush(1)
    config = CONFIG.format(
        upstream=upstream.base_url, limits="", model="limits = { rpm = 3, tpm = 100000 }"
    )
    config += f'[storage]\nvalkey_url = "valkey://127.0.0.1:{shared_valkey.port}/1"\n'
    upstream.enqueue(*[json_reply(chat_reply()) for _ in range(3)])
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    async with (
        RunningGateway(tmp_path / "one", config) as one,
        RunningGateway(tmp_path / "two", config) as two,
        HttpClient() as client,
    ):
        callers = [Caller(one, client), Caller(two, client)]
        for gateway in (one, two):
            limits = gateway.process._gateway.core.parts.limits
            assert isinstance(limits, SharedLimits)
            limits._deadline = 10
        answers = [await callers[turn % 2].chat() for turn in range(5)]
        assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
        left = [int(one.headers["x-ratelimit-remaining-requests"]) for one in answers]
        assert left == [2, 1, 0, 0, 0]
        scrape = (await callers[0].get("/metrics")).body.decode()
        assert "zurelay_shared_state_up 1.0" in scrape
