"""One process from its first line to its last, as signals find it."""

import json
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPResponse
from pathlib import Path

import pytest

SERVE = """
import sys
from pathlib import Path
from zurelay.app import ServeOptions, run

def announce(started):
    print(started.base_url, started.first_key, flush=True)

options = ServeOptions(Path(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]), environ={})
run(options, announce)
"""


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A process, its address and its first key."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(folder), "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        url, key = process.stdout.readline().split()
        yield process, url, key
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def opened(url: str, key: str, path: str, body: dict[str, object] | None = None) -> HTTPResponse:
    request = urllib.request.Request(  # noqa: S310 - our own
        f"{url}{path}",
        None if body is None else json.dumps(body).encode(),
        {"authorization": f"Bearer {key}"},
    )
    answer: HTTPResponse = urllib.request.urlopen(request, timeout=20)  # noqa: S310 - likewise
    return answer


def ended(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    return errors


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_a_stream_finish_and_the_process_end_well(
    tmp_path: Path, kind: signal.Signals
) -> None:
    body = {
        "model": "sandbox/lorem?tokens=20&tps=40",
        "stream": True,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    with served(tmp_path) as (process, url, key):
        with opened(url, key, "/v1/chat/completions", body) as stream:
            first = stream.readline()
            process.send_signal(kind)
            rest = stream.read()
        assert first.startswith(b"data: ")
        assert rest.endswith(b"data: [DONE]\n\n")
        if kind is signal.SIGTERM:
            process.send_signal(kind)  # the second ends the drain delay
        ended(process)


def test_the_first_key_is_made_once_and_a_folder_has_one_server(tmp_path: Path) -> None:
    with served(tmp_path) as (process, _, key):
        assert key.startswith("zk-")
        other = subprocess.run(
            [sys.executable, "-c", SERVE, str(tmp_path), "0"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert other.returncode != 0
        assert "StoreError" in other.stderr
        process.send_signal(signal.SIGINT)
        ended(process)
    with served(tmp_path) as (_, _, key):
        assert key == "None"


def test_a_start_that_fails_makes_no_key_that_nobody_was_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        failed = subprocess.run(
            [sys.executable, "-c", SERVE, str(tmp_path), str(taken.getsockname()[1])],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert "CannotListenError" in failed.stderr
    with served(tmp_path) as (_, _, key):
        assert key.startswith("zk-")


def test_a_request_whose_process_was_killed_is_in_the_log_as_interrupted(tmp_path: Path) -> None:
    body = {
        "model": "sandbox/lorem?tokens=1000&tps=20",
        "stream": True,
        "messages": [{"role": "user", "content": "Hello"}],
    }
    with (
        served(tmp_path) as (process, url, key),
        opened(url, key, "/v1/chat/completions", body) as answer,
    ):
        request_id = answer.headers["x-request-id"]
        with closing(sqlite3.connect(tmp_path / "journal.db")) as journal:
            patience = time.monotonic() + 20
            while journal.execute("SELECT id FROM open").fetchone() != (request_id,):
                assert time.monotonic() < patience
                time.sleep(0.02)
        process.kill()
        process.wait(10)
    with served(tmp_path) as (process, url, _):
        with opened(url, key, f"/v1/requests/{request_id}") as answer:
            found = json.load(answer)
        assert (found["status"], found["cost_usd"]) == ("interrupted", "0")
        process.terminate()
        ended(process)
