import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from zurelay.cli import main
from zurelay.sandbox.server import running


@dataclass(frozen=True)
class Ran:
    """What became of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in an empty folder, with no providers in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ZURELAY_API_KEY", "ZURELAY_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def command(*arguments: str) -> Ran:
        code = main(arguments)
        told = capsys.readouterr()
        return Ran(code, told.out, told.err)

    return command


@pytest.fixture(scope="session")
def sandbox() -> Iterator[str]:
    """Base URL of sandbox models on a loopback port."""
    found: list[str] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with running() as url:
            found.append(url)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(10)
    yield found[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A loopback port that nothing listens on, and nothing can while the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
