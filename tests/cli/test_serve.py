import contextlib
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.terminals import terminal
from zurelay.access.keys import well_formed
from zurelay.cli.serve import origin
from zurelay.config import load

QUICK = "[server]\nport = 0\ndrain_delay_s = 0\nshutdown_grace_s = 0\n"


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A gateway without a terminal, and what it said when it began to listen."""
    (folder / "zurelay.toml").write_text(QUICK)
    process = subprocess.Popen(
        [sys.executable, "-m", "zurelay", "serve"],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if " -d " in line:
                break
        yield process, "".join(lines)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def test_without_a_terminal_the_first_key_goes_into_a_private_file(
    tmp_path: Path, run: Run
) -> None:
    with serving(tmp_path) as (_, said):
        file = tmp_path / "zurelay-data" / "first-key"
        key = file.read_text().strip()
        assert well_formed(key)
        assert key not in said
        assert str(file) in said
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert re.search(r"Base URL   http://127\.0\.0\.1:[1-9]\d*/v1", said)
        assert "sandbox  13 models" in said

        second = run("serve")
        assert (second.code, second.out, second.err.count("\n")) == (1, "", 1)
        assert "another server" in second.err


def test_on_a_terminal_the_first_key_is_shown_once(tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text(QUICK)
    with terminal("serve", folder=tmp_path, environ={}) as screen:
        seen = screen.until(" -d ")
    found = re.search(r"API key    (zk-\w+)", seen)
    assert found is not None
    assert well_formed(found[1])
    assert not (tmp_path / "zurelay-data" / "first-key").exists()
    with terminal("serve", folder=tmp_path, environ={}) as screen:
        assert "API key" not in screen.until(" -d ")


def test_an_address_that_is_taken_is_one_line_and_code_1(run: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            [sys.executable, "-m", "zurelay", "serve", "--port", str(taken.getsockname()[1])],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("zurelay: cannot listen on 127.0.0.1:")
    assert done.stderr.count("\n") == 1


def test_several_workers_without_what_they_share_are_one_line_and_code_1(run: Run) -> None:
    ran = run("serve", "--workers", "2")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "storage.url" in ran.err
    assert "storage.valkey_url" in ran.err


def test_faults_keep_the_gateway_from_starting(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text("[server]\nprot = 1")
    ran = run("serve")
    assert (ran.code, ran.out) == (1, "")
    assert "server.prot" in ran.err
    assert not (tmp_path / "zurelay-data").exists()


def test_the_origin_of_settings_is_told(tmp_path: Path) -> None:
    assert "sandbox alone" in origin(load(None, {}, tmp_path, tmp_path))
    assert "environment" in origin(load(None, {"OPENAI_API_KEY": "k"}, tmp_path, tmp_path))
    (tmp_path / "zurelay.toml").write_text("")
    assert origin(load(None, {}, tmp_path, tmp_path)) == str(tmp_path / "zurelay.toml")
