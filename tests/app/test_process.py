"""Stopping and reloading under running requests: nothing is dropped, everything is recorded."""

import asyncio
from typing import Any

import pytest

from tests.app.conftest import Ask, Caller, Start, until
from tests.app.gateways import configuration, error_of, text_of
from zurelay.store.requests import get_request
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Pause, Script, Stall, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.base import UpstreamError


def paused(until_: asyncio.Event) -> Script:
    """A stream that says one word, waits, and goes on."""
    steps = list(sse_reply(chat_chunks("one two", usage=chat_usage())))
    return [*steps[:3], Pause(until_), *steps[3:]]


async def stored(gateway: RunningGateway, id_: str) -> Any:
    """The row that a stopped gateway left in its store."""
    with gateway._store.read() as connection:
        return get_request(connection, id_, None)


async def test_a_stop_drains_first_and_running_streams_finish(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    server = "drain_delay_s = 1\nshutdown_grace_s = 10"
    caller = await start(configuration(upstream, server=server))
    process = caller.gateway.process
    go = asyncio.Event()
    upstream.enqueue(paused(go), json_reply(chat_reply("Hi")))
    reader = await ask(caller)
    said = await reader.write()
    process.stop()

    ready = await caller.send("GET", "/readyz", headers={})
    assert (ready.status, ready.json["status"]) == (503, "draining")
    answer = await caller.chat()  # still served, on a connection that closes
    assert (answer.status, answer.headers["connection"]) == (200, "close")

    await until(lambda: not process._server.servers[0].is_serving())
    with pytest.raises(UpstreamError):
        await caller.get("/healthz")
    go.set()
    said += b"".join(await reader.writes())
    assert text_of(said) == "one two"
    assert said.endswith(b"data: [DONE]\n\n")
    await process.wait()
    record = await stored(caller.gateway, reader.headers["x-request-id"])
    assert record.status == "ok"


async def test_after_the_grace_time_streams_get_an_error_event_and_are_settled(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(
        configuration(upstream, server="drain_delay_s = 0\nshutdown_grace_s = 0.2")
    )
    upstream.enqueue(paused(asyncio.Event()), [Stall()])
    stream = await ask(caller)
    await stream.write()
    plain = asyncio.create_task(caller.chat())
    await upstream.wait_requests(2)
    caller.gateway.process.stop()
    rest = b"".join(await stream.writes())
    error = error_of(rest)
    assert (error["code"], b"[DONE]" in rest) == ("no_route_available", False)
    assert "shutting down" in error["message"]
    answer = await plain
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert "shutting down" in answer.json["error"]["message"]
    await caller.gateway.process.wait()
    await upstream.wait_closed(2)
    record = await stored(caller.gateway, stream.headers["x-request-id"])
    assert (record.status, record.cost_estimated, record.cost > 0) == ("error", True, True)


async def test_a_reload_holds_for_new_requests_and_drops_none(
    start: Start, ask: Ask, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    go = asyncio.Event()
    upstream.enqueue(paused(go))
    second.enqueue(json_reply(chat_reply("new")))
    reader = await ask(caller)
    said = await reader.write()
    await caller.gateway.reload(configuration(second))
    answer = await caller.chat()
    assert answer.json["choices"][0]["message"]["content"] == "new"
    go.set()
    said += b"".join(await reader.writes())
    assert text_of(said) == "one two"
    assert len(upstream.requests) == 1


async def test_a_faulty_reload_keeps_the_old_configuration(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    await caller.gateway.reload("[server]\nprot = 1")
    upstream.enqueue(json_reply(chat_reply("Hi")))
    assert (await caller.chat()).status == 200
    metrics = (await caller.get("/metrics")).body
    assert b"zurelay_config_reload_failures_total 1.0" in metrics


async def test_every_request_leaves_exactly_one_row(
    caller: Caller, upstream: ScriptedUpstream, gateway: RunningGateway
) -> None:
    seen: list[str] = []
    ledger = gateway.process._parts.ledger
    settle = ledger.settle

    def watched(hold: Any, record: Any, done: Any) -> None:
        seen.append(record.id)
        settle(hold, record, done)

    ledger.settle = watched  # type: ignore[method-assign]
    upstream.enqueue(json_reply(chat_reply("Hi")), sse_reply(chat_chunks("Hi")))
    upstream.enqueue(json_reply({"error": {"message": "x"}}, 400))
    answers = [
        await caller.chat(),
        await caller.chat(stream=True),
        await caller.chat(),
        await caller.chat(model="none"),
        await caller.chat(temperature=9),
        await caller.send("POST", "/v1/chat/completions", b"{"),
    ]
    assert seen == [answer.headers["x-request-id"] for answer in answers]
    for answer in answers:
        row = await caller.logged(answer)
        assert (row["http_status"], row["status"] == "ok") == (answer.status, answer.status == 200)


async def test_how_late_the_event_loop_is_is_measured(
    start: Start, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.telemetry.looplag.INTERVAL", 0.01)
    caller = await start(configuration(upstream))
    await asyncio.sleep(0.05)
    text = (await caller.get("/metrics")).body.decode()
    (count,) = (line for line in text.split("\n") if "event_loop_lag_seconds_count" in line)
    assert float(count.split()[1]) > 0


async def test_a_scrape_tells_of_the_store_and_of_bodies(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue(json_reply(chat_reply("Hi")))
    assert (await caller.chat()).status == 200
    metrics = (await caller.get("/metrics")).body
    for line in (
        b"store_pending 0.0",
        b"store_commits_total 1.0",
        b"settle_seconds_count 1.0",
        b"inflight_body_bytes 0.0",
    ):
        assert b"\nzurelay_" + line in metrics
    assert b"\nzurelay_store_last_commit_timestamp_seconds 0.0" not in metrics
