"""A repeat with the same Idempotency-Key is answered by the first request and paid once."""

import asyncio
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller, until
from zurelay.access.keys import Key, hash_key, last4, make_key
from zurelay.relay.replay import DETACHED_SECONDS
from zurelay.store.accounts import ensure_account
from zurelay.store.keys import add_key, list_keys
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Close, Pause, Script, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

KEY = {"idempotency-key": "order-17"}
SHOWN = "x-request-id", "server-timing", "x-zurelay-model", "content-type"


async def counted(caller: Caller, series: str) -> float:
    """The sum of all series of a counter."""
    text = (await caller.get("/metrics")).body.decode()
    lines = [line for line in text.split("\n") if line.startswith(series)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


async def requests(caller: Caller) -> float:
    return await counted(caller, "zurelay_requests_total{")


def same(one: Answer, other: Answer) -> bool:
    shown = [{name: a.headers.get(name) for name in SHOWN} for a in (one, other)]
    return one.status == other.status and one.body == other.body and shown[0] == shown[1]


def runs(gateway: RunningGateway) -> int:
    return len(gateway.process._gateway.core.runs)


async def key_text(gateway: RunningGateway, account: str, models: tuple[str, ...] | None) -> str:
    text = make_key(secrets.token_bytes(32))
    with gateway._store.write() as connection:
        if account == "own":
            owner = list_keys(connection)[0].account
        else:
            owner = ensure_account(connection, account, f"acct_{account}", 0).id
        key = Key("key_2", "second", owner, "", hash_key(text), last4(text), 0, models)
        add_key(connection, key)
    return text


@pytest.mark.parametrize("stream", [False, True])
async def test_a_repeat_gets_the_finished_answer_and_costs_nothing(
    caller: Caller, upstream: ScriptedUpstream, stream: bool
) -> None:
    chunks = chat_chunks("Hello there")
    upstream.enqueue(sse_reply(chunks) if stream else json_reply(chat_reply()))
    first = await caller.chat(KEY, stream=stream)
    assert first.status == 200
    for _ in range(2):
        assert same(first, await caller.chat(KEY, stream=stream))
    assert len(upstream.requests) == 1
    assert await requests(caller) == 1
    assert await counted(caller, 'zurelay_idempotent_repeats_total{answer="finished"}') == 2
    row = await caller.logged(first)
    assert (row["status"], len(row["attempts"])) == ("ok", 1)
    assert (await caller.get("/v1/key")).json["spent_usd"] == row["cost_usd"] != "0"


@pytest.mark.parametrize("stream", [False, True])
async def test_repeats_join_the_running_answer(
    caller: Caller, upstream: ScriptedUpstream, gateway: RunningGateway, stream: bool
) -> None:
    go = asyncio.Event()
    script = sse_reply(chat_chunks("one two three")) if stream else json_reply(chat_reply())
    upstream.enqueue([*script[:4], Pause(go), *script[4:]] if stream else [Pause(go), *script])
    asked = [asyncio.create_task(caller.chat(KEY, stream=stream))]
    await upstream.wait_requests()
    asked += [asyncio.create_task(caller.chat(KEY, stream=stream)) for _ in range(3)]
    store = gateway.process._gateway.core.parts.idempotency
    recording = next(iter(store._running.values())).recording
    await until(lambda: len(recording._readers) == 4)
    assert runs(gateway) == 1
    go.set()
    first, *rest = await asyncio.gather(*asked)
    assert first.status == 200
    assert all(same(first, other) for other in rest)
    assert len(upstream.requests) == 1
    assert await requests(caller) == 1
    assert await counted(caller, 'zurelay_idempotent_repeats_total{answer="running"}') == 3


@pytest.mark.parametrize("stream", [False, True])
async def test_leaving_does_not_cancel_and_the_answer_can_be_fetched_later(
    caller: Caller, upstream: ScriptedUpstream, gateway: RunningGateway, stream: bool
) -> None:
    go = asyncio.Event()
    script = sse_reply(chat_chunks("one two three")) if stream else json_reply(chat_reply())
    upstream.enqueue([*script[:4], Pause(go), *script[4:]] if stream else [Pause(go), *script])
    first = asyncio.create_task(caller.chat(KEY, stream=stream))
    await upstream.wait_requests()
    first.cancel()
    store = gateway.process._gateway.core.parts.idempotency
    recording = next(iter(store._running.values())).recording
    await until(lambda: not recording._readers)
    assert runs(gateway) == 1
    go.set()
    await until(lambda: not runs(gateway))
    assert upstream.left == 0
    answer = await caller.chat(KEY, stream=stream)
    assert answer.status == 200
    assert answer.text == "one two three" if stream else answer.json["choices"]
    row = await caller.logged(answer)
    assert (row["status"], row["http_status"]) == ("ok", 200)
    assert len(upstream.requests) == 1


async def test_without_a_caller_a_run_ends_after_its_time_and_frees_the_key(
    caller: Caller, upstream: ScriptedUpstream, gateway: RunningGateway
) -> None:
    waited: list[tuple[float, Any]] = []
    store = gateway.process._gateway.core.parts.idempotency

    def later(seconds: float, call: Any) -> asyncio.TimerHandle:
        waited.append((seconds, call))
        return asyncio.get_running_loop().call_later(seconds, call)

    store._later = later
    upstream.enqueue([Pause(asyncio.Event())], json_reply(chat_reply("Again")))
    first = asyncio.create_task(caller.chat(KEY))
    await upstream.wait_requests()
    first.cancel()
    await until(lambda: waited)
    [(seconds, ring)] = waited
    assert seconds == DETACHED_SECONDS
    ring()
    await until(lambda: not runs(gateway))
    await upstream.wait_closed()
    again = await caller.chat(KEY)
    assert again.json["choices"][0]["message"]["content"] == "Again"


async def test_the_same_key_with_another_body_is_refused_and_logged(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply()))
    await caller.chat(KEY)
    other = await caller.chat(KEY, temperature=1)
    error = other.json["error"]
    assert (other.status, error["code"]) == (422, "idempotency_key_reused")
    assert error["type"] == "invalid_request_error"
    assert other.headers["x-should-retry"] == "false"
    assert len(upstream.requests) == 1
    row = await caller.logged(other)
    assert (row["status"], row["http_status"]) == ("error", 422)
    assert row["error"] == "idempotency_key_reused"


