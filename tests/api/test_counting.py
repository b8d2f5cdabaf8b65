"""Counting tokens: by the provider where it counts, else by an estimate marked as one."""

from typing import Any

import pytest

from tests.app.conftest import Caller, Start
from tests.app.test_messages import CLAUDE, ask, config
from zurelay.testing.chat import chat_reply
from zurelay.testing.script import Close, Script, json_reply
from zurelay.testing.upstream import ScriptedUpstream


@pytest.fixture
async def counter(start: Start, upstream: ScriptedUpstream) -> Caller:
    return await start(config(upstream, upstream))


COUNTED: dict[str, Any] = {
    "max_tokens": None,
    "system": [{"type": "text", "text": "x" * 40}],
    "messages": [{"role": "user", "content": "word " * 2000}],
    "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {}}}],
}


async def test_tokens_are_estimated_where_nobody_counts(
    counter: Caller, upstream: ScriptedUpstream
) -> None:
    answer = await ask(counter, "/count_tokens?beta=true", **COUNTED)
    assert answer.status == 200
    assert 1000 < answer.json["input_tokens"] < 6000
    assert answer.headers["x-zurelay-estimated"] == "true"
    assert not upstream.requests


async def test_claude_counts_itself(counter: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(json_reply({"input_tokens": 4321}))
    answer = await ask(
        counter, "/count_tokens", model=CLAUDE, stream=True, temperature=1, **COUNTED
    )
    assert answer.json == {"input_tokens": 4321}
    assert "x-zurelay-estimated" not in answer.headers
    request = upstream.requests[0]
    assert request.path == "/v1/messages/count_tokens"
    assert set(request.json) == {"model", "system", "messages", "tools"}


@pytest.mark.parametrize(
    "script",
    [json_reply({"error": "no"}, status=404), json_reply({"x": 1}), [Close()]],
)
async def test_a_count_that_fails_is_estimated(
    counter: Caller, upstream: ScriptedUpstream, script: Script
) -> None:
    upstream.enqueue(script, script)
    answer = await ask(counter, "/count_tokens", model=CLAUDE, **COUNTED)
    assert answer.headers["x-zurelay-estimated"] == "true"
    assert answer.json["input_tokens"] > 1000


async def test_a_model_that_is_not_there(counter: Caller) -> None:
    answer = await ask(counter, "/count_tokens", **{**COUNTED, "model": "none"})
    assert (answer.status, answer.json["error"]["type"]) == (404, "not_found_error")


async def test_a_body_with_very_many_parts_is_read_elsewhere(
    counter: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("Hello")))
    many = [{"type": "text", "text": "x"}] * 45_000
    conversation = [{"role": "user", "content": many}]
    counted = await ask(counter, "/count_tokens", messages=conversation)
    assert counted.json["input_tokens"] > 10_000
    assert (await ask(counter, messages=conversation)).status == 200
