"""A caller that leaves cancels its upstream and is billed for what it was given; a slow one waits."""

import asyncio
from typing import Any

import pytest

from tests.app.conftest import Ask, Caller, Start, until
from tests.app.gateways import configuration, text_of
from zurelay.meter.record import RequestRecord
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply
from zurelay.testing.script import Pause, Stall, chunk, head, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream

SOON = 2.0


def only_run(caller: Caller) -> Any:
    [run] = caller.gateway.process._gateway.core.runs
    return run


async def row_of(caller: Caller, id_: str) -> Any:
    await until(lambda: not caller.gateway.process._gateway.core.runs)
    return (await caller.get(f"/v1/requests/{id_}")).json


@pytest.mark.parametrize("stream", [True, False])
async def test_leaving_before_the_first_token_costs_nothing_and_tries_no_other_route(
    start: Start, ask: Ask, upstream: ScriptedUpstream, second: ScriptedUpstream, stream: bool
) -> None:
    caller = await start(configuration(upstream, second))
    upstream.enqueue([Stall()])
    reader = await ask(caller, stream=stream)
    await upstream.wait_requests()
    id_ = only_run(caller)._job.record.id
    await reader.leave()
    async with asyncio.timeout(SOON):
        await upstream.wait_closed()
    row = await row_of(caller, id_)
    assert (row["status"], row["http_status"], row["cost_usd"]) == ("client_closed", 499, "0")
    assert [a["status"] for a in row["attempts"]] == ["cancelled"]
    assert second.requests == []


async def test_leaving_between_two_tries_starts_no_second_one(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    busy = asyncio.Event()
    upstream.enqueue([Pause(busy), *json_reply({"error": {"message": "x"}}, 503)])
    reader = await ask(caller)
    await upstream.wait_requests()
    run = only_run(caller)
    busy.set()
    await until(lambda: run._job.failed)
    await reader.leave()
    await until(lambda: not caller.gateway.process._gateway.core.runs)
    assert len(upstream.requests) == 1


async def test_leaving_in_mid_stream_is_billed_for_what_came(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue([*sse_reply(chat_chunks("one two three four"))[:-3], Stall()])
    reader = await ask(caller)
    said = b""
    while text_of(said) != "one two three four":
        said += await reader.write()
    await reader.leave()
    async with asyncio.timeout(SOON):
        await upstream.wait_closed()
    row = await row_of(caller, reader.headers["x-request-id"])
    assert (row["status"], row["http_status"]) == ("client_closed", 200)
    assert row["cost_estimated"] is True
    assert row["usage"]["prompt_tokens"] > 0
    assert 3 <= row["usage"]["completion_tokens"] <= 8
    assert row["cost_usd"] != "0"


async def test_leaving_while_a_silent_stream_is_open_costs_nothing(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, streaming="early_open_s = 0.1"))
    upstream.enqueue([Stall()])
    reader = await ask(caller)
    await reader.write()
    await reader.leave()
    async with asyncio.timeout(SOON):
        await upstream.wait_closed()
    row = await row_of(caller, reader.headers["x-request-id"])
    assert (row["status"], row["http_status"], row["cost_usd"]) == ("client_closed", 200, "0")


async def test_sixty_callers_that_leave_keep_no_connection(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue(*[[*sse_reply(chat_chunks("one two"))[:3], Stall()]] * 60)
    for _ in range(60):
        reader = await ask(caller)
        await reader.write()
        await reader.leave()
    await upstream.wait_closed(60)
    assert upstream.open == 0
    upstream.enqueue(json_reply(chat_reply("Hi")))
    assert (await caller.chat()).status == 200


async def test_an_endless_error_body_keeps_no_connection(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    start_of_body = head(500, {"transfer-encoding": "chunked"})
    upstream.enqueue([start_of_body, *[chunk(b"x" * 10_000)] * 20, Stall()])
    answer = await caller.chat(stream=True)
    assert (answer.status, answer.json["error"]["code"]) == (502, "upstream_failed")
    await upstream.wait_closed()


async def test_a_slow_reader_stops_its_upstream_and_gets_everything_in_the_end(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, routing="idle_deadline_s = 2"))
    piece = chat_chunk({"content": "x" * 10_000})
    upstream.enqueue(sse_reply([*[piece] * 3000, *chat_chunks("")[1:]]))
    reader = await ask(caller)
    first = await reader.write()
    run = only_run(caller)
    before = -1
    while not run._sink.paused or upstream.sent != before:
        before = upstream.sent
        await asyncio.sleep(0.05)
    assert upstream.sent < 20_000_000  # the rest waits in the systems' own buffers
    await asyncio.sleep(2.2)  # longer than the idle deadline: it is the caller who is slow
    said = first + b"".join(await reader.writes())
    assert text_of(said) == "x" * 30_000_000
    assert said.endswith(b"data: [DONE]\n\n")


async def test_a_reader_that_stalls_counts_as_gone(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, server="write_stall_s = 1"))
    upstream.enqueue([*sse_reply([chat_chunk({"content": "x" * 10_000})] * 3000)[:-1], Stall()])
    reader = await ask(caller)
    await reader.head()
    await upstream.wait_closed()
    row = await row_of(caller, reader.headers["x-request-id"])
    assert row["status"] == "client_closed"


async def test_a_caller_that_leaves_while_its_heavy_body_is_read_leaves_a_row(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    settled: list[RequestRecord] = []
    ledger = caller.gateway.process._parts.ledger
    settle = ledger.settle

    def watched(hold: Any, record: RequestRecord, done: Any) -> None:
        settled.append(record)
        settle(hold, record, done)

    ledger.settle = watched  # type: ignore[method-assign]
    heavy = {"messages": [{"role": "user", "content": "x"}], "metadata_list": [1] * 300_000}
    reader = await ask(caller, **heavy)
    await until(lambda: caller.gateway.process._parts.parts.reader._pool)
    await reader.leave()
    await until(lambda: settled)
    assert (settled[0].status, settled[0].http_status) == ("client_closed", 499)
