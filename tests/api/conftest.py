"""A listening server over a service that shows what reached it, and a whole gateway."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.api.wire import Caller, Recorder
from tests.app.conftest import Caller as Client
from tests.app.conftest import ask, config, gateway, start, upstream
from zurelay.api import connection, server
from zurelay.api.pages import pages
from zurelay.api.server import Server, ServerOptions
from zurelay.testing.gateway import RunningGateway
from zurelay.upstream.client import HttpClient

__all__ = ["ask", "config", "gateway", "start", "upstream"]  # fixtures of the whole gateway


@pytest.fixture
async def client(gateway: RunningGateway) -> AsyncIterator[Client]:
    """Asks the whole gateway as a client would."""
    async with HttpClient() as own:
        yield Client(gateway, own)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can wait for; the others have those of every day."""
    monkeypatch.setattr(server, "SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(connection, "BODY_GRACE_SECONDS", 0.2)
    monkeypatch.setattr(connection, "LINGER_SILENCE_SECONDS", 0.2)


ROUTES = [Route("/", lambda _request: PlainTextResponse("page"))]


@pytest.fixture
def service() -> Recorder:
    return Recorder()


@pytest.fixture
async def running(request: pytest.FixtureRequest, service: Recorder) -> AsyncIterator[Server]:
    waits = 60.0
    if "quick" in request.fixturenames:
        request.getfixturevalue("quick")
        waits = 0.2
    options = ServerOptions("127.0.0.1", 0, 1.0, keep_alive_idle_s=waits, write_stall_s=waits)
    running = Server(options, service, pages(ROUTES))
    serving = asyncio.create_task(running.serve())
    await running.listening.wait()
    yield running
    running.stop(at_once=True)
    await serving


@pytest.fixture
async def caller(running: Server) -> AsyncIterator[Caller]:
    one = await Caller.to(running.port)
    yield one
    await one.close()
