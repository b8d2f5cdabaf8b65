import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.cli.conftest import Run


def test_the_sandbox_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "zurelay", "sandbox", "--port", "0"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = "".join(iter(process.stdout.readline, "\n"))
        found = re.search(r"http://127\.0\.0\.1:\d+/v1", told)
        assert found is not None
        with urllib.request.urlopen(f"{found[0]}/models", timeout=10) as answer:  # noqa: S310
            assert len(json.load(answer)["data"]) == 13
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=15)
    assert (process.returncode, err) == (0, "")
    assert list(tmp_path.iterdir()) == [], "the sandbox keeps nothing"


def test_a_port_that_is_taken_is_one_line_and_code_1(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = run("sandbox", "--port", str(port))
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert f"127.0.0.1:{port}" in ran.err
