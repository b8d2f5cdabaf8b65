"""Who counts prompts, and how they are asked."""

import json

import pytest

from tests.formats.gemini.gemini import STUDIO
from zurelay.chat.profile import Profile
from zurelay.formats.base import Target
from zurelay.formats.counters import counter
from zurelay.formats.registry import front

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize("back", ["openai_chat", "openai_responses", "converse", "vertex_messages"])
def test_most_formats_count_nothing(back: str) -> None:
    assert counter(back) is None


@pytest.mark.parametrize(
    ("back", "path", "answer"),
    [
        ("anthropic", "/v1/messages/count_tokens", b'{"input_tokens": 7}'),
        ("gemini", "/models/up:countTokens", b'{"totalTokens": 7}'),
    ],
)
def test_a_count_is_asked_for_and_read(back: str, path: str, answer: bytes) -> None:
    found = counter(back)
    assert found is not None
    inbound = front("anthropic_count").read(json.dumps(BODY).encode())
    profile = STUDIO if back == "gemini" else Profile()
    out = found.write(inbound, Target("public", "up", profile))
    assert out.path == path
    assert b"Hi" in out.body
    assert found.read(answer) == 7
    assert found.read(b"{}") is None
