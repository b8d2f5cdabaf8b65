"""What the receiver may do while a call is under way: pause, cancel, raise."""

import asyncio
import gzip
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.upstream.recorder import Recorder, get, post
from zurelay.testing import (
    LAST_CHUNK,
    Pause,
    Script,
    ScriptedUpstream,
    Send,
    Stall,
    Step,
    chat_chunks,
    chunk,
    head,
    reply,
    sse_event,
    sse_reply,
)
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient
from zurelay.upstream.exchange import PIECE

SendCall = Callable[..., Recorder]
MEGABYTE = 1024 * 1024


def _more_than(chunks: int, recorder: Recorder) -> bool:
    return len(recorder.chunks) > chunks or "end" in recorder.heard


def _has(body: bytes, recorder: Recorder) -> bool:
    return recorder.body == body


async def _settled(upstream: ScriptedUpstream) -> int:
    """Bytes sent once no more are, for long enough to be sure."""
    sent, quiet = -1, 0
    while quiet < 5:
        quiet = quiet + 1 if sent == upstream.sent else 0
        sent = upstream.sent
        await asyncio.sleep(0.01)
    return sent


async def test_a_paused_receiver_stops_the_servers_writes(send: SendCall) -> None:
    size = 64 * MEGABYTE
    recorder = Recorder()

    def pause(_: bytes) -> None:
        assert recorder.handle is not None
        recorder.handle.pause()

    recorder.on_data = pause
    async with ScriptedUpstream(reply(bytes(size))) as upstream:
        send(get(upstream.base_url), recorder)
        await recorder.until(lambda r: r.chunks)
        assert await _settled(upstream) < size / 2  # what the system buffers, and no more
        assert len(recorder.chunks) == 1
        recorder.on_data = lambda _: None
        assert recorder.handle is not None
        recorder.handle.resume()
        await recorder.over()
        assert len(recorder.body) == size


async def test_a_paused_receiver_stops_a_bomb_in_the_middle(send: SendCall) -> None:
    size = 32 * MEGABYTE
    recorder = Recorder()

    def pause(_: bytes) -> None:
        assert recorder.handle is not None
        recorder.handle.pause()

    recorder.on_data = pause
    script = reply(gzip.compress(bytes(size)), headers={"content-encoding": "gzip"})
    async with ScriptedUpstream(script) as upstream:
        send(get(upstream.base_url), recorder)
        await recorder.until(lambda r: r.chunks)
        await _settled(upstream)
        assert len(recorder.body) <= PIECE
        while "end" not in recorder.heard:
            seen = len(recorder.chunks)
            assert recorder.handle is not None
            recorder.handle.resume()
            await recorder.until(partial(_more_than, seen))
        assert len(recorder.body) == size
        assert all(len(c) <= PIECE for c in recorder.chunks)


async def test_a_call_paused_before_it_is_connected_reads_nothing(send: SendCall) -> None:
    async with ScriptedUpstream(reply(b"x")) as upstream:
        recorder = send(get(upstream.base_url))
        assert recorder.handle is not None
        recorder.handle.pause()
        await upstream.wait_requests()
        await _settled(upstream)
        assert recorder.heard == []
        recorder.handle.resume()
        await recorder.over()
        assert recorder.body == b"x"


async def test_a_connection_is_read_again_after_a_paused_call(
    client: HttpClient, send: SendCall
) -> None:
    recorder = Recorder()

    def pause() -> None:
        assert recorder.handle is not None
        recorder.handle.pause()

    recorder.on_head = pause
    async with ScriptedUpstream(reply(b"1"), reply(b"2")) as upstream:
        send(get(upstream.base_url), recorder)
        await recorder.over()
        assert (await client.fetch(get(upstream.base_url))).body == b"2"
        assert upstream.connections == 1


async def test_pausing_and_resuming_after_the_end_is_harmless(send: SendCall) -> None:
    async with ScriptedUpstream(reply(b"1")) as upstream:
        recorder = await send(get(upstream.base_url)).over()
        assert recorder.handle is not None
        recorder.handle.pause()
        recorder.handle.resume()
        recorder.handle.cancel()
        await asyncio.sleep(0)
        assert recorder.heard == ["head", "data", "end"]


@pytest.mark.parametrize("compressed", [False, True])
async def test_events_arrive_one_by_one(compressed: bool, send: SendCall) -> None:
    """The server goes on only after each event was received."""
    events = chat_chunks("one two three")
    gates = [asyncio.Event() for _ in events]
    steps: list[Step] = []
    stream = iter(sse_reply(events, compressed=compressed))
    steps.append(next(stream))
    for gate, step in zip(gates, stream, strict=False):
        steps += [Pause(gate), step]
    async with ScriptedUpstream([*steps, *stream]) as upstream:
        recorder = send(post(upstream.base_url))
        expected = b""
        for gate, event in zip(gates, events, strict=True):
            gate.set()
            expected += sse_event(event)
            await recorder.until(partial(_has, expected))
        await recorder.over()
        assert recorder.error is None


async def test_events_that_arrive_together_are_handed_over_together(send: SendCall) -> None:
    body = b"".join(c.data for c in (chunk(b"a"), chunk(b"b"), chunk(b"c")))
    start = head(200, {"transfer-encoding": "chunked"})
    async with ScriptedUpstream([Send(start.data + body + LAST_CHUNK.data)]) as upstream:
        recorder = await send(get(upstream.base_url)).over()
        assert recorder.chunks == [b"abc"]


