"""Prompt-cache breakpoints: whose they are, where they go, and that they stay where they are."""

import json
from typing import Any

import pytest

from tests.formats.anthropic.made import chat, target
from tests.formats.converse.bedrock import CLAUDE, faults
from zurelay.catalogue.load import standard
from zurelay.chat.parts import Text, ToolResult
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request, Turn
from zurelay.formats.base import Target
from zurelay.formats.bedrock_invoke.request import laid_over
from zurelay.formats.cache_marks import end_marked
from zurelay.formats.registry import exchange, front
from zurelay.providers.registry import KINDS

SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}
AUTO = {"auto_cache": True}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("f", "g")
]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "S1"},
    {"role": "developer", "content": "S2"},
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "result"},
    {"role": "assistant", "content": "two"},
    {"role": "user", "content": [{"type": "text", "text": "three"}, {"type": "text", "text": " "}]},
]
LONGER = [*TALK, {"role": "assistant", "content": "four"}, {"role": "user", "content": "five"}]


def body(to: Target, back: str = "anthropic", **fields: Any) -> Any:
    return json.loads(exchange("openai_chat", back).write(chat(**fields), to).body)


def of_messages(to: Target, back: str = "openai_chat", **fields: Any) -> Any:
    asked = {"model": "m", "max_tokens": 99, **fields}
    inbound = front("anthropic").read(json.dumps(asked).encode())
    return json.loads(exchange("anthropic", back).write(inbound, to).body)


def marks(value: object) -> list[Any]:
    """Every breakpoint at any depth."""
    if isinstance(value, list):
        return [mark for item in value for mark in marks(item)]
    if not isinstance(value, dict):
        return []
    words = ("cache_control", "prompt_cache_breakpoint", "cachePoint")
    own = [value[word] for word in words if word in value]
    return own + [mark for item in value.values() for mark in marks(item)]


def without(value: Any) -> Any:
    """The same without breakpoints."""
    if isinstance(value, list):
        kept = [item for item in value if not (isinstance(item, dict) and "cachePoint" in item)]
        return [without(item) for item in kept]
    if isinstance(value, dict):
        return {name: without(item) for name, item in value.items() if name != "cache_control"}
    return value


def test_a_callers_own_breakpoints_reach_claude_from_parts_and_tools() -> None:
    part = {"type": "text", "text": "hello", "cache_control": LONG}
    sent = body(
        target(),
        tools=[{**TOOLS[0], "cache_control": LONG}],
        messages=[{"role": "system", "content": [part]}, {"role": "user", "content": [part]}],
    )
    assert sent["tools"][0]["cache_control"] == LONG
    assert sent["system"][0]["cache_control"] == LONG
    assert sent["messages"][0]["content"][0]["cache_control"] == LONG
    assert len(marks(sent)) == 3


def test_a_mark_on_a_whole_message_stands_after_its_last_part() -> None:
    """As opencode 1.18 marks what it asks a Claude for through an OpenAI endpoint."""
    marked = {"cache_control": SHORT}
    call = {**CALL, **marked}
    talk = [
        {"role": "system", "content": "S", **marked},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "result", **marked},
    ]
    sent = body(target(), tools=TOOLS, messages=talk)
    assert marks(sent) == [SHORT, SHORT]
    assert sent["system"][0]["cache_control"] == SHORT
    assert sent["messages"][-1]["content"][-1]["cache_control"] == SHORT


def test_so_does_one_beside_parts_and_a_parts_own_mark_goes_first() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    parts = [{"type": "text", "text": "see"}, image]
    sent = body(target(), messages=[{"role": "user", "content": parts, "cache_control": SHORT}])
    assert [marks(block) for block in sent["messages"][0]["content"]] == [[], [SHORT]]
    own = [{"type": "text", "text": "see", "cache_control": LONG}]
    sent = body(target(), messages=[{"role": "user", "content": own, "cache_control": SHORT}])
    assert marks(sent) == [LONG]
    spoken = {"role": "assistant", "content": None, "tool_calls": [CALL], "cache_control": SHORT}
    result = {"role": "tool", "tool_call_id": "c", "content": "r"}
    assert marks(body(target(), messages=[*TALK[2:3], spoken, result])) == []


def test_openais_own_breakpoints_are_read_too() -> None:
    points = [{"mode": "explicit", "ttl": "12h"}, {"mode": "explicit"}]
    parts = [{"type": "text", "text": "a", "prompt_cache_breakpoint": point} for point in points]
    sent = body(target(), messages=[{"role": "user", "content": parts}])
    assert marks(sent) == [LONG, SHORT]


def test_a_whole_request_can_be_marked_where_that_is_known() -> None:
    inbound = chat(cache_control=LONG)
    out = exchange("openai_chat", "anthropic").write(inbound, target())
    assert json.loads(out.body)["cache_control"] == LONG
    assert "cache_control" not in out.dropped
    bedrock = Target("m", "m", laid_over(target().profile))
    out = exchange("openai_chat", "bedrock_invoke").write(inbound, bedrock)
    assert marks(json.loads(out.body)) == []
    assert "cache_control" in out.dropped


def test_nothing_is_marked_unless_the_operator_asks_for_it() -> None:
    assert marks(body(target(), messages=TALK, tools=TOOLS)) == []


def test_tools_system_and_the_end_are_marked_by_themselves() -> None:
    sent = body(target(quirks=AUTO), messages=TALK, tools=TOOLS)
    assert "cache_control" not in sent["tools"][0]
    assert sent["tools"][1]["cache_control"] == SHORT
    assert "cache_control" not in sent["system"][0]
    assert sent["system"][1]["cache_control"] == SHORT
    assert sent["cache_control"] == SHORT
    assert marks(sent["messages"]) == []


