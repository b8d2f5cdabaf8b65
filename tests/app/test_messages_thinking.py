"""Thinking of Claude and of others, over two turns and between formats."""

import json
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller, Start
from tests.app.test_messages import ask, raw_stream
from tests.formats.anthropic import made
from zurelay.testing.chat import chat_reply
from zurelay.testing.script import Script, json_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

BUDGET, NEW = "claude-haiku-4-5", "claude-opus-5-5"
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
QUESTION = {"role": "user", "content": "q"}


def config(claude: ScriptedUpstream, deepseek: ScriptedUpstream) -> str:
    return f"""
[sandbox]
enabled = false
[providers.claude]
kind = "anthropic"
base_url = "{claude.base_url}"
api_key = "SECRET-5678"
[providers.deepseek]
kind = "deepseek"
base_url = "{deepseek.base_url}"
api_key = "SECRET-1234"
"""


@pytest.fixture
async def caller(start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream) -> Caller:
    return await start(config(upstream, second))


FIRST = (
    made.start()
    + made.thinking(0, "let me see", signature="SIG1")
    + made.call(1, "toolu_1", "f")
    + made.stop("tool_use")
)
LAST = made.start() + made.text(0, "done") + made.stop()


def strict(request: Request) -> Script:
    """As Anthropic answers: with a budget, the turn that is being answered begins with thinking."""
    body = request.json
    turns = [m for m in body["messages"] if m["role"] == "assistant"]
    thinks = body.get("thinking", {}).get("type") == "enabled"
    if not turns:
        return raw_stream(FIRST)
    if thinks and turns[-1]["content"][0].get("signature") != "SIG1":
        told = "Expected `thinking` or `redacted_thinking`, but found `tool_use`."
        error = {"type": "invalid_request_error", "message": told}
        return json_reply({"type": "error", "error": error}, status=400)
    return raw_stream(LAST)


async def chat(caller: Caller, model: str, *messages: Any) -> Answer:
    return await caller.chat(
        model=model,
        messages=list(messages),
        tools=TOOLS,
        reasoning_effort="high",
        stream=False,
    )


@pytest.mark.parametrize("model", [BUDGET, NEW])
@pytest.mark.parametrize("kept", [True, False])
async def test_tools_and_thinking_by_chat_over_two_turns(
    start: Start, second: ScriptedUpstream, model: str, kept: bool
) -> None:
    async with ScriptedUpstream(answer=strict) as claude:
        caller = await start(config(claude, second))
        first = await chat(caller, model, QUESTION)
        message = first.json["choices"][0]["message"]
        assert message["reasoning_content"] == "let me see"
        if not kept:
            message = {name: message[name] for name in ("role", "content", "tool_calls")}
        result = {"role": "tool", "tool_call_id": "toolu_1", "content": "r"}
        then = await chat(caller, model, QUESTION, message, result)
        assert then.status == 200
        assert then.json["choices"][0]["message"]["content"] == "done"
        sent = json.dumps(claude.requests[1].json)
        assert ("SIG1" in sent) == kept
        off = model == BUDGET and not kept
        assert then.headers["x-zurelay-reasoning-effort"] == ("none" if off else "high")
        assert ("reasoning_effort" in then.headers.get("x-zurelay-dropped-params", "")) == off


async def test_thinking_of_another_vendor_goes_back_to_it_and_not_to_claude(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    reply = chat_reply(None, tool_calls=[call], finish_reason="tool_calls")
    reply["choices"][0]["message"]["reasoning_content"] = "R1"
    second.enqueue(json_reply(reply), json_reply(chat_reply("done")))
    upstream.enqueue(raw_stream(LAST))
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    asked: dict[str, Any] = {"tools": tools, "output_config": {"effort": "low"}}
    first = await ask(caller, model="deepseek-v4-pro", messages=[QUESTION], **asked)
    content = first.json["content"]
    assert [block["type"] for block in content] == ["thinking", "tool_use"]
    assert content[0]["signature"]
    history = [
        QUESTION,
        {"role": "assistant", "content": content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]},
    ]
    again = await ask(caller, model="deepseek-v4-pro", messages=history, **asked)
    assert again.status == 200
    assert second.requests[1].json["messages"][1]["reasoning_content"] == "R1"
    elsewhere = await ask(caller, model=NEW, messages=history, stream=True, **asked)
    assert elsewhere.status == 200
    assert "R1" not in json.dumps(upstream.requests[0].json)