# Cancelling.

STAGES: dict[str, Script] = {
    "waiting": [Stall()],
    "in the head": [Send(b"HTTP/1.1 200 OK\r\nx: "), Stall()],
    "after the head": [head(200, {"content-length": "9"}), Stall()],
    "in the body": [head(200, {"content-length": "9"}), Send(b"x"), Stall()],
    "in a chunk": [head(200, {"transfer-encoding": "chunked"}), Send(b"9\r\nx"), Stall()],
    "until the end": [head(200), Send(b"x"), Stall()],
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("pooled", [False, True])
async def test_cancelling_closes_the_socket(
    stage: str, pooled: bool, client: HttpClient, send: SendCall
) -> None:
    async with ScriptedUpstream() as upstream:
        if pooled:
            upstream.enqueue(reply())
            await client.fetch(get(upstream.base_url))
        upstream.enqueue(STAGES[stage])
        recorder = send(get(upstream.base_url))
        await upstream.wait_requests(1 + pooled)
        if "after" in stage or "body" in stage or "chunk" in stage or "until" in stage:
            await recorder.until(lambda r: r.status)
        heard = list(recorder.heard)
        assert recorder.handle is not None
        recorder.handle.cancel()
        await upstream.wait_closed(1)
        assert recorder.heard == heard
        assert client.statistics().open == 0


@pytest.mark.parametrize("where", ["head", "data"])
@pytest.mark.parametrize("compressed", [False, True])
async def test_cancelling_inside_a_callback_is_safe(
    where: str, compressed: bool, client: HttpClient, send: SendCall
) -> None:
    recorder = Recorder()

    def cancel(*_: object) -> None:
        assert recorder.handle is not None
        recorder.handle.cancel()

    if where == "head":
        recorder.on_head = cancel
    else:
        recorder.on_data = cancel
    script = (
        reply(gzip.compress(bytes(MEGABYTE)), headers={"content-encoding": "gzip"})
        if compressed
        else reply(b"x" * 100)
    )
    async with ScriptedUpstream(script) as upstream:
        send(get(upstream.base_url), recorder)
        await upstream.wait_closed(1)
        assert recorder.heard == ["head", "data"][: 1 + (where == "data")]
        assert client.statistics().open == 0


async def test_cancelling_before_connecting_began_sends_nothing(
    client: HttpClient, send: SendCall
) -> None:
    async with ScriptedUpstream(reply(b"2")) as upstream:
        recorder = send(get(upstream.base_url))
        assert recorder.handle is not None
        recorder.handle.cancel()
        recorder.handle.cancel()
        await client.fetch(get(upstream.base_url))
        assert recorder.heard == []
        assert len(upstream.requests) == 1


@pytest.mark.parametrize("steps", range(1, 12))
async def test_cancelling_at_any_step_of_connecting_leaves_nothing(
    steps: int, client: HttpClient, send: SendCall
) -> None:
    async with ScriptedUpstream(answer=lambda _: [Stall()]) as upstream:
        recorder = send(get(upstream.base_url))
        for _ in range(steps):
            await asyncio.sleep(0)
        assert recorder.handle is not None
        recorder.handle.cancel()
        while client.statistics().open or client.statistics().connecting:
            await asyncio.sleep(0)
        await asyncio.sleep(0.005)
        await upstream.wait_closed(upstream.connections)
        assert recorder.heard == []


# Raising.


@pytest.mark.parametrize("where", ["head", "data"])
async def test_a_receiver_that_raises_costs_its_connection_only(
    where: str, client: HttpClient, send: SendCall, troubles: list[dict[str, Any]]
) -> None:
    recorder = Recorder()

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    if where == "head":
        recorder.on_head = fail
    else:
        recorder.on_data = fail
    async with ScriptedUpstream(reply(b"1"), reply(b"2")) as upstream:
        send(get(upstream.base_url), recorder)
        await upstream.wait_closed(1)
        assert isinstance(troubles.pop()["exception"], ZeroDivisionError)
        assert recorder.heard[-1] == where
        assert (await client.fetch(get(upstream.base_url))).body == b"2"


async def test_a_receiver_that_raises_at_the_end_costs_nothing(
    client: HttpClient, troubles: list[dict[str, Any]]
) -> None:
    class Raising(Recorder):
        def end(self) -> None:
            super().end()
            raise ZeroDivisionError

    async with ScriptedUpstream(reply(b"1"), reply(b"2")) as upstream:
        recorder = Raising()
        client.send(get(upstream.base_url), recorder)
        await recorder.over()
        assert isinstance(troubles.pop()["exception"], ZeroDivisionError)
        assert (await client.fetch(get(upstream.base_url))).body == b"2"
        assert upstream.connections == 1


async def test_a_receiver_that_raises_on_failure_is_reported(
    client: HttpClient, troubles: list[dict[str, Any]]
) -> None:
    class Raising(Recorder):
        def failed(self, error: Exception) -> None:
            self._note("failed")
            raise ZeroDivisionError

    async with ScriptedUpstream() as upstream:
        url = upstream.base_url
    recorder = Raising()
    client.send(Call("GET", url, (), b""), recorder)
    await recorder.over()
    await asyncio.sleep(0)
    assert isinstance(troubles.pop()["exception"], ZeroDivisionError)
