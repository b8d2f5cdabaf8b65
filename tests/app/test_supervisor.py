"""Several workers as an operator runs them, over a real PostgreSQL and a real Valkey."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.served import children, free_port
from tests.servers import PostgreSQL
from tests.store.rows import a_record, entry
from tests.valkey_server import ValkeyServer
from zurelay.app.listening import reserve
from zurelay.app.local_token import read
from zurelay.app.options import WorkersError
from zurelay.app.supervisor import check
from zurelay.config.load import load
from zurelay.live.journal import Journal
from zurelay.store.engine import open_store
from zurelay.store.requests import Filter, list_requests

pytestmark = pytest.mark.timeout(120)

SERVE = """
import sys
from pathlib import Path
from zurelay.app import ServeOptions, WorkersError, supervise, supervisor

supervisor.BACKOFF_SECONDS = (0.01,)
supervisor.TRIES = 2

def announce(started):
    print(started.base_url, started.first_key, started.workers, flush=True)

try:
    supervise(ServeOptions(Path("data"), Path("zurelay.toml"), environ={}), 2, announce)
except WorkersError as error:
    sys.exit(str(error))
"""
QUICK = "[server]\nport = 0\ndrain_delay_s = 0\nshutdown_grace_s = 20\n"


class Server:
    """A supervisor with two workers, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVE],
                cwd=folder,
                env={"PATH": os.environ["PATH"]},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()

    def workers(self) -> list[int]:
        """Their process ids."""
        return children(self.process.pid)

    def ended(self) -> tuple[int, str]:
        """Wait for the end: exit code and all that was written."""
        self.process.communicate(timeout=30)
        return self.process.returncode, self.log.read_text()

    def until(self, holds: Callable[[], Any]) -> None:
        end = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < end, self.log.read_text()[-3000:]
            time.sleep(0.02)


@pytest.fixture
def storage(postgresql: PostgreSQL, shared_valkey: ValkeyServer) -> Iterator[str]:
    """The table for the configuration."""
    with postgresql.database() as url:
        yield f'[storage]\nurl = "{url}"\nvalkey_url = "{shared_valkey.url}"\n'


@contextmanager
def serving(folder: Path, config: str) -> Iterator[Server]:
    (folder / "zurelay.toml").write_text(config)
    server = Server(folder)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
            try:
                server.process.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                server.process.kill()  # its workers end with it
                server.process.communicate()
        if server.process.stdout is not None:
            server.process.stdout.close()


def asked(url: str, key: str, model: str = "sandbox/echo", *, stream: bool = False) -> Any:
    """An open answer."""
    body = {"model": model, "stream": stream, "messages": [{"role": "user", "content": "Hi"}]}
    request = urllib.request.Request(  # noqa: S310 - our own
        f"{url}/v1/chat/completions",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {key}"},
    )
    return urllib.request.urlopen(request, timeout=20)  # noqa: S310 - our own


