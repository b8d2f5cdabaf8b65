"""Tools in namespaces, and tools that the input brings: what a coding agent sends, in any format."""

import json
from typing import Any

import pytest

from tests.formats.openai_responses.answered import CUSTOM, FUNCTION, context, read
from zurelay.chat.profile import Profile
from zurelay.formats.base import Target
from zurelay.formats.openai_responses import toolbox
from zurelay.formats.registry import exchange

SPAWN = {"type": "function", "name": "spawn_agent", "description": "Starts one.", "strict": False}
AGENTS = {
    "type": "namespace",
    "name": "multi_agent_v1",
    "description": "Tools for sub-agents.",
    "tools": [SPAWN, {"type": "function", "name": "close_agent", "description": "Ends one."}],
}
BROUGHT = {
    "type": "additional_tools",
    "id": "at_1",
    "role": "developer",
    "tools": [
        {
            "type": "namespace",
            "name": "functions",
            "description": "",
            "tools": [
                {
                    "type": "custom",
                    "name": "exec",
                    "description": "Runs JavaScript.",
                    "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"},
                },
                {"type": "function", "name": "wait", "strict": False},
            ],
        },
        {"type": "namespace", "name": "clock", "tools": [{"type": "function", "name": "sleep"}]},
    ],
}
"""As Codex 0.171 sends them for models it knows; `AGENTS` is in what it sends for all others."""

HISTORY = [
    BROUGHT,
    {"role": "user", "content": "Run it"},
    {
        "type": "custom_tool_call",
        "call_id": "c1",
        "name": "exec",
        "namespace": "functions",
        "input": "text(1)",
    },
    {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
    {
        "type": "function_call",
        "call_id": "c2",
        "name": "sleep",
        "namespace": "clock",
        "arguments": "{}",
    },
    {"type": "function_call_output", "call_id": "c2", "output": "2"},
]

BACKS = ("openai_chat", "anthropic", "gemini")


def sent(back: str, **fields: Any) -> Any:
    to = Target("m", "up", Profile(), max_output=1000)
    out = exchange("openai_responses", back).write(read(**fields), to)
    assert out.dropped == ()
    return json.loads(out.body)


def names(back: str, body: Any) -> list[str]:
    if back == "openai_chat":
        return [tool["function"]["name"] for tool in body["tools"]]
    if back == "anthropic":
        return [tool["name"] for tool in body["tools"]]
    return [tool["name"] for tool in body["tools"][0]["functionDeclarations"]]


@pytest.mark.parametrize("back", BACKS)
def test_tools_of_namespaces_reach_every_format_under_one_name(back: str) -> None:
    found = names(back, sent(back, tools=[FUNCTION, AGENTS]))
    assert found == ["f", "multi_agent_v1__spawn_agent", "multi_agent_v1__close_agent"]


@pytest.mark.parametrize("back", BACKS)
def test_so_do_tools_of_the_input_and_calls_of_earlier_turns(back: str) -> None:
    body = sent(back, input=HISTORY)
    assert names(back, body) == ["exec", "wait", "clock__sleep"]
    said = json.dumps(body)
    assert said.count('"name": "exec"') >= 2
    assert said.count('"name": "clock__sleep"') >= 2
    assert "additional_tools" not in said


def test_what_a_namespace_is_for_is_told_once() -> None:
    tools = sent("openai_chat", tools=[AGENTS])["tools"]
    told = [tool["function"]["description"] for tool in tools]
    assert told == ["Starts one.\n\nmulti_agent_v1: Tools for sub-agents.", "Ends one."]


def test_a_choice_finds_its_tool_inside_a_namespace() -> None:
    one = {"type": "function", "name": "close_agent"}
    body = sent("openai_chat", tools=[FUNCTION, AGENTS], tool_choice=one)
    assert body["tool_choice"]["function"]["name"] == "multi_agent_v1__close_agent"
    for allowed in (one, {"type": "namespace", "name": "multi_agent_v1"}):
        choice = {"type": "allowed_tools", "tools": [allowed]}
        body = sent("openai_chat", tools=[FUNCTION, AGENTS], tool_choice=choice)
        assert "multi_agent_v1__close_agent" in names("openai_chat", body)
        assert "f" not in names("openai_chat", body)


def test_one_name_has_no_namespace_of_openais_own_and_no_double_line() -> None:
    assert toolbox.one_name(None, "f") == "f"
    assert toolbox.one_name("functions", "exec") == "exec"
    assert toolbox.one_name("mcp__docs__", "search") == "mcp__docs__search"


def test_the_same_tool_twice_is_offered_once() -> None:
    found = toolbox.offered([FUNCTION, FUNCTION, AGENTS, AGENTS])
    assert list(found) == ["f", "multi_agent_v1__spawn_agent", "multi_agent_v1__close_agent"]


def test_a_requests_own_bytes_tell_the_same_as_its_values() -> None:
    asked = context(tools=[CUSTOM], input=HISTORY).asked
    found = toolbox.of_request(asked)
    assert list(found) == ["patch", "exec", "wait", "clock__sleep"]
    assert [found[name].custom for name in ("patch", "exec", "wait")] == [True, True, False]
    assert found["exec"].namespace == "functions"
    assert toolbox.of_request(context(input="additional_tools", tools=None).asked) == {}
