"""Runs the Node SDK's tests where Node and the SDK are installed (`npm ci` in this folder)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.served import Served

HERE = Path(__file__).parent


@pytest.mark.skipif(
    shutil.which("node") is None or not (HERE / "node_modules" / "openai").exists(),
    reason="needs node, and `npm ci --ignore-scripts` in tests/clients",
)
def test_the_node_sdk(served: Served) -> None:
    done = subprocess.run(
        ["node", "--test", "openai.test.mjs"],
        cwd=HERE,
        env={
            "PATH": os.environ["PATH"],
            "OPENAI_BASE_URL": served.base_url,
            "OPENAI_API_KEY": served.key,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