def counted(url: str) -> Counter[str]:
    """Worker -> requests, by a scrape of any of them."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:  # noqa: S310 - our own
        text = answer.read().decode()
    found: Counter[str] = Counter()
    for worker, count in re.findall(
        r'^zurelay_requests_total\{worker="(\d)".*\} (\S+)$', text, re.MULTILINE
    ):
        found[worker] += int(float(count))
    assert set(re.findall(r'^zurelay_open_streams\{worker="(\d)"\}', text, re.MULTILINE)) == {
        "1",
        "2",
    }
    return found


def attempts(folder: Path) -> tuple[int, int]:
    """By whichever worker answers: how often a route was tried, and how many it speaks for."""
    local = read(folder / "data")
    assert local is not None
    request = urllib.request.Request(  # noqa: S310 - our own
        f"{local[1]}/api/v1/routes?model=sandbox/echo",
        headers={"authorization": f"Bearer {local[0]}"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310 - our own
        (route,) = json.load(answer)["data"]
    return route["attempts_1h"], route["processes"]


def leave(folder: Path) -> None:
    """What a process leaves that was killed while the database was away."""
    folder.mkdir(parents=True)
    journal = Journal(folder, ballast_mb=0)
    journal.append([entry(a_record())[1]], 0)
    journal.close()


def test_workers_share_an_address_and_lose_nothing_by_signals(tmp_path: Path, storage: str) -> None:
    # One that served alone before, one of more workers, one of these.
    for name in ("data", "data/worker-5", "data/worker-2"):
        leave(tmp_path / name)
    with serving(tmp_path, QUICK + storage) as server:
        url, key, workers = server.said.split()
        assert (key[:3], workers) == ("zk-", "2")
        for _ in range(24):
            asked(url, key).read()
        count = counted(url)
        assert count.total() == 24
        assert min(count["1"], count["2"]) > 2
        # Each knows its own part, and whoever is asked tells the sum.
        server.until(lambda: {attempts(tmp_path) for _ in range(8)} == {(24, 2)})

        # One that is killed is replaced, and its log rows are all there.
        killed, other = server.workers()
        os.kill(killed, signal.SIGKILL)
        server.until(lambda: len(server.workers()) == 2 and killed not in server.workers())
        server.until(lambda: server.log.read_text().count("worker ended") == 1)

        # Signals reach all: a reload, and an end that lets streams finish.
        (tmp_path / "zurelay.toml").write_text(QUICK + '[brand]\nname = "Other"\n' + storage)
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: server.log.read_text().count("configuration reloaded") >= 1)
        with asked(url, key, "sandbox/lorem?tokens=30&tps=30", stream=True) as stream:
            said = stream.readline()
            server.process.send_signal(signal.SIGTERM)
            said += stream.read()
        assert said.endswith(b"data: [DONE]\n\n")
        code, log = server.ended()
        assert (code, "Traceback" in log) == (0, False)
        assert not Path(f"/proc/{other}").exists()
        assert not (tmp_path / "data" / "admin-token").exists()
    store = open_store(tmp_path, re.findall('url = "(postgresql.*)"', storage)[0])
    with store.read() as connection:
        assert len(list_requests(connection, Filter(), 100)) == 28
    store.close()


def test_workers_that_do_not_stay_up_end_the_server_with_a_reason(
    tmp_path: Path, storage: str
) -> None:
    with serving(tmp_path, QUICK + storage) as server:
        (tmp_path / "zurelay.toml").write_text("[server]\nprot = 1\n")
        os.kill(server.workers()[0], signal.SIGKILL)
        code, log = server.ended()
        assert code == 1
        last = log.rstrip("\n").split("\n")[-1]
        assert re.fullmatch(
            r"worker 1 ended with 1 2 times soon after its start; its log says why", last
        )
        assert log.count("server.prot") >= 1


def test_workers_end_when_their_supervisor_is_killed(tmp_path: Path, storage: str) -> None:
    with serving(tmp_path, QUICK + storage) as server:
        workers = server.workers()
        assert len(workers) == 2
        server.process.kill()
        server.until(lambda: not any(Path(f"/proc/{pid}/cwd").exists() for pid in workers))
        server.process.communicate()
        assert server.log.read_text().count("the supervisor is gone") == 2


def test_an_address_in_use_is_told_before_any_worker_starts(tmp_path: Path, storage: str) -> None:
    with reserve("127.0.0.1", free_port()) as held:
        held.listen()
        port = held.getsockname()[1]
        config = QUICK.replace("port = 0", f"port = {port}") + storage
        with serving(tmp_path, config) as server:
            code, log = server.ended()
            assert (code, server.said) == (1, "")
            assert f"cannot listen on 127.0.0.1:{port}: " in log
            assert not (tmp_path / "data" / "worker-1").exists()


@pytest.mark.parametrize(
    ("storage", "lacks"),
    [
        ("", ["url = ", "valkey_url = "]),
        ('url = "postgresql://u@h/d"', ["valkey_url = "]),
        ('valkey_url = "valkey://h"', ["url = "]),
    ],
)
def test_workers_need_a_database_and_shared_state(
    tmp_path: Path, storage: str, lacks: list[str]
) -> None:
    (tmp_path / "zurelay.toml").write_text(f"[storage]\n{storage}")
    with pytest.raises(WorkersError) as raised:
        check(load(None, {}, tmp_path, tmp_path))
    told = str(raised.value)
    assert "storage.url" in told
    assert "storage.valkey_url" in told
    assert re.findall(r"\w+ = ", told) == lacks
    assert "\n" not in told


def test_a_store_and_shared_state_are_enough(tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text(
        '[storage]\nurl = "postgresql://u@h/d"\nvalkey_url = "valkey://h"\n'
    )
    check(load(None, {}, tmp_path, tmp_path))
