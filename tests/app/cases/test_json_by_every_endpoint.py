"""JSON asked for by every endpoint, before upstreams that refuse what the real ones refuse."""

import json
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller
from tests.app.strict import BUDGETS, CLAUDE, NEWEST, messages, respond
from tests.formats.anthropic.test_writer import message
from zurelay.testing.upstream import ScriptedUpstream

SCHEMA = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    "required": ["names"],
    "additionalProperties": False,
}
PEOPLE = {"name": "people", "strict": True, "schema": SCHEMA}
BY_SCHEMA = {"type": "json_schema", "json_schema": PEOPLE}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
ASKED = [{"role": "user", "content": "Who?"}]
CALLED: list[dict[str, Any]] = [
    *ASKED,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "c", "content": "Ana"},
]


def content(answer: Answer) -> Any:
    """What the model said, parsed: it must be JSON and nothing else."""
    assert answer.status == 200, answer.body
    if answer.headers["content-type"].startswith("text/event-stream"):
        return json.loads(answer.text)
    return json.loads(answer.json["choices"][0]["message"]["content"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"tools": [TOOL], "messages": CALLED},
        {"reasoning_effort": "high", "max_tokens": 16_000},
        {"tools": [TOOL], "messages": CALLED, "reasoning_effort": "high", "max_tokens": 16_000},
    ],
    ids=["alone", "tools", "thinking", "both"],
)
@pytest.mark.parametrize("model", [BUDGETS, CLAUDE, NEWEST])
async def test_a_schema_reaches_claude_and_json_comes_back(
    caller: Caller, upstream: ScriptedUpstream, model: str, more: dict[str, Any], stream: bool
) -> None:
    asked = {"messages": ASKED, **more}
    answer = await caller.chat(model=model, response_format=BY_SCHEMA, stream=stream, **asked)
    assert content(answer) == {"names": ["Ana"]}
    sent = upstream.requests[0].json["output_config"]["format"]
    assert sent == {"type": "json_schema", "schema": SCHEMA}
    assert "response_format" not in answer.headers.get("x-zurelay-dropped-params", "")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", [CLAUDE, NEWEST])
async def test_any_json_is_asked_for_in_words_and_comes_bare(
    caller: Caller, model: str, stream: bool
) -> None:
    asked = {"type": "json_object"}
    answer = await caller.chat(model=model, response_format=asked, stream=stream, messages=ASKED)
    assert content(answer) == {"names": ["Ana"]}


TREE = {"type": "object", "properties": {"next": {"$ref": "#"}}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("model", "by_call"), [(BUDGETS, True), (CLAUDE, True), (NEWEST, False)])
async def test_a_schema_that_claude_refuses_comes_by_a_call_or_in_words(
    caller: Caller, upstream: ScriptedUpstream, model: str, by_call: bool, stream: bool
) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "tree", "schema": TREE}}
    asked: dict[str, Any] = {"response_format": wanted, "messages": ASKED, "stream": stream}
    answer = await caller.chat(model=model, **asked)
    assert content(answer) == {"names": ["Ana"]}
    assert "tool_calls" not in answer.body.decode()
    dropped = answer.headers.get("x-zurelay-dropped-params")
    assert dropped == (None if by_call else "response_format")
    sent = upstream.requests[0].json
    told = sent["tools"] if by_call else sent["messages"]
    assert "$ref" in json.dumps(told)


async def test_responses_callers_get_json_from_claude(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    answer = await respond(caller, CLAUDE, text={"format": {"type": "json_schema", **PEOPLE}})
    assert answer.status == 200, answer.body
    (item,) = [item for item in answer.json["output"] if item["type"] == "message"]
    assert json.loads(item["content"][0]["text"]) == {"names": ["Ana"]}
    assert upstream.requests[0].json["output_config"]["format"]["schema"] == SCHEMA


@pytest.mark.parametrize("stream", [False, True])
async def test_messages_callers_get_json_from_other_models(
    caller: Caller, second: ScriptedUpstream, stream: bool
) -> None:
    wanted = {"format": {"type": "json_schema", "schema": SCHEMA}}
    answer = await messages(caller, messages=ASKED, output_config=wanted, stream=stream)
    assert answer.status == 200, answer.body
    found = message(answer.body) if stream else answer.json
    assert json.loads(found["content"][0]["text"]) == {"names": ["Ana"]}
    sent = second.requests[0].json["response_format"]
    assert (sent["type"], sent["json_schema"]["schema"]) == ("json_schema", SCHEMA)


async def test_messages_callers_get_json_from_a_model_behind_responses(
    caller: Caller, second: ScriptedUpstream
) -> None:
    wanted = {"format": {"type": "json_schema", "schema": SCHEMA}}
    answer = await messages(caller, "gpt-5.5-pro", messages=ASKED, output_config=wanted)
    assert answer.status == 200, answer.body
    assert json.loads(answer.json["content"][-1]["text"]) == {"names": ["Ana"]}
    assert second.requests[0].json["text"]["format"]["schema"] == SCHEMA


LIMITED = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 1, "maximum": 10},
        "tags": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/t"}},
        "minimum": {"type": "string", "pattern": "^a"},
    },
    "required": ["score"],
    "$defs": {"t": {"type": "string", "maxLength": 5}},
}


@pytest.mark.parametrize("model", [BUDGETS, CLAUDE, NEWEST])
async def test_limits_that_claude_refuses_are_told_in_words(
    caller: Caller, upstream: ScriptedUpstream, model: str
) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "r", "schema": LIMITED}}
    answer = await caller.chat(model=model, response_format=wanted, messages=ASKED)
    assert content(answer) == {"names": ["Ana"]}
    (request,) = upstream.requests
    schema = request.json["output_config"]["format"]["schema"]
    assert schema["properties"].keys() == LIMITED["properties"].keys()  # type: ignore[attr-defined]
    assert schema["required"] == ["score"]
    assert "maximum: 10" in schema["properties"]["score"]["description"]
    assert schema["$defs"]["t"]["description"] == "maxLength: 5"


async def test_openai_gets_the_schema_as_it_is(caller: Caller, second: ScriptedUpstream) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "r", "schema": LIMITED}}
    for model in ("test-model", "gpt-5.5-pro"):
        answer = await caller.chat(model=model, response_format=wanted, messages=ASKED)
        assert content(answer) == {"names": ["Ana"]}
    chat, responses = (request.json for request in second.requests)
    assert chat["response_format"] == wanted
    assert responses["text"]["format"]["schema"] == LIMITED
