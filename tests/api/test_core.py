"""What all endpoints share: bounds, the caller's address, who may see what."""

import asyncio

import pytest

from tests.app.conftest import Ask, Start, until
from tests.app.gateways import configuration
from zurelay.testing.chat import chat_chunk, chat_reply
from zurelay.testing.script import Pause, Stall, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream


async def test_streams_beyond_their_bound_get_a_503(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    client = await start(configuration(upstream, server="max_streams = 2"))
    go = asyncio.Event()
    open_ = [*sse_reply([chat_chunk({"content": "x"})])[:-1], Pause(go), Stall()]
    upstream.enqueue(open_, open_)
    readers = [await ask(client) for _ in range(2)]
    await upstream.wait_requests(2)
    answer = await client.chat(stream=True)
    assert (answer.status, answer.json["error"]["code"]) == (503, "no_route_available")
    assert (await client.logged(answer))["http_status"] == 503
    upstream.enqueue(json_reply(chat_reply("Hi")))
    assert (await client.chat()).status == 200
    await readers[0].leave()
    await until(lambda: client.gateway.process._gateway.core.streams == 1)
    upstream.enqueue(sse_reply([chat_chunk({"content": "x"}, finish_reason="stop")]))
    assert (await client.chat(stream=True)).status == 200


@pytest.mark.parametrize("trusted", [True, False])
async def test_the_log_has_the_callers_address_as_trusted_proxies_tell_it(
    start: Start, upstream: ScriptedUpstream, trusted: bool
) -> None:
    server = 'trusted_proxies = ["127.0.0.0/8", "10.0.0.0/8"]' if trusted else ""
    client = await start(configuration(upstream, server=server))
    upstream.enqueue(json_reply(chat_reply("Hi")))
    answer = await client.chat({"x-forwarded-for": "1.1.1.1, 203.0.113.9, 10.1.2.3"})
    record = await client.gateway.process._parts.ledger.read(answer.headers["x-request-id"], None)
    assert record is not None
    assert record.address == ("203.0.113.9" if trusted else "127.0.0.1")
    assert b"203.0.113.9" not in (await client.get(f"/v1/requests/{record.id}")).body


@pytest.mark.parametrize(
    ("exposed", "accounts", "seen"),
    [
        (None, 1, True),
        (None, 2, False),
        (True, 2, True),
        (False, 1, False),
    ],
)
async def test_routes_are_shown_while_there_is_one_account_or_as_the_operator_says(
    start: Start, upstream: ScriptedUpstream, exposed: bool | None, accounts: int, seen: bool
) -> None:
    words = {None: "", True: "expose_routes = true", False: "expose_routes = false"}
    config = configuration(upstream).replace("expose_routes = false", words[exposed])
    client = await start(config)
    client.gateway.process._parts.parts.keys.accounts = accounts
    upstream.enqueue(json_reply({"error": {"message": "broke"}}, 500))
    told = (await client.chat()).json["error"]["message"]
    assert ("at first" in told, "broke" in told) == (seen, seen)


async def test_runs_are_counted_while_they_last(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    client = await start(configuration(upstream))
    upstream.enqueue([Stall()], [Stall()])
    stream, plain = await ask(client), await ask(client, stream=False)
    await upstream.wait_requests(2)
    core = client.gateway.process._gateway.core
    assert (len(core.runs), core.streams) == (2, 1)
    await stream.leave()
    await plain.leave()
    await until(lambda: not core.runs)
    assert core.streams == 0


async def test_what_is_admitted_after_the_end_is_ended_too(
    start: Start, upstream: ScriptedUpstream
) -> None:
    client = await start(configuration(upstream))
    client.gateway.process._gateway.core.end_runs()
    upstream.enqueue([Stall()])
    answer = await client.chat()
    assert answer.status == 503
    assert "shutting down" in answer.json["error"]["message"]
