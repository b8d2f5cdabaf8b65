"""Listening and stopping."""

import asyncio

from tests.api.conftest import ROUTES
from tests.api.wire import Caller, Recorder, get, post
from zurelay.api.pages import pages
from zurelay.api.server import Server, ServerOptions


def made(service: Recorder) -> Server:
    return Server(ServerOptions("127.0.0.1", 0, 5.0, 75.0, 60.0), service, pages(ROUTES))


async def test_a_stop_waits_for_running_requests_and_closes_idle_connections(
    service: Recorder,
) -> None:
    server = made(service)
    serving = asyncio.create_task(server.serve())
    await server.listening.wait()
    busy, idle = await Caller.to(server.port), await Caller.to(server.port)
    idle.write(get("/v1/echo"))
    await idle.answer()
    busy.write(post("/v1/held"))
    await service.until(lambda: service.held)
    server.stop()
    assert await idle.rest() == b""
    assert not serving.done()
    service.held[0].answer(200, [], b"done")
    answer = await busy.answer()
    assert (answer.body, answer.headers["connection"]) == (b"done", "close")
    await serving
    await busy.close()
    await idle.close()


async def test_a_stop_at_once_waits_for_nobody(service: Recorder) -> None:
    server = made(service)
    serving = asyncio.create_task(server.serve())
    await server.listening.wait()
    caller = await Caller.to(server.port)
    caller.write(post("/v1/held"))
    await service.until(lambda: service.held)
    server.stop(at_once=True)
    await serving
    service.held[0].answer(200, [], b"")
    await caller.close()
