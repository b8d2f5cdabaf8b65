"""One connection: framing, limits, order of answers, and who notices that a caller left."""

import asyncio
import gc
import socket
import weakref

import pytest

from tests.api.wire import Caller, Recorder, get, post
from zurelay.api.connection import MAX_QUEUED
from zurelay.api.server import Server

HEAD_LIMIT = 32 * 1024


async def test_a_connection_is_used_again(caller: Caller) -> None:
    for body in (b"first", b"second"):
        caller.write(post("/v1/echo", body))
        answer = await caller.answer()
        assert (answer.status, answer.body) == (200, body)
        assert "connection" not in answer.headers


async def test_a_stream_comes_in_chunks(caller: Caller) -> None:
    caller.write(post("/v1/stream"))
    answer = await caller.answer()
    assert answer.headers["transfer-encoding"] == "chunked"
    assert answer.body == b"onetwothree"


@pytest.mark.parametrize("path", ["/v1/echo", "/v1/stream"])
async def test_http_1_0_gets_no_chunks_and_a_close(caller: Caller, path: str) -> None:
    caller.write(post(path, b"abc", version="1.0"))
    answer = await caller.answer()
    assert "transfer-encoding" not in answer.headers
    assert answer.headers["connection"] == "close"
    assert answer.body == (b"abc" if path == "/v1/echo" else b"onetwothree")
    assert await caller.rest() == b""


async def test_connection_close_is_obeyed(caller: Caller) -> None:
    caller.write(post("/v1/echo", b"abc", "connection: close"))
    assert (await caller.answer()).headers["connection"] == "close"
    assert await caller.rest() == b""


async def test_head_has_the_length_and_no_body(caller: Caller) -> None:
    caller.write(get("/v1/echo", method="HEAD") + get("/v1/echo"))
    first = await caller.answer(bodiless=True)
    assert first.headers["content-length"] == "5"
    assert (await caller.answer()).body == b"empty"


@pytest.mark.parametrize("url", ["http://gateway.example/v1/echo?a=1", "/v1/echo?a=1"])
async def test_the_absolute_form_of_a_url_is_understood(caller: Caller, url: str) -> None:
    caller.write(get(url))
    assert (await caller.answer()).headers["x-query"] == "a=1"


async def test_what_is_not_the_services_goes_to_the_pages(caller: Caller) -> None:
    for path, code in (("/", 200), ("/nothing", 404), ("//v1/models", 404)):
        caller.write(get(path))
        assert (await caller.answer()).status == code


async def test_a_chunked_body_is_put_together_and_its_trailers_are_nothing(
    caller: Caller, service: Recorder
) -> None:
    head = b"POST /v1/held HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    caller.write(head + b"2\r\nab\r\n1;x=y\r\nc\r\n0\r\nauthorization: Bearer late\r\n\r\n")
    await service.until(lambda: service.held)
    assert service.held[0].body_size == 3
    assert service.held[0].header(b"authorization") is None


# Requests behind one another.


async def test_pipelined_requests_are_answered_in_order(caller: Caller, service: Recorder) -> None:
    caller.write(post("/v1/held") + post("/v1/echo", b"second") + get("/") + get("/v1/echo?3"))
    await service.until(lambda: service.held)
    assert service.served == ["/v1/held"]
    service.held[0].answer(200, [], b"first")
    bodies = [(await caller.answer()).body for _ in range(4)]
    assert bodies == [b"first", b"second", b"page", b"empty"]


async def test_a_request_that_comes_during_an_answer_waits_for_it(
    caller: Caller, service: Recorder
) -> None:
    caller.write(post("/v1/held"))
    await service.until(lambda: service.held)
    body = b"x" * 200_000  # more than is read ahead
    caller.write(post("/v1/echo", body))
    caller.write(get("/v1/echo"))
    await asyncio.sleep(0)
    service.held[0].answer(200, [], b"first")
    assert (await caller.answer()).body == b"first"
    assert (await caller.answer()).body == body
    assert (await caller.answer()).body == b"empty"
    assert service.served == ["/v1/held", "/v1/echo", "/v1/echo"]


async def test_a_caller_with_a_request_in_waiting_is_noticed_to_leave(
    running: Server, service: Recorder
) -> None:
    leaver = await Caller.to(running.port)
    leaver.write(post("/v1/held/1") + post("/v1/held/2"))
    await service.until(lambda: service.held)
    leaver.write(post("/v1/held/3")[:20])
    await leaver.close()
    await service.until(lambda: service.gone)
    assert service.gone == ["/v1/held/1"]
    assert service.served == ["/v1/held/1"]


async def test_many_small_requests_at_once_do_not_nest(caller: Caller, service: Recorder) -> None:
    caller.write(get("/v1/echo") * MAX_QUEUED)
    for _ in range(MAX_QUEUED):
        assert (await caller.answer()).status == 200
    assert len(service.served) == MAX_QUEUED


