"""A listening server over a service that shows what reached it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.api.wire import Caller, Recorder
from zurelay.api import connection, server
from zurelay.api.pages import Status, pages
from zurelay.api.server import Server, ServerOptions


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that tests can wait for."""
    monkeypatch.setattr(server, "SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(connection, "BODY_GRACE_SECONDS", 0.1)
    monkeypatch.setattr(connection, "LINGER_SILENCE_SECONDS", 0.1)


def status() -> Status:
    return Status("Brand", "1", "http://x", "running", 1, 1, "m")


@pytest.fixture
def service() -> Recorder:
    return Recorder()


@pytest.fixture
async def running(service: Recorder, quick: None) -> AsyncIterator[Server]:
    options = ServerOptions("127.0.0.1", 0, 1.0, keep_alive_idle_s=0.1, write_stall_s=0.1)
    running = Server(options, service, pages(status))
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
