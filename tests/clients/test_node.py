"""Runs the Node SDKs' tests where Node and the SDKs are installed (`npm ci` in this folder)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.served import Served

HERE = Path(__file__).parent
OPENAI, ANTHROPIC = "openai", "@anthropic-ai/sdk"


def run_by(script: str, *sdks: str, gateway: str) -> object:
    """A script, skipped without its SDKs before `gateway`, the name of a fixture, is started."""
    there = shutil.which("node") and all((HERE / "node_modules" / name).exists() for name in sdks)
    needs = "needs node, and `npm ci --ignore-scripts` in tests/clients"
    skipped = pytest.mark.skipif(not there, reason=needs)
    return pytest.param(script, gateway, marks=skipped, id=script.partition(".")[0])


@pytest.mark.parametrize(
    ("script", "gateway"),
    [
        run_by("openai.test.mjs", OPENAI, gateway="served"),
        run_by("anthropic.test.mjs", ANTHROPIC, gateway="served"),
        run_by("everywhere.test.mjs", OPENAI, ANTHROPIC, gateway="everywhere"),
    ],
)
def test_the_node_sdks(script: str, gateway: str, request: pytest.FixtureRequest) -> None:
    at: Served = request.getfixturevalue(gateway)
    done = subprocess.run(
        ["node", "--test", script],
        cwd=HERE,
        env={
            "PATH": os.environ["PATH"],
            "OPENAI_BASE_URL": at.base_url,
            "OPENAI_API_KEY": at.key,
            "ANTHROPIC_BASE_URL": at.origin,
            "ANTHROPIC_API_KEY": at.key,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
