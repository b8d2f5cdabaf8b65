"""Methods, paths, keys before bodies, and bodies within their bounds."""

import json
import secrets

import pytest

from tests.api.wire import Caller, get, post
from tests.app.conftest import Caller as Client
from tests.app.conftest import Start, until
from tests.app.gateways import configuration
from zurelay.access.keys import make_key
from zurelay.testing.chat import chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import json_reply
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
    client: Client, method: str, path: str, allow: str
) -> None:
    answer = await client.send(method, path)
    assert (answer.status, answer.headers["allow"]) == (405, allow)
    if method != "HEAD":
        assert answer.json["error"]["type"] == "invalid_request_error"


async def test_who_wants_a_websocket_is_told_to_ask_by_http(gateway: RunningGateway) -> None:
    """As Codex 0.171 asks for one."""
    wire = await Caller.to(gateway.process.port)
    asked = ("connection: Upgrade", "upgrade: websocket", "sec-websocket-version: 13")
    wire.write(get("/v1/responses", *asked, "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="))
    answer = await wire.answer()
    assert (answer.status, answer.headers["allow"]) == (426, "POST, OPTIONS")
    assert answer.json["error"]["code"] == "method_not_allowed"
    await wire.close()


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/v1/models", "/v1/models/", "/v1/"])
async def test_an_unknown_path_is_a_404_in_json(client: Client, path: str) -> None:
    answer = await client.get(path)
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")


async def test_head_answers_like_get_without_a_body(client: Client) -> None:
    for path, headers, status in (
        ("/v1/models", None, 200),
        ("/v1/models", {}, 401),
        ("/healthz", {}, 200),
        ("/", {}, 200),
    ):
        answer = await client.send("HEAD", path, headers=headers)
        assert (answer.status, answer.body) == (status, b"")


async def test_a_refused_body_leaves_a_row_where_the_key_is_good(
    client: Client, gateway: RunningGateway
) -> None:
    headers = {**gateway.headers, "content-length": str(65 * MB)}
    wire = await Caller.to(gateway.process.port)
    wire.write(get(CHAT, *(f"{n}: {v}" for n, v in headers.items()), method="POST") + b"{")
    answer = await wire.answer()
    assert (answer.status, answer.json["error"]["code"]) == (413, "request_too_large")
    row = (await client.get(f"/v1/requests/{answer.headers['x-request-id']}")).json
    assert (row["status"], row["http_status"]) == ("error", 413)
    await wire.close()


@pytest.mark.parametrize("kind", ["bad", "unknown", "missing"])
async def test_a_bad_key_is_refused_before_its_body_comes(
    gateway: RunningGateway, kind: str
) -> None:
    text = {"bad": "zk-nonsense", "unknown": make_key(secrets.token_bytes(32)), "missing": ""}
    header = [f"authorization: Bearer {text[kind]}"] if text[kind] else []
    wire = await Caller.to(gateway.process.port)
    wire.write(post(CHAT, b"x" * 1000, *header)[:-990])
    answer = await wire.answer()
    assert (answer.status, answer.json["error"]["code"]) == (401, "invalid_api_key")
    assert answer.headers["x-should-retry"] == "false"
    assert gateway.process._gateway.inflight == 0
    await wire.close()


async def test_a_body_without_a_length_is_cut_off_at_its_bound(
    start: Start, upstream: ScriptedUpstream
) -> None:
    client = await start(configuration(upstream, server="max_body_mb = 1"))
    wire = await Caller.to(client.gateway.process.port)
    key = f"authorization: Bearer {client.gateway.key}"
    wire.write(get(CHAT, key, "transfer-encoding: chunked", method="POST"))
    for _ in range(17):
        wire.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
    answer = await wire.answer()
    assert (answer.status, answer.json["error"]["code"]) == (413, "request_too_large")
    await wire.close()


async def test_bodies_beyond_all_room_are_refused_unread_and_room_comes_back(
    start: Start, upstream: ScriptedUpstream
) -> None:
    client = await start(configuration(upstream, server="max_inflight_mb = 1"))
    gateway = client.gateway
    key = f"authorization: Bearer {gateway.key}"
    body = json.dumps(
        {"model": "test-model", "messages": [{"role": "user", "content": "x" * 700_000}]}
    ).encode()
    first, other = await Caller.to(gateway.process.port), await Caller.to(gateway.process.port)
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
    wire = await Caller.to(gateway.process.port)
    key = f"authorization: Bearer {gateway.key}"
    wire.write(post(CHAT, b"x" * 1000, key)[:-990])
    await until(lambda: gateway.process._gateway.inflight)
    await wire.close()
    await until(lambda: not gateway.process._gateway.inflight)
    await until(rows.unlogged)
    assert [(r.status, r.http_status) for r in rows.unlogged()] == [("client_closed", 499)]
