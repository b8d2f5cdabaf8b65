import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from scripts import real
from scripts.real_transcript import Transcript


def test_the_last_step_of_a_compilation_is_its_progress() -> None:
    log = "  Building wheel\n  [1/120] Building C\n  [87/120] Building CXX object\n  warning: [x]\n"
    assert real.compile_progress(log) == "compiled 87 of 120 files"
    assert real.compile_progress("Collecting numpy\n") == ""


def test_a_server_answers_only_with_a_200() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/good" else 503)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        base = f"http://127.0.0.1:{server.server_port}"
        assert real.answers(base + "/good")
        assert not real.answers(base + "/bad")
        server.shutdown()
        thread.join()
    assert not real.answers(base + "/good")


def test_servers_get_no_provider_keys_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    assert set(real.bare_environment()) <= {"PATH", "HOME", "LANG", "TMPDIR"}


def test_a_transcript_counts_what_did_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    told = Transcript()
    told.must(True, "this")
    told.must(False, "that")
    assert told.misses == 1
    assert "MISS that" in capsys.readouterr().out


def test_a_long_command_that_fails_ends_with_the_last_of_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real, "LOG", tmp_path / "install.log")
    real.run("fine", [sys.executable, "-c", "print('well')"])
    with pytest.raises(SystemExit, match=r"(?s)build failed.*no compiler"):
        real.run("build", [sys.executable, "-c", "raise SystemExit('no compiler')"])


def test_a_server_is_waited_for_and_ended(tmp_path: Path) -> None:
    port = real.free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    url = f"http://127.0.0.1:{port}/"
    with real.serving("server", command, url, tmp_path / "server.log", {}):
        assert real.answers(url)
    assert not real.answers(url)
    ended = [sys.executable, "-c", ""]
    with (
        pytest.raises(SystemExit, match="the server did not start"),
        real.serving("server", ended, url, tmp_path / "log", {}),
    ):
        pass


def test_an_environment_whose_interpreter_is_gone_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    monkeypatch.setattr(real, "PYTHON", python)
    assert not real.works()
    python.symlink_to(tmp_path / "gone")
    assert not real.works()
    python.unlink()
    python.symlink_to(sys.executable)
    assert real.works()
