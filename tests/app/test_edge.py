"""The edge of the whole gateway: methods, browsers, keys before bodies, bounds, who is logged."""

import asyncio
import json
import secrets

import pytest

from tests.api.wire import Caller as Wire
from tests.api.wire import get, post
from tests.app.conftest import Ask, Caller, Start, until
from tests.app.gateways import configuration
from zurelay.access.keys import make_key
from zurelay.testing.chat import chat_chunk, chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Pause, Stall, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream

CHAT = "/v1/chat/completions"
MB = 1024 * 1024


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", CHAT, "POST, OPTIONS"),
        ("HEAD", CHAT, "POST, OPTIONS"),
        ("DELETE", "/v1/models", "GET, HEAD, OPTIONS"),
        ("POST", "/healthz", "GET, HEAD, OPTIONS"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(
    caller: Caller, method: str, path: str, allow: str
) -> None:
    answer = await caller.send(method, path)
    assert (answer.status, answer.headers["allow"]) == (405, allow)
    if method != "HEAD":
        assert answer.json["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/v1/models", "/v1/models/", "/v1/"])
async def test_an_unknown_path_is_a_404_in_json(caller: Caller, path: str) -> None:
    answer = await caller.get(path)
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")


async def test_head_answers_like_get_without_a_body(caller: Caller) -> None:
    for path, headers, status in (
        ("/v1/models", None, 200),
        ("/v1/models", {}, 401),
        ("/healthz", {}, 200),
        ("/", {}, 200),
    ):
        answer = await caller.send("HEAD", path, headers=headers)
        assert (answer.status, answer.body) == (status, b"")


@pytest.mark.parametrize("path", [CHAT, "/v1/models", "/v1/models/some-model"])
async def test_a_preflight_needs_no_key_and_echoes_the_headers_asked_for(
    caller: Caller, path: str
) -> None:
    asked = "authorization,content-type,x-api-key,anthropic-version,x-stainless-os"
    headers = {
        "origin": "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": asked,
    }
    answer = await caller.send("OPTIONS", path, headers=headers)
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-headers"] == asked
    assert "OPTIONS" in answer.headers["access-control-allow-methods"]
    assert "access-control-allow-credentials" not in answer.headers


async def test_answers_and_errors_can_be_read_by_a_browser_on_another_site(caller: Caller) -> None:
    for key in (caller.gateway.headers, {}):
        answer = await caller.send("GET", "/v1/models", headers={**key, "origin": "https://a.b"})
        assert answer.headers["access-control-allow-origin"] == "*"
        exposed = answer.headers["access-control-expose-headers"].split(", ")
        assert {"x-request-id", "retry-after", "x-zurelay-model", "server-timing"} <= set(exposed)
    plain = await caller.get("/v1/models")
    assert "access-control-allow-origin" not in plain.headers


async def test_a_refused_body_leaves_a_row_where_the_key_is_good(
    caller: Caller, gateway: RunningGateway
) -> None:
    headers = {**gateway.headers, "content-length": str(65 * MB)}
    wire = await Wire.to(gateway.process.port)
    wire.write(get(CHAT, *(f"{n}: {v}" for n, v in headers.items()), method="POST") + b"{")
    answer = await wire.answer()
    assert (answer.status, answer.json["error"]["code"]) == (413, "request_too_large")
    row = (await caller.get(f"/v1/requests/{answer.headers['x-request-id']}")).json
    assert (row["status"], row["http_status"]) == ("error", 413)
    await wire.close()


@pytest.mark.parametrize("kind", ["bad", "unknown", "missing"])
async def test_a_bad_key_is_refused_before_its_body_comes(
    gateway: RunningGateway, kind: str
) -> None:
    text = {"bad": "zk-nonsense", "unknown": make_key(secrets.token_bytes(32)), "missing": ""}
    header = [f"authorization: Bearer {text[kind]}"] if text[kind] else []
    wire = await Wire.to(gateway.process.port)
    wire.write(post(CHAT, b"x" * 1000, *header)[:-990])
    answer = await wire.answer()
    assert (answer.status, answer.json["error"]["code"]) == (401, "invalid_api_key")
    assert gateway.process._gateway.inflight == 0
    await wire.close()


async def test_a_body_without_a_length_is_cut_off_at_its_bound(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, server="max_body_mb = 1"))
    wire = await Wire.to(caller.gateway.process.port)
    key = f"authorization: Bearer {caller.gateway.key}"
    wire.write(get(CHAT, key, "transfer-encoding: chunked", method="POST"))
    for _ in range(17):
        wire.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
    answer = await wire.answer()
    assert (answer.status, answer.json["error"]["code"]) == (413, "request_too_large")
    await wire.close()


