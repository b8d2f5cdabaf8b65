"""Changes between turns, as a coding agent sends them, wherever the request goes."""

import json
from typing import Any

import msgspec
import pytest

from tests.formats.anthropic.made import target
from zurelay.chat.profile import Profile
from zurelay.formats.anthropic.turn_changes import EFFORT, TOOLS, UPDATES, in_force
from zurelay.formats.base import Ability, Inbound, Target
from zurelay.formats.bedrock_invoke.request import laid_over
from zurelay.formats.registry import exchange, front

READ = {"name": "Read", "input_schema": {"type": "object"}}
GONE = {"name": "Gone", "input_schema": {"type": "object"}}
NEW = {"name": "mcp__docs__find", "description": "Finds.", "input_schema": {"type": "object"}}
CHANGED = [
    {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "Gone"}},
    {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": NEW}},
]
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Hi"},
    {
        "role": "system",
        "content": [{"type": "text", "text": "# Environment"}],
        "output_config": {"effort": "medium"},
    },
]
"""As Claude Code 2.1.332 begins a conversation."""

CLAUDE = "claude-opus-5-5"
BETAS = {"anthropic-beta": f"{EFFORT},{TOOLS},{UPDATES}"}


def inbound(**fields: Any) -> Inbound:
    body = {"model": "m", "max_tokens": 9000, "messages": TALK, **fields}
    read = front("anthropic").read(json.dumps(body).encode())
    return msgspec.structs.replace(read, headers=BETAS)


def sent(to: Target, back: str = "anthropic", **fields: Any) -> tuple[Any, tuple[str, ...]]:
    out = exchange("anthropic", back).write(inbound(**fields), to)
    return json.loads(out.body), out.dropped


def bedrock(**changes: Any) -> Target:
    return Target("m", "m", laid_over(target(CLAUDE).profile), **changes)


def test_anthropic_gets_all_of_it_as_it_came() -> None:
    messages = [*TALK, {"role": "system", "content": CHANGED}]
    thinking = {"type": "adaptive", "display": "updates"}
    body, dropped = sent(target(CLAUDE), messages=messages, tools=[READ, GONE], thinking=thinking)
    assert (body["messages"], body["tools"]) == (messages, [READ, GONE])
    assert (body["thinking"], dropped) == (thinking, ())


def test_where_a_beta_is_not_taken_its_fields_do_not_go() -> None:
    messages = [*TALK, {"role": "system", "content": CHANGED}]
    thinking = {"type": "adaptive", "display": "updates"}
    body, dropped = sent(
        bedrock(), "bedrock_invoke", messages=messages, tools=[READ, GONE], thinking=thinking
    )
    assert body["messages"] == [TALK[0], {"role": "system", "content": TALK[1]["content"]}]
    assert body["tools"] == [READ, NEW]
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert set(dropped) == {"anthropic-beta", "messages[].output_config", "thinking.display"}


def test_words_beside_a_change_of_tools_stay() -> None:
    told = {"type": "text", "text": "One more tool."}
    messages = [TALK[0], {"role": "system", "content": [told, *CHANGED]}]
    body, _ = sent(bedrock(), "bedrock_invoke", messages=messages)
    assert body["messages"][1]["content"] == [told]
    assert body["tools"] == [NEW]


def test_the_effort_of_a_turn_is_the_one_in_force() -> None:
    top = {"effort": "medium"}
    body, dropped = sent(target(CLAUDE, effort="high"), output_config=top)
    assert body["messages"][1]["output_config"] == {"effort": "high"}
    body, _ = sent(target(CLAUDE, effort="low"), output_config={"effort": "max"})
    assert body["messages"][1]["output_config"] == {"effort": "medium"}  # its own, not the whole's
    body, dropped = sent(target("claude-haiku-4-5", effort="medium"), output_config=top)
    assert "output_config" not in body["messages"][1]
    assert "messages[].output_config" in dropped


@pytest.mark.parametrize("back", ["openai_chat", "openai_responses", "gemini"])
def test_other_formats_have_the_tools_that_are_in_force(back: str) -> None:
    messages = [*TALK, {"role": "system", "content": CHANGED}]
    body, _ = sent(Target("m", "up", Profile()), back, messages=messages, tools=[READ, GONE])
    said = json.dumps(body)
    assert said.count('"name": "mcp__docs__find"') == said.count('"name": "Read"') == 1
    assert "Gone" not in said
    assert "tool_addition" not in said


def test_an_added_tool_is_a_tool_and_counts() -> None:
    big = {**NEW, "description": "word " * 400}
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": big}}
    found = inbound(messages=[TALK[0], {"role": "system", "content": [added]}])
    assert found.needs == {Ability.TOOLS: "messages[1].content[0]"}
    assert found.text_length > inbound().text_length + 300


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "tool_reference", "name": "Read"},
        {"type": "tool_definition", "definition": {"name": 7, "input_schema": {}}},
        {"type": "tool_definition", "definition": {"name": "x"}},
        {"type": "tool_definition", "definition": None},
        {},
        None,
        "Read",
    ],
)
def test_what_defines_no_tool_adds_none(tool: Any) -> None:
    message = {"role": "system", "content": [{"type": "tool_addition", "tool": tool}]}
    assert in_force([READ], [message, {"role": "user", "content": "Hi"}]) == [READ]
    assert in_force([{"type": "web"}, READ], [message]) == [{"type": "web"}, READ]
