import asyncio
from collections.abc import AsyncIterator

import pytest

from bench import load, upstream


@pytest.fixture
async def target() -> AsyncIterator[load.Target]:
    async with await upstream.start() as server:
        yield load.Target(port=server.sockets[0].getsockname()[1])


async def script(target: load.Target, events: int, interval: float) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    query = f"events={events}&interval={interval}&spread=1"
    writer.write(f"GET /script?{query} HTTP/1.1\r\n\r\n".encode())
    await reader.readuntil(b"}")
    writer.close()


async def test_plain_requests_are_counted_and_timed(target: load.Target) -> None:
    result = await load.plain(target, 3, 0.1)
    assert result.errors == 0
    assert len(result.latencies) > 3
    assert 0 < result.percentile(0.5) <= result.percentile(0.99) < 5
    assert result.rate == len(result.latencies) / result.seconds


async def test_an_error_status_is_an_error_and_no_latency(target: load.Target) -> None:
    result = await load.plain(load.Target(port=target.port, path="/nowhere"), 1, 0.05)
    assert result.latencies == []
    assert result.errors > 0
    assert result.first_error == "status 404"


async def test_a_closed_connection_is_an_error() -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        result = await load.plain(load.Target(port=port), 1, 0.05)
    assert (result.errors, result.first_error) == (1, "connection closed")


async def test_events_of_open_streams_are_counted_in_the_window(target: load.Target) -> None:
    await script(target, events=1_000_000, interval=0.01)
    used = iter((1.0, 1.5))
    window = await load.streams(target, 5, 0.2, lambda: next(used))
    assert window.open == 5
    assert window.cpu == 0.5
    assert 0 < window.events <= 5 * 100


async def test_the_first_token_is_timed_not_the_role(target: load.Target) -> None:
    await script(target, events=1, interval=0.0)
    result = await load.first_tokens(target, 0.05)
    assert result.errors == 0
    assert result.latencies


async def test_a_stream_without_a_token_is_an_error(target: load.Target) -> None:
    wrong = load.Target(port=target.port, path="/nowhere")
    (listener,) = await load.listen(wrong, 1, 0.05)
    assert listener.first is None
    assert listener.status == b"404"
    await load.leave([listener])


def test_an_event_marker_cut_in_two_is_counted_once() -> None:
    async def cut() -> load.Listener:
        listener = load.Listener(b"")
        listener.data_received(b"HTTP/1.1 200 OK\r\n\r\nda")
        listener.data_received(b'ta: {"a":1}\n\ndata: ')
        listener.data_received(b'{"b":2}\n\ndata: [DONE]\n\n')
        return listener

    assert asyncio.run(cut()).events == 2


def test_what_wrk_prints_is_read_and_errors_are_no_rate() -> None:
    printed = "Running 2s test\n  12345 requests in 2.0s\nRequests/sec:   6172.33\n"
    assert load.read_wrk(printed) == 6172.33
    assert load.read_wrk("  Non-2xx or 3xx responses: 7\n" + printed) == 0
