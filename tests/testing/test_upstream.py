"""The scripted upstream, spoken to with plain sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from zurelay.testing import (
    Close,
    Pause,
    Request,
    Reset,
    Script,
    ScriptedUpstream,
    Send,
    Stall,
    json_reply,
    reply,
    wire,
)

GET = b"GET /x?y HTTP/1.1\r\nHost: a\r\n\r\n"


@asynccontextmanager
async def _connected(
    upstream: ScriptedUpstream,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", upstream.port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_scripts_are_played_in_order_on_one_connection() -> None:
    async with ScriptedUpstream(reply(b"1")) as upstream:
        upstream.enqueue(reply(b"2"))
        async with _connected(upstream) as (reader, writer):
            for script in (reply(b"1"), reply(b"2")):
                writer.write(GET)
                assert await reader.readexactly(len(wire(script))) == wire(script)
        assert upstream.connections == 1


async def test_requests_are_noted() -> None:
    async with ScriptedUpstream() as upstream, _connected(upstream) as (_, writer):
        writer.write(
            b'POST /v1 HTTP/1.1\r\nX-A: 1\r\nx-a: 2\r\ncontent-length: 8\r\n\r\n{"b": 1}'
            b"POST /v2 HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3;x\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n"
        )
        await upstream.wait_requests(2)
        first, second = upstream.requests
        assert first == Request("POST", "/v1", {"x-a": "1, 2", "content-length": "8"}, b'{"b": 1}')
        assert first.json == {"b": 1}
        assert second.json == [1, 2]
        assert first.connection == second.connection == 1


async def test_a_request_is_noted_only_when_it_is_whole() -> None:
    request = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
    async with ScriptedUpstream(reply()) as upstream, _connected(upstream) as (reader, writer):
        for byte in request:
            assert upstream.requests == []
            writer.write(bytes([byte]))
            await asyncio.sleep(0)
        await reader.readexactly(len(wire(reply())))
        assert upstream.requests[0].body == b"ab"


async def test_answers_can_be_computed() -> None:
    def answer(request: Request) -> Script:
        return reply(request.path.encode())

    async with (
        ScriptedUpstream(answer=answer) as upstream,
        _connected(upstream) as (reader, writer),
    ):
        writer.write(GET)
        assert (await reader.readuntil(b"/x?y")).startswith(b"HTTP/1.1 200")


async def test_a_request_too_many_is_told_so() -> None:
    async with ScriptedUpstream() as upstream, _connected(upstream) as (reader, writer):
        writer.write(GET)
        assert (await reader.readuntil(b"left")).startswith(b"HTTP/1.1 500")


async def test_an_answer_that_raises_fails_the_test() -> None:
    def answer(_: Request) -> Script:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        async with ScriptedUpstream(answer=answer) as upstream, _connected(upstream) as (r, w):
            w.write(GET)
            assert (await r.readuntil(b"raised")).startswith(b"HTTP/1.1 500")


async def test_a_script_that_is_none_fails_the_test() -> None:
    script: Any = [42]
    with pytest.raises(TypeError):
        async with ScriptedUpstream(script) as upstream, _connected(upstream) as (reader, writer):
            writer.write(GET)
            assert await reader.read() == b""


async def test_a_pause_waits_for_its_event() -> None:
    go = asyncio.Event()
    async with (
        ScriptedUpstream([Send(b"a"), Pause(go), Send(b"b"), Pause(0.001), Send(b"c")]) as upstream,
        _connected(upstream) as (reader, writer),
    ):
        writer.write(GET)
        assert await reader.read(10) == b"a"
        go.set()
        assert await reader.readexactly(2) == b"bc"


async def test_close_ends_in_order_after_what_was_sent() -> None:
    async with ScriptedUpstream([Send(bytes(5_000_000)), Close()]) as upstream:
        async with _connected(upstream) as (reader, writer):
            writer.write(GET)
            assert len(await reader.read()) == 5_000_000
        assert upstream.left == 0


async def test_reset_breaks_the_connection() -> None:
    async with ScriptedUpstream([Reset()]) as upstream:
        async with _connected(upstream) as (reader, writer):
            writer.write(GET)
            with pytest.raises(ConnectionResetError):
                await reader.read()
        assert upstream.left == 0


@pytest.mark.parametrize("script", [[Stall()], [Pause(100.0)], [Pause(asyncio.Event())], reply()])
async def test_a_peer_that_leaves_is_counted_at_once(script: Script) -> None:
    async with ScriptedUpstream(script) as upstream:
        async with _connected(upstream) as (_, writer):
            writer.write(GET)
            await upstream.wait_requests()
            assert upstream.open == 1
        await upstream.wait_closed()
        assert (upstream.open, upstream.left, upstream.connections) == (0, 1, 1)


async def test_a_slow_reader_slows_the_script() -> None:
    size = 64 * 1024 * 1024
    async with ScriptedUpstream(reply(bytes(size))) as upstream:
        async with _connected(upstream) as (_, writer):
            writer.write(GET)
            await upstream.wait_requests()
            for _ in range(50):
                await asyncio.sleep(0)
            assert upstream.sent < size
        await upstream.wait_closed()


async def test_leaving_the_block_ends_everything() -> None:
    async with ScriptedUpstream([Stall()]) as upstream:
        reader, writer = await asyncio.open_connection("127.0.0.1", upstream.port)
        writer.write(GET)
        await upstream.wait_requests()
    assert await reader.read() == b""
    assert upstream.open == 0
    writer.close()
    await writer.wait_closed()


async def test_all_connections_can_be_dropped() -> None:
    async with ScriptedUpstream(json_reply({})) as upstream:
        async with _connected(upstream) as (reader, writer):
            writer.write(GET)
            await upstream.wait_requests()
            upstream.drop_all()
            await reader.read()
        assert upstream.left == 0


def test_the_address_is_known_only_when_it_runs() -> None:
    with pytest.raises(RuntimeError):
        _ = ScriptedUpstream().base_url


async def test_it_can_refuse_connections_and_listen_again_at_the_same_address() -> None:
    async with ScriptedUpstream(answer=lambda _: reply(b"here")) as upstream:
        port = upstream.port
        async with _connected(upstream) as (reader, writer):
            upstream.refuse()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", port)
            writer.write(GET)  # the connection that is there stays
            assert b"here" in await reader.readuntil(b"here")
        await upstream.accept()
        assert upstream.port == port
        async with _connected(upstream) as (reader, writer):
            writer.write(GET)
            assert b"here" in await reader.readuntil(b"here")
