"""One answer: framing, what happens twice or too late, and work that fails."""

import asyncio
import contextlib
import weakref

import pytest

from tests.api.wire import Caller, Recorder, get, post
from zurelay.api.exchange import HttpExchange
from zurelay.api.server import Server


@pytest.fixture
async def exchange(caller: Caller, service: Recorder) -> HttpExchange:
    caller.write(post("/v1/held", b"abc", "x-one: 1", "x-one: 2"))
    await service.until(lambda: service.held)
    return service.held[0]


async def test_the_first_header_of_a_name_counts(exchange: HttpExchange) -> None:
    assert exchange.header(b"x-one") == b"1"
    assert exchange.header(b"x-two") is None
    assert exchange.client_host == "127.0.0.1"


async def test_a_204_has_neither_body_nor_length(caller: Caller, exchange: HttpExchange) -> None:
    exchange.answer(204, [(b"x-a", b"b")], b"")
    answer = await caller.answer()
    assert (answer.status, answer.headers["x-a"]) == (204, "b")
    assert "content-length" not in answer.headers


async def test_only_the_first_answer_goes_out(caller: Caller, exchange: HttpExchange) -> None:
    exchange.answer(200, [], b"first")
    exchange.answer(500, [], b"second")
    exchange.open(500, [], b"third")
    exchange.write(b"fourth")
    exchange.close(b"fifth")
    assert (await caller.answer()).body == b"first"
    caller.write(get("/v1/echo"))
    assert (await caller.answer()).body == b"empty"


async def test_a_stream_may_begin_and_end_without_bytes(
    caller: Caller, exchange: HttpExchange
) -> None:
    exchange.open(200, [])
    exchange.close()
    assert (await caller.answer()).body == b""


async def test_an_aborted_stream_cannot_look_whole(caller: Caller, exchange: HttpExchange) -> None:
    exchange.open(200, [], b"one")
    await caller.line()
    exchange.abort()
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError, ValueError)):
        while True:
            await caller.reader.readuntil(b"0\r\n\r\n")


async def test_a_caller_that_left_is_told_to_whoever_listens_later(
    running: Server, service: Recorder
) -> None:
    caller = await Caller.to(running.port)
    caller.write(post("/v1/held"))
    await service.until(lambda: service.held)
    await caller.close()
    await service.until(lambda: service.gone)
    late = asyncio.Event()
    service.held[0].listen(late.set, lambda _: None)
    await late.wait()
    service.held[0].answer(200, [], b"into the void")
    assert service.gone == ["/v1/held"]


async def test_whoever_listened_is_let_go_when_the_caller_left(
    running: Server, service: Recorder
) -> None:
    left = asyncio.Event()

    class Listener:
        def gone(self) -> None:
            left.set()

        def paused(self, _paused: bool) -> None:
            """Does nothing."""

    caller = await Caller.to(running.port)
    caller.write(post("/v1/held"))
    await service.until(lambda: service.held)
    listener = Listener()
    seen = weakref.ref(listener)
    service.held[0].listen(listener.gone, listener.paused)
    del listener
    await caller.close()
    await left.wait()
    assert seen() is None


async def test_work_ends_with_its_caller(running: Server, service: Recorder) -> None:
    caller = await Caller.to(running.port)
    caller.write(post("/v1/held"))
    await service.until(lambda: service.held)
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    service.held[0].spawn(work())
    await asyncio.sleep(0)
    await caller.close()
    await ended.wait()


async def test_work_that_fails_does_not_leave_its_caller_waiting(
    caller: Caller, exchange: HttpExchange
) -> None:
    async def work() -> None:
        raise RuntimeError("a fault of ours")

    exchange.spawn(work())
    with contextlib.suppress(ConnectionError):
        assert await caller.rest() == b""
