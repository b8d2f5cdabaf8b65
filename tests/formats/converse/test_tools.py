"""Tools of a Converse request."""

from typing import Any

import pytest

from tests.formats.converse.bedrock import BUDGET, CLAUDE, PLAIN, faults
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request, Tool, ToolChoice
from zurelay.formats.base import Target
from zurelay.formats.converse.tools import NO_CALLS, Tools, cache_point, write

MESSAGES = [{"role": "user", "content": [{"text": "Hi"}]}]


def tools(
    choice: ToolChoice | None = None,
    profile: Profile = PLAIN,
    called: tuple[str, ...] = (),
    given: tuple[Tool, ...] = (Tool("f"),),
    alone: bool | None = None,
    thinks: bool = False,
) -> tuple[Tools, list[str]]:
    dropped: list[str] = []
    request = Request((), tools=given, tool_choice=choice, parallel_tool_calls=alone)
    out = write(request, Target("p", "u", profile), called, thinks, dropped)
    if out.config:
        assert faults({"messages": MESSAGES, "toolConfig": out.config}) == ""
    return out, dropped


def test_a_tool_without_parameters_has_an_empty_schema() -> None:
    out, _ = tools()
    assert out.config == {
        "tools": [
            {"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object", "properties": {}}}}}
        ]
    }  # fmt: skip


def test_strict_tools_have_their_schema_in_the_subset() -> None:
    given = Tool(
        "f", "does", {"properties": {"a": {"type": "string", "minLength": 2}}}, strict=True
    )
    out, _ = tools(given=(given,))
    spec = out.config["tools"][0]["toolSpec"]
    assert (spec["strict"], spec["description"]) == (True, "does")
    assert spec["inputSchema"]["json"]["additionalProperties"] is False
    out, _ = tools(given=(given,), profile=PLAIN.but(strict_tools=False))
    assert "strict" not in out.config["tools"][0]["toolSpec"]


def test_calls_in_the_conversation_are_defined_where_the_caller_does_not() -> None:
    out, _ = tools(given=(), called=("f", "a.b"))
    names = [block["toolSpec"]["name"] for block in out.config["tools"]]
    assert names[0] == "f"
    assert names[1].startswith("a_b_")
    assert tools(given=())[0].config == {}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (ToolChoice("auto"), None),
        (ToolChoice("required"), {"any": {}}),
        (ToolChoice("named", "f"), {"tool": {"name": "f"}}),
    ],
)
def test_a_choice_is_written(choice: ToolChoice, sent: Any) -> None:
    out, dropped = tools(choice)
    assert (out.config.get("toolChoice"), out.fields, out.lines, dropped) == (sent, {}, [], [])


@pytest.mark.parametrize(
    ("profile", "thinks"), [(PLAIN.but(forced_tools="never"), False), (BUDGET, True)]
)
def test_a_force_that_is_refused_becomes_a_line(profile: Profile, thinks: bool) -> None:
    out, dropped = tools(ToolChoice("named", "f"), profile, thinks=thinks)
    assert "toolChoice" not in out.config
    assert out.lines == ["You must answer with a call of the tool `f`."]
    assert dropped == ["tool_choice"]
    out, _ = tools(ToolChoice("required"), profile, thinks=thinks)
    assert "at least one" in out.lines[0]


def test_no_call_is_claudes_own_word_and_elsewhere_no_tools_or_a_line() -> None:
    out, _ = tools(ToolChoice("none"), CLAUDE)
    assert (out.fields, bool(out.config)) == ({"tool_choice": {"type": "none"}}, True)
    out, _ = tools(ToolChoice("none"))
    assert (out.config, out.lines) == ({}, [])
    out, _ = tools(ToolChoice("none"), called=("f",))
    assert (bool(out.config), out.lines) == (True, [NO_CALLS])


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (None, {"type": "auto"}),
        (ToolChoice("required"), {"type": "any"}),
        (ToolChoice("named", "f"), {"type": "tool", "name": "f"}),
    ],
)
def test_one_call_at_a_time_is_claudes_own_word(choice: ToolChoice | None, sent: Any) -> None:
    out, dropped = tools(choice, CLAUDE, alone=True)
    assert dropped == []
    out, dropped = tools(choice, CLAUDE, alone=False)
    assert out.fields == {"tool_choice": {**sent, "disable_parallel_tool_use": True}}
    assert "toolChoice" not in out.config
    assert tools(choice, alone=False)[1] == ["parallel_tool_calls"]


def test_breakpoints_after_tools() -> None:
    out, _ = tools(profile=CLAUDE, given=(Tool("f", cache="5m"), Tool("g")))
    assert [next(iter(block)) for block in out.config["tools"]] == [
        "toolSpec",
        "cachePoint",
        "toolSpec",
    ]
    assert list(cache_point("5m", PLAIN)) == []
