"""JSON by a schema from providers of every kind: native, by a forced call, or asked for in words."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.app.cases.test_json_by_every_endpoint import (
    BY_SCHEMA,
    CALLED,
    SCHEMA,
    TOOL,
    content,
)
from tests.app.conftest import Answer, Caller, Start
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.event_stream import event_stream_event
from zurelay.testing.script import Script, json_reply, reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

NAMES = {"names": ["Ana"]}
TEXT = json.dumps(NAMES)
CONFIG = """
[sandbox]
enabled = false
[providers.studio]
kind = "gemini"
base_url = "{upstream}/v1beta"
api_key = "k"
[providers.bedrock]
kind = "bedrock"
base_url = "{upstream}"
api_key = "k"
region = "eu-central-1"
[providers.deepseek]
kind = "deepseek"
base_url = "{upstream}"
api_key = "k"
"""
USED = {"inputTokens": 9, "outputTokens": 3, "totalTokens": 12}


def gemini(body: Any, streams: bool) -> Script:
    """Gemini: refuses what its dialect lacks; thinks, then gives JSON in two pieces."""
    config = body.get("generationConfig", {})
    native = config.get("responseMimeType") == "application/json"
    pieces = [TEXT[:5], TEXT[5:]] if native else ["```json\n", TEXT, "\n```"]
    parts = [{"text": "Hm.", "thought": True}, *({"text": piece} for piece in pieces)]
    ended: list[dict[str, Any]] = [{"content": {"role": "model", "parts": parts[:2]}}]
    ended.append({"content": {"role": "model", "parts": parts[2:]}, "finishReason": "STOP"})
    if streams:
        return sse_reply([{"candidates": [{"index": 0, **piece}]} for piece in ended])
    whole = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return json_reply({"candidates": [whole]})


def converse(body: Any, streams: bool) -> Script:
    """Converse: a forced call is made, anything else is answered in words with a fence."""
    forced = body.get("toolConfig", {}).get("toolChoice", {}).get("tool")
    events: list[tuple[str, Any]] = [("messageStart", {"role": "assistant"})]
    if forced:
        use = {"toolUseId": "t", "name": forced["name"]}
        blocks: Sequence[Any] = [{"toolUse": {**use, "input": NAMES}}]
        events += [("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}})]
        deltas: list[Any] = [{"toolUse": {"input": piece}} for piece in (TEXT[:5], TEXT[5:])]
    else:
        blocks = [{"text": f"```json\n{TEXT}\n```"}]
        deltas = [{"text": "```json\n"}, {"text": TEXT + "\n```"}]
    events += [("contentBlockDelta", {"contentBlockIndex": 0, "delta": each}) for each in deltas]
    reason = "tool_use" if forced else "end_turn"
    events += [
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": reason}),
        ("metadata", {"usage": USED, "metrics": {"latencyMs": 1}}),
    ]
    if streams:
        kind = {"content-type": "application/vnd.amazon.eventstream"}
        return reply(b"".join(event_stream_event(*event) for event in events), headers=kind)
    message = {"role": "assistant", "content": blocks}
    return json_reply({"output": {"message": message}, "stopReason": reason, "usage": USED})


def deepseek(body: Any) -> Script:
    """DeepSeek: no schemas on Chat Completions."""
    kind = body.get("response_format", {}).get("type")
    if kind == "json_schema":
        told = {"message": "This response_format type is unavailable now", "type": "x"}
        return json_reply({"error": told}, 400)
    text = TEXT if kind == "json_object" else "Ana"
    return sse_reply(chat_chunks(text)) if body.get("stream") else json_reply(chat_reply(text))


def vendors(request: Request) -> Script:
    path = request.path
    if "/models/" in path:
        return gemini(request.json, "streamGenerateContent" in path)
    if path.startswith("/model/"):
        return converse(request.json, path.endswith("stream"))
    return deepseek(request.json)


@pytest.fixture
async def caller(start: Start, upstream: ScriptedUpstream) -> Caller:
    upstream._answer = vendors
    return await start(CONFIG.format(upstream=upstream.base_url))


NOVA = "amazon.nova-2-lite-v1:0"
TOOLS: dict[str, Any] = {"tools": [TOOL], "messages": CALLED}
THINKS: dict[str, Any] = {"reasoning_effort": "high"}


async def ask(caller: Caller, model: str, **fields: Any) -> Answer:
    return await caller.chat(model=model, response_format=BY_SCHEMA, **fields)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "fields", [{}, TOOLS, THINKS, TOOLS | THINKS], ids=["alone", "tools", "thinking", "both"]
)
@pytest.mark.parametrize("model", ["gemini-3.5-flash", "gemini-2.5-flash", NOVA, "deepseek-flash"])
async def test_content_is_the_json_itself(
    caller: Caller, model: str, fields: dict[str, Any], stream: bool
) -> None:
    answer = await ask(caller, model, stream=stream, **fields)
    assert content(answer) == NAMES
    assert b'"tool_calls":' not in answer.body


async def test_the_schema_reaches_each_in_its_own_words(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    for model in ("gemini-3.5-flash", NOVA, "deepseek-flash"):
        assert content(await ask(caller, model)) == NAMES
    google, amazon, words = (request.json for request in upstream.requests)
    assert google["generationConfig"]["responseJsonSchema"] == SCHEMA
    (tool,) = amazon["toolConfig"]["tools"]
    assert tool["toolSpec"]["inputSchema"]["json"] == SCHEMA
    assert words["response_format"] == {"type": "json_object"}
    assert "JSON schema" in json.dumps(words["messages"])