async def test_more_requests_in_waiting_than_allowed_end_the_connection(
    caller: Caller, service: Recorder
) -> None:
    caller.write(post("/v1/held") + get("/v1/echo") * (MAX_QUEUED + 1))
    await service.until(lambda: service.held)
    service.held[0].answer(200, [], b"")
    got = await caller.rest()
    assert got.count(b"HTTP/1.1 200") == MAX_QUEUED + 1
    assert got.count(b"connection: close") == 1


async def test_garbage_behind_a_request_does_not_hurt_its_answer(
    caller: Caller, service: Recorder
) -> None:
    caller.write(post("/v1/held") + b"\x00\x01garbage\r\n\r\n")
    await service.until(lambda: service.held)
    service.held[0].open(200, [], b"good")
    service.held[0].close()
    answer = await caller.answer()
    assert (answer.body, answer.headers["connection"]) == (b"good", "close")
    assert await caller.rest() == b""


async def test_a_body_that_breaks_behind_a_request_does_not_hurt_its_answer(
    caller: Caller, service: Recorder
) -> None:
    broken = b"POST /v1/broken HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
    caller.write(post("/v1/held") + broken)
    await service.until(lambda: service.held)
    service.held[0].answer(200, [], b"good")
    assert (await caller.answer()).body == b"good"
    assert await caller.rest() == b""
    assert service.lost == ["/v1/broken"]


# What is no request, or too much of one.


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00\x01\x00", b"HELO you\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"]
)
async def test_garbage_is_a_400(caller: Caller, garbage: bytes) -> None:
    caller.write(garbage)
    answer = await caller.answer()
    assert answer.status == 400
    assert answer.headers["connection"] == "close"
    assert await caller.rest() == b""


