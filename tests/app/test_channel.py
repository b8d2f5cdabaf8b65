import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from zurelay.app.channel import (
    Ask,
    Begin,
    Gather,
    Gathered,
    Told,
    WorkerEnd,
    first,
    messages,
    packed,
)

BEGIN = Begin(2, 4, "zka-token", "data/worker-2", None, "127.0.0.1", 8000, 64)


def test_the_first_message_is_read_whole_however_it_is_cut() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sent = packed(BEGIN)
        for at in range(len(sent)):
            ours.sendall(sent[at : at + 1])
        assert first(theirs) == BEGIN


def test_a_supervisor_that_says_nothing_is_gone() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs, pytest.raises(EOFError):
        first(theirs)


class Supervisor:
    """The other end of a worker's channel, in the hands of a test."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self.gone = asyncio.Event()

    async def __aenter__(self) -> "Supervisor":
        self.reader, self.writer = await asyncio.open_connection(sock=self._end)
        self.said = messages(self.reader)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@pytest.fixture
async def ends() -> AsyncIterator[tuple[Supervisor, WorkerEnd]]:
    ours, theirs = socket.socketpair()
    worker = WorkerEnd(theirs)
    async with Supervisor(ours) as supervisor:
        await worker.open(lambda: b"own 1\n", supervisor.gone.set)
        yield supervisor, worker
        await worker.close()


async def test_a_worker_tells_its_metrics(ends: tuple[Supervisor, WorkerEnd]) -> None:
    supervisor, _ = ends
    supervisor.writer.write(packed(Ask(7)))
    assert await anext(supervisor.said) == Told(7, b"own 1\n")


async def test_a_worker_gathers_those_of_the_others(ends: tuple[Supervisor, WorkerEnd]) -> None:
    supervisor, worker = ends
    one = asyncio.create_task(worker.gather())
    two = asyncio.create_task(worker.gather())
    asked = [await anext(supervisor.said), await anext(supervisor.said)]
    assert asked == [Gather(1), Gather(2)]
    supervisor.writer.write(
        packed(Gathered(2, {3: b"second"})) + packed(Gathered(1, {3: b"first"}))
    )
    assert (await one, await two) == ({3: b"first"}, {3: b"second"})


async def test_who_gets_no_answer_goes_on_alone(
    ends: tuple[Supervisor, WorkerEnd], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.app.channel._GATHER_SECONDS", 0.01)
    supervisor, worker = ends
    assert await worker.gather() == {}
    supervisor.writer.write(packed(Gathered(1, {3: b"late"})) + packed(Ask(1)))
    assert await anext(supervisor.said) == Gather(1)
    assert await anext(supervisor.said) == Told(1, b"own 1\n")


async def test_a_worker_hears_that_its_supervisor_is_gone(
    ends: tuple[Supervisor, WorkerEnd],
) -> None:
    supervisor, _ = ends
    supervisor.writer.close()
    await asyncio.wait_for(supervisor.gone.wait(), 5)
