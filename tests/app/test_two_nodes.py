"""Two gateways over one PostgreSQL and one Valkey: a caller need not know which one it asks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.app.conftest import CONFIG, Caller, until
from tests.servers import PostgreSQL
from tests.valkey_server import ValkeyServer
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Pause, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

KEY = {"idempotency-key": "order-17"}


@pytest.fixture
async def nodes(
    tmp_path: Path,
    upstream: ScriptedUpstream,
    postgresql: PostgreSQL,
    shared_valkey: ValkeyServer,
) -> AsyncIterator[list[Caller]]:
    shared_valkey.flush(2)
    with postgresql.database() as url:
        storage = (
            f'[storage]\nurl = "{url}"\nvalkey_url = "valkey://127.0.0.1:{shared_valkey.port}/2"\n'
        )
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(HttpClient())
            callers: list[Caller] = []
            for name in ("one", "two"):
                (tmp_path / name).mkdir()
                config = CONFIG.format(upstream=upstream.base_url) + storage
                gateway = RunningGateway(tmp_path / name, config)
                await stack.enter_async_context(gateway)
                gateway.key = gateway.key or callers[0].gateway.key
                callers.append(Caller(gateway, client))
            yield callers


@pytest.mark.parametrize("stream", [False, True])
async def test_a_repeat_at_another_node_gets_the_same_answer_and_is_paid_once(
    nodes: list[Caller], upstream: ScriptedUpstream, stream: bool
) -> None:
    upstream.enqueue(sse_reply(chat_chunks("Hello there")) if stream else json_reply(chat_reply()))
    one, two = nodes
    first = await one.chat(KEY, stream=stream)
    again = await two.chat(KEY, stream=stream)
    assert (first.status, again.status) == (200, 200)
    assert first.body == again.body
    assert first.headers["x-request-id"] == again.headers["x-request-id"]
    assert len(upstream.requests) == 1


async def test_a_repeat_while_it_runs_at_another_node_waits_for_its_end(
    nodes: list[Caller], upstream: ScriptedUpstream
) -> None:
    go = asyncio.Event()
    upstream.enqueue([Pause(go), *json_reply(chat_reply())])
    one, two = nodes
    first = asyncio.create_task(one.chat(KEY))
    await upstream.wait_requests()
    rest = [asyncio.create_task(caller.chat(KEY)) for caller in (two, two, one)]
    shared = two.gateway.process._gateway.core.parts.answers
    assert shared is not None
    await until(lambda: sum(map(len, shared._waiting.values())) == 2)
    go.set()
    answers = [await first, *[await one for one in rest]]
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    assert len(upstream.requests) == 1


async def test_a_repeat_that_waits_does_not_hold_up_the_end_of_its_node(
    nodes: list[Caller], upstream: ScriptedUpstream
) -> None:
    go = asyncio.Event()
    upstream.enqueue([Pause(go), *json_reply(chat_reply())])
    one, two = nodes
    first = asyncio.create_task(one.chat(KEY))
    await upstream.wait_requests()
    again = asyncio.create_task(two.chat(KEY))
    process = two.gateway.process
    await until(lambda: len(process._gateway.core.waiting) == 1)
    process.stop(at_once=True)
    refused = await again
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    await process.wait()
    go.set()
    assert (await first).status == 200
    row = await one.logged(refused)
    assert (row["status"], row["http_status"]) == ("error", 503)


async def test_a_failed_request_lets_the_other_node_try(
    nodes: list[Caller], upstream: ScriptedUpstream
) -> None:
    one, two = nodes
    upstream.enqueue(json_reply({"error": {"message": "no"}}, 400), json_reply(chat_reply("Good")))
    assert (await one.chat(KEY)).status == 400
    good = await two.chat(KEY)
    assert (good.status, b"Good" in good.body) == (200, True)


async def test_a_refused_request_leaves_its_key_free_at_every_node(
    nodes: list[Caller], upstream: ScriptedUpstream
) -> None:
    one, two = nodes
    assert (await one.chat(KEY, model="no-such-model")).status == 404
    wrong = await one.chat(KEY, messages=[{"role": "user", "content": [{"type": "video_url"}]}])
    assert wrong.status == 400
    upstream.enqueue(json_reply(chat_reply()))
    assert (await two.chat(KEY)).status == 200


async def test_the_same_key_with_another_body_is_refused_at_every_node(
    nodes: list[Caller], upstream: ScriptedUpstream
) -> None:
    one, two = nodes
    upstream.enqueue(json_reply(chat_reply()))
    await one.chat(KEY)
    other = await two.chat(KEY, temperature=1)
    assert (other.status, other.json["error"]["code"]) == (422, "idempotency_key_reused")


async def test_a_retry_after_met_by_one_node_is_kept_by_both(
    nodes: list[Caller], upstream: ScriptedUpstream
) -> None:
    one, two = nodes
    limited = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
    upstream.enqueue(json_reply(limited, 429, {"retry-after": "30"}))
    assert (await one.chat()).status == 429
    core = two.gateway.process._gateway.core
    served = core.snapshot.table.find("test-model")
    assert served is not None
    await until(lambda: not core.parts.services.health.is_up(served.routes[0], core.loop.time()))
    answer = await two.chat()
    assert answer.status == 429
    assert 25 < int(answer.headers["retry-after"]) <= 30
    assert len(upstream.requests) == 1