@pytest.mark.parametrize("pieces", [1, 100])
@pytest.mark.parametrize("end", [b"\r\n\r\n", b""])
async def test_a_head_above_32_kib_is_a_431(caller: Caller, pieces: int, end: bytes) -> None:
    lines = b"GET /v1/echo HTTP/1.1\r\n" + b"x-filler: %s\r\n" % (b"y" * 1000) * 40 + end
    size = -(-len(lines) // pieces)
    for start in range(0, len(lines), size):
        caller.write(lines[start : start + size])
        await asyncio.sleep(0)
    assert (await caller.answer()).status == 431
    assert await caller.rest() == b""


async def test_a_head_of_almost_32_kib_with_a_large_body_behind_it_is_fine(
    caller: Caller,
) -> None:
    filler = "x-filler: " + "y" * (HEAD_LIMIT - 200)
    body = b"b" * 100_000
    caller.write(post("/v1/echo", body, filler))
    assert (await caller.answer()).body == body


async def test_a_broken_body_is_a_400_and_is_given_up(caller: Caller, service: Recorder) -> None:
    caller.write(b"POST /v1/echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n")
    await service.until(lambda: service.heads)
    caller.write(b"zz\r\n")
    assert (await caller.answer()).status == 400
    assert service.lost == ["/v1/echo"]
    assert service.served == []


async def test_an_upgrade_is_answered_as_plain_http(caller: Caller) -> None:
    upgrade = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMA")
    caller.write(post("/v1/echo", b"abc", *upgrade))
    answer = await caller.answer()
    assert (answer.status, answer.body) == (200, b"abc")
    caller.write(post("/v1/echo", b"again"))
    assert (await caller.answer()).body == b"again"


# Bodies that do not have to be read.


async def test_a_refusal_arrives_although_the_body_still_comes(
    caller: Caller, service: Recorder
) -> None:
    size = 20_000_000
    caller.write(b"POST /v1/refused HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % size)
    answer = await caller.answer()
    assert (answer.status, answer.body, answer.headers["connection"]) == (401, b"no", "close")
    for _ in range(20):
        caller.write(b"x" * 1_000_000)
        await caller.writer.drain()
    assert await caller.rest() == b""
    assert service.served == []


async def test_a_body_that_grows_too_large_is_refused_without_reading_all_of_it(
    caller: Caller, service: Recorder
) -> None:
    service.most = 100_000
    caller.write(b"POST /v1/echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(20):
        caller.write(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        await asyncio.sleep(0)
    answer = await caller.answer()
    assert (answer.status, answer.body) == (413, b"too large")
    assert service.served == []


async def test_expect_gets_its_100_and_a_refusal_none(running: Server) -> None:
    for path, first in (("/v1/echo", b"HTTP/1.1 100"), ("/v1/refused", b"HTTP/1.1 401")):
        caller = await Caller.to(running.port)
        caller.write(post(path, b"abc", "expect: 100-continue")[:-3])
        assert (await caller.line()).startswith(first)
        await caller.close()


async def test_expect_behind_another_request_gets_its_100_in_its_turn(
    caller: Caller, service: Recorder
) -> None:
    caller.write(post("/v1/held") + post("/v1/echo", b"abc", "expect: 100-continue")[:-3])
    await service.until(lambda: service.held)
    service.held[0].answer(200, [], b"first")
    assert (await caller.answer()).body == b"first"
    assert await caller.line() == b"HTTP/1.1 100 Continue\r\n"
    await caller.line()
    caller.write(b"abc")
    assert (await caller.answer()).body == b"abc"


@pytest.mark.usefixtures("quick")
async def test_a_refused_caller_that_neither_sends_nor_leaves_is_closed(
    running: Server, service: Recorder
) -> None:
    caller = await Caller.to(running.port)
    caller.write(b"POST /v1/refused HTTP/1.1\r\ncontent-length: 1000\r\n\r\n")
    assert (await caller.answer()).status == 401
    while running.server_state.connections:
        await asyncio.sleep(0.01)
    assert service.served == []
    await caller.close()


# Callers that are slow, silent or gone.


@pytest.mark.parametrize("sent", [b"", b"GET /v1/echo HT", b"GET / HTTP/1.1\r\nx: y\r\n"])
@pytest.mark.usefixtures("quick")
async def test_a_head_that_does_not_come_ends_the_connection(caller: Caller, sent: bytes) -> None:
    caller.write(sent)
    assert await caller.rest() == b""


@pytest.mark.usefixtures("quick")
async def test_an_idle_connection_is_closed(caller: Caller) -> None:
    caller.write(get("/v1/echo"))
    await caller.answer()
    assert await caller.rest() == b""


@pytest.mark.usefixtures("quick")
async def test_a_second_head_that_stalls_ends_the_connection(caller: Caller) -> None:
    caller.write(get("/v1/echo") + b"GET /v1")
    await caller.answer()
    assert await caller.rest() == b""


@pytest.mark.usefixtures("quick")
async def test_a_body_that_stops_coming_is_a_408(caller: Caller) -> None:
    caller.write(post("/v1/echo", b"x" * 1000)[:-990])
    answer = await caller.answer()
    assert (answer.status, answer.body) == (408, b"slow")
    assert await caller.rest() == b""


async def test_a_caller_that_leaves_during_its_body_is_told_of(
    running: Server, service: Recorder
) -> None:
    leaver = await Caller.to(running.port)
    leaver.write(post("/v1/echo", b"x" * 1000)[:-990])
    await service.until(lambda: service.heads)
    await leaver.close()
    await service.until(lambda: service.lost)
    assert service.lost == ["/v1/echo"]


async def test_a_half_closed_caller_counts_as_gone(caller: Caller, service: Recorder) -> None:
    caller.write(post("/v1/held"))
    await service.until(lambda: service.held)
    caller.writer.write_eof()
    await service.until(lambda: service.gone)
    assert service.gone == ["/v1/held"]


@pytest.mark.usefixtures("quick")
async def test_a_caller_that_does_not_read_pauses_its_source_and_counts_as_gone_in_the_end(
    running: Server, service: Recorder
) -> None:
    with socket.socket() as stalled:
        stalled.setblocking(False)
        await asyncio.get_running_loop().sock_connect(stalled, ("127.0.0.1", running.port))
        await asyncio.get_running_loop().sock_sendall(stalled, post("/v1/held"))
        await service.until(lambda: service.held)
        service.held[0].open(200, [])
        while not service.held[0].paused:
            service.held[0].write(b"x" * 100_000)
            await asyncio.sleep(0)
        assert service.paused == [True]
        await service.until(lambda: service.gone)


async def test_a_caller_that_reads_again_lets_its_source_go_on(
    caller: Caller, service: Recorder
) -> None:
    caller.write(post("/v1/held"))
    await service.until(lambda: service.held)
    exchange = service.held[0]
    exchange.open(200, [])
    size = 0
    while not exchange.paused:
        exchange.write(b"x" * 100_000)
        size += 100_000
        await asyncio.sleep(0)
    reading = asyncio.create_task(caller.answer())
    while service.paused[-1]:
        await asyncio.sleep(0)
    exchange.close()
    assert len((await reading).body) == size
    assert service.paused == [True, False]
    assert service.gone == []


async def test_a_connection_that_is_over_is_freed_at_once(
    running: Server, service: Recorder
) -> None:
    caller = await Caller.to(running.port)
    caller.write(post("/v1/held"))
    await service.until(lambda: service.held)
    (connection,) = running.server_state.connections
    seen = weakref.ref(connection)
    del connection
    service.held.pop().answer(200, [], b"done")
    await caller.answer()
    gc.disable()
    try:
        await caller.close()
        while running.server_state.connections:
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)
        assert seen() is None
    finally:
        gc.enable()
