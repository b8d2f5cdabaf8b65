import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import load
from bench.measure import descendants
from bench.subjects import SUBJECTS, Direct, NotStartedError, Subject

SERVER = """
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
"""


class Scripted(Subject):
    name = "scripted"
    setting = ""

    def __init__(self, code: str) -> None:
        self._code = code

    def version(self) -> str:
        return "1"

    def command(self, folder: Path, port: int, upstream: int) -> Sequence[str]:
        return [sys.executable, "-c", self._code, str(port)]


async def test_a_subject_is_started_asked_and_ended(tmp_path: Path) -> None:
    async with Scripted(SERVER).running(tmp_path / "s", 1, None) as running:
        (pid,) = running.pids()
        result = await load.plain(running.target, 1, 0.05)
    assert result.errors == 0
    assert result.latencies
    assert not Path(f"/proc/{pid}").exists()


async def test_a_subject_that_ends_is_reported_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(NotStartedError, match="no such setting"):
        async with Scripted("raise SystemExit('no such setting')").running(tmp_path / "s", 1, None):
            pass


async def test_direct_access_has_no_processes(tmp_path: Path) -> None:
    async with Direct().running(tmp_path / "d", 4711, None) as running:
        assert running.target.port == 4711
        assert running.pids() == []


def test_every_subject_says_what_it_was_told() -> None:
    assert all(subject.setting for subject in SUBJECTS)
    assert len({subject.name for subject in SUBJECTS}) == len(SUBJECTS)


def test_the_family_of_a_process_that_is_gone_is_itself() -> None:
    assert descendants(2**22 + 1) == [2**22 + 1]