def test_a_single_question_has_its_instructions_marked_alone() -> None:
    sent = body(target(quirks=AUTO), messages=[TALK[0], TALK[2]])
    assert marks(sent) == marks(sent["system"]) == [SHORT]


@pytest.mark.parametrize("own", ["tool", "part", "whole"])
def test_a_callers_own_breakpoints_are_not_added_to(own: str) -> None:
    fields: dict[str, Any] = {"messages": [*TALK], "tools": [*TOOLS]}
    if own == "tool":
        fields["tools"] = [{**TOOLS[0], "cache_control": SHORT}, TOOLS[1]]
    elif own == "part":
        part = {"type": "text", "text": "more", "cache_control": SHORT}
        fields["messages"].append({"role": "user", "content": [part]})
    else:
        fields["cache_control"] = SHORT
    assert marks(body(target(quirks=AUTO), **fields)) == [SHORT]


def test_a_longer_conversation_begins_with_the_same_bytes() -> None:
    first = body(target(quirks=AUTO), messages=TALK, tools=TOOLS)
    second = body(target(quirks=AUTO), messages=LONGER, tools=TOOLS)
    before, after = json.dumps(first["messages"]), json.dumps(second["messages"])
    assert after.startswith(before[:-1])
    assert (first["system"], first["tools"]) == (second["system"], second["tools"])


@pytest.mark.parametrize("late", [False, True])
def test_a_line_of_ours_at_the_end_is_not_part_of_what_is_kept(late: bool) -> None:
    to = target(quirks={**AUTO, "late_system": late})
    sent = body(to, messages=TALK, tools=TOOLS, response_format={"type": "json_object"})
    assert "cache_control" not in sent
    ends = [block for turn in sent["messages"] for block in turn["content"] if marks(block)]
    assert ends == [{"type": "text", "text": "three", "cache_control": SHORT}]


@pytest.mark.parametrize("back", ["bedrock_invoke", "vertex_messages", "converse"])
def test_elsewhere_the_last_two_turns_of_the_users_are_marked(back: str) -> None:
    profile = CLAUDE if back == "converse" else target().profile
    to = Target("m", "claude-x", profile.but(auto_cache=True, whole_cache=False))
    sent = body(to, back, messages=TALK, tools=TOOLS)
    assert len(marks(sent)) == 4
    assert [len(marks(turn)) for turn in sent["messages"]] == [0, 0, 1, 0, 1]
    after = body(to, back, messages=LONGER, tools=TOOLS)
    assert [len(marks(turn)) for turn in after["messages"]] == [0, 0, 0, 0, 1, 0, 1]
    assert without(after["messages"][:5]) == without(sent["messages"])
    if back == "converse":
        assert faults(sent) == ""


def test_neighbouring_turns_of_the_users_are_one_turn() -> None:
    turns = [*TALK[:5], {"role": "user", "content": "and"}]
    to = Target("m", "m", target().profile.but(auto_cache=True, whole_cache=False))
    sent = body(to, messages=turns, tools=TOOLS)
    last = sent["messages"][-1]["content"]
    assert [block["type"] for block in last] == ["tool_result", "text"]
    assert [len(marks(block)) for block in last] == [0, 1]
    assert len(marks(sent["messages"][0])) == 1


MARKED = {"type": "text", "text": "hi", "cache_control": LONG}
MESSAGES: dict[str, Any] = {
    "system": [{"type": "text", "text": "S", "cache_control": LONG}],
    "tools": [{"name": "f", "input_schema": {"type": "object"}, "cache_control": LONG}],
    "messages": [{"role": "user", "content": [MARKED]}],
}


@pytest.mark.parametrize("back", ["openai_chat", "openai_responses", "gemini"])
def test_breakpoints_never_reach_an_upstream_that_knows_none(back: str) -> None:
    sent = of_messages(Target("m", "m", Profile()), back, **MESSAGES)
    assert marks(sent) == []
    assert "ephemeral" not in json.dumps(sent)
    assert '"S"' in json.dumps(sent)


@pytest.mark.parametrize("back", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize(("model", "count"), [("gpt-5.5", 0), ("gpt-5.6-sol", 2), ("gpt-6-sol", 2)])
def test_openais_newer_models_get_them_in_their_own_words(
    back: str, model: str, count: int
) -> None:
    profile = standard().by_id[model].profile(KINDS["openai"].profile)
    sent = of_messages(Target("m", "m", profile), back, **MESSAGES)
    assert marks(sent) == [{"mode": "explicit"}] * count
    assert "cache_control" not in json.dumps(sent)


def test_openrouter_gets_them_as_they_came() -> None:
    sent = of_messages(Target("m", "m", KINDS["openrouter"].profile), **MESSAGES)
    assert marks(sent["messages"]) == [LONG, LONG]


def test_bedrock_gets_them_as_points_of_its_own() -> None:
    sent = of_messages(Target("m", "anthropic.claude-x", CLAUDE), "converse", **MESSAGES)
    assert len(marks(sent)) == 3
    assert "cache_control" not in json.dumps(sent)
    assert faults(sent) == ""


def test_the_last_words_of_a_turn_are_marked_though_a_result_follows() -> None:
    turn = Turn("user", (Text("see"), ToolResult("c", (Text("r"),))))  # results are moved first
    (marked,) = end_marked(Request((turn,))).turns
    assert [getattr(part, "cache", None) for part in marked.parts] == ["5m", None]
