"""JSON as the arguments of a call that was forced for it, and back as text."""

import json
from typing import Any

import pytest

from tests.formats.anthropic import made
from tests.formats.anthropic.made import chat, context, target
from tests.formats.converse import bedrock
from zurelay.chat.profile import Profile
from zurelay.formats.base import Exchange, Target
from zurelay.formats.json_call import NAME
from zurelay.formats.registry import exchange
from zurelay.providers.bedrock import BEDROCK

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}}
TREE = {"type": "object", "properties": {"next": {"$ref": "#"}}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
NOVA = Target("m", "amazon.nova-2-lite-v1:0", BEDROCK.profile.but(json_schema="none"))
CONVERSE: Exchange = exchange("openai_chat", "converse")
ANTHROPIC: Exchange = exchange("openai_chat", "anthropic")


def wanted(schema: Any = SCHEMA) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}


def test_a_model_without_schemas_is_forced_to_call() -> None:
    out = CONVERSE.write(chat(response_format=wanted()), NOVA)
    body = json.loads(out.body)
    (tool,) = body["toolConfig"]["tools"]
    assert tool["toolSpec"]["name"] == NAME
    assert tool["toolSpec"]["inputSchema"]["json"] == SCHEMA
    assert body["toolConfig"]["toolChoice"] == {"tool": {"name": NAME}}
    assert bedrock.faults(body) == ""
    assert (out.json_call, out.json_text, out.dropped) == (True, True, ())


@pytest.mark.parametrize(
    ("to", "fields"),
    [
        (NOVA, {"tools": [TOOL]}),
        (Target("m", NOVA.upstream_model, NOVA.profile, effort="low"), {}),
        (Target("m", "m", NOVA.profile.but(forced_tools="never")), {}),
    ],
    ids=["own tools", "thinking", "refused"],
)
def test_where_no_call_can_be_forced_words_ask_for_it(to: Target, fields: dict[str, Any]) -> None:
    out = CONVERSE.write(chat(response_format=wanted(), **fields), to)
    assert NAME not in out.body.decode()
    assert (out.json_call, out.json_text, out.dropped) == (False, True, ("response_format",))


@pytest.mark.parametrize("given", [wanted(), {"type": "json_object"}, {"type": "text"}])
def test_nothing_is_forced_where_the_format_is_native_or_has_no_schema(given: Any) -> None:
    to = target("claude-opus-4-6", effort="none")
    assert not ANTHROPIC.write(chat(response_format=given), to).json_call


def test_claude_gives_a_tree_by_a_call_unless_it_thinks() -> None:
    to = target("claude-opus-4-6", effort="none")
    out = ANTHROPIC.write(chat(response_format=wanted(TREE)), to)
    body = json.loads(out.body)
    assert (body["tools"][0]["input_schema"], out.json_call) == (TREE, True)
    assert body["tool_choice"] == {"type": "tool", "name": NAME}
    thinking = ANTHROPIC.write(chat(response_format=wanted(TREE)), target(effort="high"))
    assert not thinking.json_call


ASKED = context(json_call=True, json_text=True)
SPOKEN = made.start() + made.text(0, "Sure: ")
STREAM = SPOKEN + made.call(1, "toolu_1", NAME, '{"a"', ": 1}") + made.stop("tool_use")


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_streamed_call_comes_as_text(size: int) -> None:
    stream = ANTHROPIC.stream(ASKED)
    out = b"".join(stream.feed(STREAM[at : at + size]).out for at in range(0, len(STREAM), size))
    assert stream.end().fault is None
    chunks = [json.loads(block[6:]) for block in out.decode().split("\n\n") if block]
    deltas = [choice for chunk in chunks for choice in chunk["choices"]]
    assert "".join(d["delta"].get("content") or "" for d in deltas) == '{"a": 1}'
    assert not any("tool_calls" in d["delta"] for d in deltas)
    assert [d["finish_reason"] for d in deltas if d["finish_reason"]] == ["stop"]


def test_a_streamed_answer_in_words_comes_as_it_is() -> None:
    stream = ANTHROPIC.stream(ASKED)
    out = stream.feed(SPOKEN + made.stop()).out.decode()
    assert "Sure: " in out


def test_an_assembled_call_is_a_plain_answer() -> None:
    assembler = ANTHROPIC.assembler(ASKED)
    assembler.feed(STREAM)
    assembler.end()
    (choice,) = json.loads(assembler.whole().body)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ('{"a": 1}', "stop")


def test_a_plain_call_comes_as_text() -> None:
    called = {"toolUse": {"toolUseId": "t", "name": NAME, "input": {"a": 1}}}
    message = {"role": "assistant", "content": [{"text": "Sure:"}, called]}
    body = {"output": {"message": message}, "stopReason": "tool_use"}
    asked = bedrock.context(json_call=True, json_text=True, profile=Profile())
    whole = CONVERSE.whole(json.dumps(body).encode(), asked)
    (choice,) = json.loads(whole.body)["choices"]
    assert json.loads(choice["message"]["content"]) == {"a": 1}
    assert "tool_calls" not in choice["message"]
    assert (choice["finish_reason"], whole.called) == ("stop", False)


def test_a_plain_answer_in_words_is_a_failed_attempt() -> None:
    message = {"role": "assistant", "content": [{"text": "Ana"}]}
    body = {"output": {"message": message}, "stopReason": "end_turn"}
    asked = bedrock.context(json_call=True, json_text=True)
    assert CONVERSE.whole(json.dumps(body).encode(), asked).fault is not None


def test_an_answer_given_twice_is_heard_once() -> None:
    stream = ANTHROPIC.stream(ASKED)
    twice = made.call(0, "toolu_1", NAME, '{"a": 1}') + made.call(1, "toolu_2", NAME, '{"a": 2}')
    out = stream.feed(made.start() + twice + made.stop("tool_use")).out.decode()
    assert '{\\"a\\": 1}' in out
    assert '{\\"a\\": 2}' not in out
