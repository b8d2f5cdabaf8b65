import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from anthropic import Anthropic
from openai import OpenAI

from tests.served import Served, serve
from zurelay.chat.effort import SCALE

UPSTREAMS = ("chat", "messages", "responses", "gemini")
"""Formats in which the gateway `everywhere` asks its upstream."""

_MODELS = ("echo", "tools", "json", "reasoning", "refusal", "rate-limit", "error", "usage", "cut")


@pytest.fixture
def client(served: Served) -> Iterator[OpenAI]:
    """The official SDK as a user makes it, without second tries."""
    with OpenAI(base_url=served.base_url, api_key=served.key, max_retries=0, timeout=20) as made:
        yield made


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the SDK slept before each new try; the sleeping itself is left out."""
    taken: list[float] = []
    monkeypatch.setattr(time, "sleep", taken.append)
    return taken


@pytest.fixture(params=UPSTREAMS)
def upstream(request: pytest.FixtureRequest) -> str:
    """The format of the upstream; `f"{upstream}-echo"` is `sandbox/echo` reached in it."""
    return str(request.param)


@pytest.fixture(scope="session")
def sandbox_origin() -> Iterator[str]:
    """Address of a sandbox server, as `zurelay sandbox` starts it."""
    command = [sys.executable, "-m", "zurelay", "sandbox", "--port", "0"]
    bare = {k: os.environ[k] for k in ("PATH", "HOME", "LANG") if k in os.environ}
    with subprocess.Popen(command, env=bare, stdout=subprocess.PIPE, text=True) as sandbox:
        try:
            assert sandbox.stdout is not None
            yield sandbox.stdout.readline().split()[-1].removesuffix("/v1")
        finally:
            sandbox.terminate()


@pytest.fixture(scope="session")
def everywhere(tmp_path_factory: pytest.TempPathFactory, sandbox_origin: str) -> Iterator[Served]:
    """A gateway that reaches one sandbox server in each of the upstream formats."""
    with serve(tmp_path_factory.mktemp("everywhere"), _config(sandbox_origin)) as gateway:
        yield gateway


@pytest.fixture
def openai_sdk(everywhere: Served) -> Iterator[OpenAI]:
    """OpenAI's SDK at that gateway."""
    with OpenAI(base_url=everywhere.base_url, api_key=everywhere.key, max_retries=0) as made:
        yield made


@pytest.fixture
def anthropic_sdk(everywhere: Served) -> Iterator[Anthropic]:
    """Anthropic's SDK at that gateway."""
    with Anthropic(base_url=everywhere.origin, api_key=everywhere.key, max_retries=0) as made:
        yield made


def _config(origin: str) -> str:
    base_url = f"{origin}/v1"
    # Its Chat Completions endpoint is said to lack everything, so that Responses is spoken.
    lacks = json.dumps(["tools", "thinking", *SCALE])
    tables = [
        "[server]\nshutdown_grace_s = 1\ndrain_delay_s = 0\n",
        _provider("chat", "vllm", base_url) + 'quirks = { effort_form = "reasoning_effort" }\n',
        _provider("responses", "openai", base_url)
        + f'quirks = {{ chat_lacks = {lacks}, realm = "openai" }}\n',
        _provider("messages", "anthropic", origin),
        _provider("gemini", "gemini", f"{origin}/v1beta"),
    ]
    levels = json.dumps(["none", "low", "medium", "high"])
    tables += [
        f"[models.{upstream}-{model}]\n"
        f'routes = [{{ provider = "{upstream}", model = "{_upstream_model(upstream, model)}" }}]\n'
        f'reasoning = {{ levels = {levels}, default = "medium" }}\n'
        for upstream in UPSTREAMS
        for model in _MODELS
    ]
    return "\n".join(tables)


def _upstream_model(upstream: str, model: str) -> str:
    """A wait too long for the gateway to wait itself, where a model's name may have parameters."""
    waits = model == "rate-limit" and upstream != "gemini"
    return f"{model}?retry_after=30" if waits else model


def _provider(name: str, kind: str, base_url: str) -> str:
    return (
        f'[providers.{name}]\nkind = "{kind}"\nbase_url = "{base_url}"\n'
        'api_key = "any"\ncatalogue = false\n'
    )
