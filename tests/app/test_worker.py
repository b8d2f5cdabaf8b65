"""A worker as its supervisor finds it; on SQLite, which is enough for one."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zurelay.app.channel import Ask, Begin, Gather, Gathered, Listening, Told, first, packed
from zurelay.app.listening import reserve
from zurelay.app.local_token import FILE
from zurelay.telemetry.metrics import CONTENT_TYPE

TOKEN = "zka-4rGZzTqIuBFzTdqvpNEDFHCmkCKf2ejyjAuKqiR8FMI2dKgC1"
QUICK = "[server]\ndrain_delay_s = 0\nshutdown_grace_s = 0\n"


@contextmanager
def worker(
    folder: Path, config: str = QUICK
) -> Iterator[tuple["subprocess.Popen[str]", socket.socket, int]]:
    """A process, our end of its channel, and its port."""
    (folder / "zurelay.toml").write_text(config)
    ours, theirs = socket.socketpair()
    ours.settimeout(30)
    with ours, theirs, reserve("127.0.0.1", 0) as address:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "zurelay.app.worker", str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={},
        )
        theirs.close()
        port = address.getsockname()[1]
        data, file = folder / "data" / "worker-3", folder / "zurelay.toml"
        begin = Begin(3, 4, TOKEN, str(data), str(file), "127.0.0.1", port, 0)
        ours.sendall(packed(begin))
        try:
            yield process, ours, port
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


def get(port: int, path: str) -> tuple[str, str]:
    """Body and content type."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own
        return answer.read().decode(), answer.headers["content-type"]


def test_a_worker_says_that_it_listens_and_tells_its_metrics_when_asked(tmp_path: Path) -> None:
    with worker(tmp_path) as (process, channel, port):
        listening = first(channel)
        assert isinstance(listening, Listening)
        assert listening.base_url == f"http://127.0.0.1:{port}"
        assert listening.providers == {"sandbox": listening.models}
        assert not (tmp_path / "data" / "worker-3" / FILE).exists()

        channel.sendall(packed(Ask(5)))
        told = first(channel)
        assert isinstance(told, Told)
        assert (told.id, b"\nzurelay_inflight_requests 0.0" in told.text) == (5, True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_a_scrape_gives_the_metrics_of_all_workers(tmp_path: Path) -> None:
    with worker(tmp_path) as (_, channel, port):
        first(channel)
        with socket.create_connection(("127.0.0.1", port), 10) as asking:
            asking.sendall(b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            gather = first(channel)
            assert isinstance(gather, Gather)
            others = {1: b"# HELP other Other.\n# TYPE other gauge\nother 7\n"}
            channel.sendall(packed(Gathered(gather.id, others)))
            answer = b""
            while piece := asking.recv(65536):
                answer += piece
        assert CONTENT_TYPE.split(";")[0].encode() in answer
        assert b'\nother{worker="1"} 7\n' in answer
        assert b'\nzurelay_inflight_requests{worker="3"} 0.0\n' in answer


def test_a_worker_ends_with_its_supervisor_and_lets_streams_finish(tmp_path: Path) -> None:
    config = "[server]\ndrain_delay_s = 30\nshutdown_grace_s = 30\n"
    with worker(tmp_path, config) as (process, channel, port):
        first(channel)
        assert json.loads(get(port, "/readyz")[0]) == {"status": "ok"}
        channel.close()
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert "the supervisor is gone" in process.stderr.read()


def test_a_worker_that_cannot_start_says_why_in_one_line(tmp_path: Path) -> None:
    with worker(tmp_path, "[server]\nprot = 1\n") as (process, _, _):
        _, said = process.communicate(timeout=20)
        assert process.returncode == 1
        line = json.loads(said)
        assert (line["event"], line["worker"]) == ("worker cannot go on", 3)
        assert "server.prot" in line["why"]