BROKEN: dict[str, tuple[Script, bool]] = {
    "an error": (json_reply({"error": {"message": "no"}}, 400), False),
    "a cut stream": ([*sse_reply(chat_chunks(["Hel", "lo"])[:3])[:-1], Close()], True),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_errors_are_not_kept(caller: Caller, upstream: ScriptedUpstream, name: str) -> None:
    script, stream = BROKEN[name]
    good = sse_reply(chat_chunks("Good")) if stream else json_reply(chat_reply("Good"))
    upstream.enqueue(script, good)
    failed = await caller.chat(KEY, stream=stream)
    assert failed.status == 400 or "[DONE]" not in failed.body.decode()
    again = await caller.chat(KEY, stream=stream)
    assert b"Good" in again.body
    assert again.headers["x-request-id"] != failed.headers["x-request-id"]
    assert await requests(caller) == 2


async def test_a_refused_request_leaves_its_key_free(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    assert (await caller.chat(KEY, model="no-such-model")).status == 404
    upstream.enqueue(json_reply(chat_reply()))
    assert (await caller.chat(KEY)).status == 200


@pytest.mark.parametrize("value", ["", "x" * 256, "two words", "caf\xe9", "a\tb"])
async def test_what_is_no_key_is_refused(
    caller: Caller, upstream: ScriptedUpstream, gateway: RunningGateway, value: str
) -> None:
    body = json.dumps({"model": "test-model", "messages": [{"role": "user", "content": "Hi"}]})
    lines = [
        "POST /v1/chat/completions HTTP/1.1",
        "host: test",
        f"authorization: Bearer {gateway.key}",
        f"content-length: {len(body)}",
        f"idempotency-key: {value}",
        "connection: close",
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.process.port)
    writer.write("\r\n".join([*lines, "", body]).encode("latin-1"))
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, text = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    error = json.loads(text)["error"]
    assert (error["code"], error["param"]) == ("invalid_value", None)
    assert "Idempotency-Key" in error["message"]
    assert upstream.requests == []


async def test_the_longest_key_works(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(json_reply(chat_reply()))
    longest = {"idempotency-key": "~" * 254 + "!"}
    assert same(await caller.chat(longest), await caller.chat(longest))


async def test_an_old_client_can_join(
    caller: Caller, upstream: ScriptedUpstream, gateway: RunningGateway
) -> None:
    """HTTP/1.0: no chunks; the end of the connection is the end of the stream."""
    upstream.enqueue(sse_reply(chat_chunks("Hello there")))
    first = await caller.chat(KEY, stream=True)
    body = {
        "model": "test-model",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
    }
    text = json.dumps(body)
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.process.port)
    writer.write(
        f"POST /v1/chat/completions HTTP/1.0\r\nauthorization: Bearer {gateway.key}\r\n"
        f"idempotency-key: order-17\r\ncontent-length: {len(text)}\r\n\r\n{text}".encode()
    )
    head, _, answered = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    assert b"chunked" not in head
    assert answered == first.body


OTHERS: Mapping[str, tuple[str, tuple[str, ...] | None, int, int]] = {
    "of the same account": ("own", None, 200, 1),
    "of the same account without the model": ("own", ("another-model",), 403, 1),
    "of another account": ("other", None, 200, 2),
}


@pytest.mark.parametrize("whose", OTHERS)
async def test_an_answer_belongs_to_its_account(
    caller: Caller, upstream: ScriptedUpstream, gateway: RunningGateway, whose: str
) -> None:
    account, models, status, calls = OTHERS[whose]
    text = await key_text(gateway, account, models)
    upstream.enqueue(json_reply(chat_reply()), json_reply(chat_reply()))
    await caller.chat(KEY)
    answer = await caller.chat({**KEY, "authorization": f"Bearer {text}"})
    assert answer.status == status
    assert len(upstream.requests) == calls


async def test_a_browser_elsewhere_may_read_a_repeat(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply()))
    first = await caller.chat(KEY)
    again = await caller.chat({**KEY, "origin": "https://example.com"})
    assert again.headers["access-control-allow-origin"] == "*"
    assert again.headers["x-request-id"] == first.headers["x-request-id"]


async def test_a_stop_ends_runs_without_a_caller_and_records_them(
    upstream: ScriptedUpstream, tmp_path: Path, config: str
) -> None:
    gateway = await RunningGateway(tmp_path, config).__aenter__()
    client = HttpClient()
    upstream.enqueue([*sse_reply(chat_chunks("Hello"))[:3], Pause(asyncio.Event())])
    asked = asyncio.create_task(Caller(gateway, client).chat(KEY, stream=True))
    await upstream.wait_requests()
    [run] = gateway.process._gateway.core.runs
    await until(lambda: run._open)
    asked.cancel()
    await until(lambda: not gateway.process._server.server_state.connections)
    assert runs(gateway) == 1
    gateway.process.stop(drain=False)
    await gateway.process.wait()
    assert runs(gateway) == 0
    assert run._job.record.status == "error"
    assert run._job.record.cost > 0
    gateway._store.close()
    await client.aclose()