async def test_bodies_beyond_all_room_are_refused_unread_and_room_comes_back(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, server="max_inflight_mb = 1"))
    gateway = caller.gateway
    key = f"authorization: Bearer {gateway.key}"
    body = json.dumps(
        {"model": "test-model", "messages": [{"role": "user", "content": "x" * 700_000}]}
    ).encode()
    first, other = await Wire.to(gateway.process.port), await Wire.to(gateway.process.port)
    first.write(post(CHAT, body, key)[:-10])
    await until(lambda: gateway.process._gateway.inflight > 600_000)
    other.write(post(CHAT, body, key)[:-10])
    answer = await other.answer()
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    upstream.enqueue(json_reply(chat_reply("Hi")))
    first.write(body[-10:])
    assert (await first.answer()).status == 200
    assert gateway.process._gateway.inflight == 0
    await first.close()
    await other.close()


async def test_a_caller_that_leaves_during_its_body_gives_its_room_back_and_leaves_a_row(
    gateway: RunningGateway,
) -> None:
    rows = gateway.process._parts.ledger
    wire = await Wire.to(gateway.process.port)
    key = f"authorization: Bearer {gateway.key}"
    wire.write(post(CHAT, b"x" * 1000, key)[:-990])
    await until(lambda: gateway.process._gateway.inflight)
    await wire.close()
    await until(lambda: not gateway.process._gateway.inflight)
    await until(rows.unlogged)
    assert [(r.status, r.http_status) for r in rows.unlogged()] == [("client_closed", 499)]


async def test_streams_beyond_their_bound_get_a_503(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, server="max_streams = 2"))
    go = asyncio.Event()
    open_ = [*sse_reply([chat_chunk({"content": "x"})])[:-1], Pause(go), Stall()]
    upstream.enqueue(open_, open_)
    readers = [await ask(caller) for _ in range(2)]
    await upstream.wait_requests(2)
    answer = await caller.chat(stream=True)
    assert (answer.status, answer.json["error"]["code"]) == (503, "no_route_available")
    assert (await caller.logged(answer))["http_status"] == 503
    upstream.enqueue(json_reply(chat_reply("Hi")))
    assert (await caller.chat()).status == 200
    await readers[0].leave()
    await until(lambda: caller.gateway.process._gateway.core.streams == 1)
    upstream.enqueue(sse_reply([chat_chunk({"content": "x"}, finish_reason="stop")]))
    assert (await caller.chat(stream=True)).status == 200


@pytest.mark.parametrize("trusted", [True, False])
async def test_the_log_has_the_callers_address_as_trusted_proxies_tell_it(
    start: Start, upstream: ScriptedUpstream, trusted: bool
) -> None:
    server = 'trusted_proxies = ["127.0.0.0/8", "10.0.0.0/8"]' if trusted else ""
    caller = await start(configuration(upstream, server=server))
    upstream.enqueue(json_reply(chat_reply("Hi")))
    answer = await caller.chat({"x-forwarded-for": "1.1.1.1, 203.0.113.9, 10.1.2.3"})
    record = await caller.gateway.process._parts.ledger.read(answer.headers["x-request-id"], None)
    assert record is not None
    assert record.address == ("203.0.113.9" if trusted else "127.0.0.1")
    assert b"203.0.113.9" not in (await caller.get(f"/v1/requests/{record.id}")).body


async def test_a_body_of_very_many_parts_is_read_beside_the_loop(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue(json_reply(chat_reply("Hi")))
    loop = asyncio.get_running_loop()
    gaps = [0.0]

    async def watch() -> None:
        last = loop.time()
        while True:
            await asyncio.sleep(0)
            gaps.append(loop.time() - last)
            last = loop.time()

    watching = asyncio.create_task(watch())
    answer = await caller.chat(parts=[1] * 300_000)
    watching.cancel()
    assert answer.status == 200
    assert len(upstream.requests[0].json["parts"]) == 300_000
    assert max(gaps) < 0.5


async def test_a_body_of_too_many_parts_is_a_413(caller: Caller) -> None:
    answer = await caller.chat(parts=[1] * 2_000_001)
    assert (answer.status, answer.json["error"]["code"]) == (413, "request_too_large")
    assert (await caller.logged(answer))["http_status"] == 413


async def test_machines_that_watch_need_no_key(caller: Caller) -> None:
    assert (await caller.send("GET", "/healthz", headers={})).json == {"status": "ok"}
    assert (await caller.send("GET", "/readyz", headers={})).json == {"status": "ok"}
    metrics = await caller.send("GET", "/metrics", headers={})
    assert metrics.headers["content-type"].startswith("text/plain")
    assert b"zurelay_" in metrics.body


async def test_an_unknown_request_id_is_a_404(caller: Caller) -> None:
    answer = await caller.get("/v1/requests/req_nothing")
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")
