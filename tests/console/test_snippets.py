import json
import os
import shlex
import subprocess
import sys

import pytest

from tests.served import Served
from zurelay.console.snippets import UNKNOWN_KEY, curl, embedding_samples, samples

BASE = "http://127.0.0.1:8000"


def test_each_names_address_and_model_and_the_key_only_where_it_is_known() -> None:
    for _, text in samples(BASE, "sandbox/echo"):
        assert BASE in text
        assert "sandbox/echo" in text
        assert "ZURELAY_API_KEY" in text
    for _, text in samples(BASE, "sandbox/echo", "zk-abc"):
        assert "zk-abc" in text
        assert "ZURELAY_API_KEY" not in text
    assert [text.split("\n")[0] for _, text in samples(BASE, "m")][1:] == [
        "# pip install openai",
        "// npm install openai, then: node hello.mjs",
        "# pip install anthropic",
    ]
    assert [label for label, _ in samples(BASE, "m")] == ["curl", "Python", "Node", "Anthropic SDK"]


def test_the_call_on_a_shell_is_right() -> None:
    words = shlex.split(curl(BASE, "sandbox/echo"))
    assert words[:2] == ["curl", f"{BASE}/v1/chat/completions"]
    assert f"Authorization: Bearer {UNKNOWN_KEY}" in words
    assert json.loads(words[-1])["model"] == "sandbox/echo"


@pytest.mark.parametrize("label", ["Python", "Anthropic SDK"])
def test_the_programs_run_as_they_stand(served: Served, label: str) -> None:
    text = dict(samples(served.origin, "sandbox/echo", served.key))[label]
    ran = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=50
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "Hello"), ran.stderr


def test_a_model_for_embeddings_is_asked_for_them(served: Served) -> None:
    found = dict(embedding_samples(served.origin, "sandbox/embedding"))
    assert list(found) == ["curl", "Python", "Node"]
    assert all("embeddings" in text and "sandbox/embedding" in text for text in found.values())
    ran = subprocess.run(
        [sys.executable, "-c", found["Python"]],
        env={"PATH": os.environ["PATH"], "ZURELAY_API_KEY": served.key},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "256"), ran.stderr
    words = shlex.split(found["curl"])
    assert words[1] == f"{served.origin}/v1/embeddings"
    assert json.loads(words[-1]) == {"model": "sandbox/embedding", "input": "Hello"}
