"""Every asynchronous test here runs on both loops, and none may leave anything behind."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
import uvloop

from tests.upstream.recorder import Recorder
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture
async def troubles() -> AsyncIterator[list[dict[str, Any]]]:
    """What reached the loop's exception handler; the test must empty it."""
    found: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    before = asyncio.all_tasks()
    loop.set_exception_handler(lambda _, context: found.append(context))
    yield found
    await asyncio.sleep(0)  # what was cancelled in the last moment
    await asyncio.sleep(0)
    gc.collect()
    assert found == []
    assert asyncio.all_tasks() - before <= {asyncio.current_task()}


@pytest.fixture
async def client(troubles: list[dict[str, Any]]) -> AsyncIterator[HttpClient]:
    client = HttpClient()
    yield client
    await client.aclose()
    statistics = client.statistics()
    assert (statistics.open, statistics.idle, statistics.connecting) == (0, 0, 0)


@pytest.fixture
def send(client: HttpClient) -> Callable[[Call], Recorder]:
    def start(call: Call, recorder: Recorder | None = None) -> Recorder:
        recorder = recorder or Recorder()
        recorder.handle = client.send(call, recorder)
        return recorder

    return start
