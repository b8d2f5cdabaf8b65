"""Runs the Node SDKs' tests against upstreams of every format.

Only where Node and the SDKs are installed (`npm ci --ignore-scripts` in this folder).
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.served import Served

HERE = Path(__file__).parent
SDKS = ("openai", "@anthropic-ai/sdk")


@pytest.mark.skipif(
    shutil.which("node") is None
    or not all((HERE / "node_modules" / name).exists() for name in SDKS),
    reason="needs node, and `npm ci --ignore-scripts` in tests/clients",
)
def test_the_node_sdks(everywhere: Served) -> None:
    done = subprocess.run(
        ["node", "--test", "everywhere.test.mjs"],
        cwd=HERE,
        env={
            "PATH": os.environ["PATH"],
            "OPENAI_BASE_URL": everywhere.base_url,
            "OPENAI_API_KEY": everywhere.key,
            "ANTHROPIC_BASE_URL": everywhere.origin,
            "ANTHROPIC_API_KEY": everywhere.key,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
