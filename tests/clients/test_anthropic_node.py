"""Runs Anthropic's Node SDK where Node and the SDK are installed (`npm ci` in this folder)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.served import Served

HERE = Path(__file__).parent


@pytest.mark.skipif(
    shutil.which("node") is None or not (HERE / "node_modules" / "@anthropic-ai" / "sdk").exists(),
    reason="needs node, and `npm ci --ignore-scripts` in tests/clients",
)
def test_the_node_sdk(served: Served) -> None:
    done = subprocess.run(
        ["node", "--test", "anthropic.test.mjs"],
        cwd=HERE,
        env={
            "PATH": os.environ["PATH"],
            "ANTHROPIC_BASE_URL": served.origin,
            "ANTHROPIC_API_KEY": served.key,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
