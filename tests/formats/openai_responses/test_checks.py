"""Fields that a caller may get wrong, each refused by its path."""

from typing import Any

import pytest

from tests.formats.openai_responses.answered import CUSTOM, FUNCTION, read, refused
from zurelay.formats.base import Ability

SPACE = {"type": "namespace", "name": "n", "tools": [FUNCTION]}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"previous_response_id": "resp_0"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"conversation": {"id": "conv_1"}}, "conversation"),
        ({"background": True}, "background"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type"),
        ({"input": [{"type": "compaction", "encrypted_content": "x"}]}, "input[0].type"),
    ],
)
def test_what_needs_memory_is_refused_with_what_to_do_instead(
    fields: dict[str, Any], param: str
) -> None:
    problem = refused(**fields)
    assert (problem.status, problem.param) == (400, param)
    assert "send the whole history" in problem.message


def test_a_stored_prompt_is_refused() -> None:
    assert refused(prompt={"id": "p"}).param == "prompt"


def test_what_asks_for_nothing_that_is_kept_passes() -> None:
    read(store=True, background=False, previous_response_id=None, conversation=None)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"max_output_tokens": "1"}, "max_output_tokens"),
        ({"temperature": 2.1}, "temperature"),
        ({"top_p": -0.1}, "top_p"),
        ({"top_logprobs": 21}, "top_logprobs"),
        ({"truncation": "some"}, "truncation"),
        ({"instructions": ["x"]}, "instructions"),
        ({"stream": "yes"}, "stream"),
        ({"store": 1}, "store"),
        ({"include": "x"}, "include"),
        ({"metadata": {"a": 1}}, "metadata"),
        ({"metadata": {"a" * 65: "x"}}, "metadata"),
        ({"models": [""]}, "models[0]"),
        ({"reasoning": "high"}, "reasoning"),
        ({"text": {"verbosity": "some"}}, "text.verbosity"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
        ({"text": {"format": {"type": "json_schema", "schema": {}}}}, "text.format.name"),
        ({"text": {"format": {"type": "json_schema", "name": "n"}}}, "text.format.schema"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": [{"type": "function", "name": ""}]}, "tools[0].name"),
        ({"tools": [FUNCTION, {"type": "web_search"}]}, "tools[1].type"),
        ({"tools": [{"type": "function", "name": "f", "parameters": []}]}, "tools[0].parameters"),
        ({"tools": [{"type": "namespace", "tools": [FUNCTION]}]}, "tools[0].name"),
        (
            {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "mcp"}]}]},
            "tools[0].tools[0].type",
        ),
        (
            {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "custom"}]}]},
            "tools[0].tools[0].name",
        ),
        (
            {"tools": [{"type": "namespace", "name": "n", "tools": [SPACE]}]},
            "tools[0].tools[0].type",
        ),
        (
            {"tools": [SPACE], "tool_choice": {"type": "namespace", "name": "n"}},
            "tool_choice.type",
        ),
        ({"input": [{"type": "additional_tools"}]}, "input[0].tools"),
        ({"input": [{"type": "additional_tools", "tools": FUNCTION}]}, "input[0].tools"),
        (
            {"input": [{"type": "additional_tools", "tools": [{"type": "web_search"}]}]},
            "input[0].tools[0].type",
        ),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": "some", "tools": [FUNCTION]}, "tool_choice"),
        ({"tool_choice": {"type": "mcp"}, "tools": [FUNCTION]}, "tool_choice.type"),
        (
            {"tool_choice": {"type": "function", "name": "g"}, "tools": [FUNCTION]},
            "tool_choice.name",
        ),
        (
            {"tool_choice": {"type": "custom", "name": "f"}, "tools": [FUNCTION, CUSTOM]},
            "tool_choice.name",
        ),
        ({"tool_choice": {"type": "allowed_tools"}, "tools": [FUNCTION]}, "tool_choice.tools"),
        (
            {
                "tool_choice": {"type": "allowed_tools", "mode": "all", "tools": [{"name": "f"}]},
                "tools": [FUNCTION],
            },
            "tool_choice.mode",
        ),
        (
            {
                "tool_choice": {"type": "allowed_tools", "tools": [{"name": "g"}]},
                "tools": [FUNCTION],
            },
            "tool_choice.tools[0].name",
        ),
    ],
)
def test_a_wrong_field_is_refused_by_its_path(fields: dict[str, Any], param: str) -> None:
    problem = refused(**fields)
    assert (problem.status, problem.param) == (400, param)


def test_a_hosted_tool_is_named_and_is_no_ability_of_ours() -> None:
    problem = refused(tools=[{"type": "web_search"}])
    assert (problem.code, problem.param) == ("unsupported_content", "tools[0].type")
    assert "web_search" in problem.message


def test_allowed_tools_force_only_when_they_are_required() -> None:
    allowed = {"type": "allowed_tools", "tools": [{"type": "function", "name": "f"}]}
    assert Ability.FORCED_TOOL not in read(tools=[FUNCTION], tool_choice=allowed).needs
    forced = read(tools=[FUNCTION], tool_choice={**allowed, "mode": "required"})
    assert Ability.FORCED_TOOL in forced.needs


def test_tools_of_the_input_are_tools() -> None:
    brought = [{"type": "additional_tools", "tools": [SPACE]}, {"role": "user", "content": "Hi"}]
    assert read(input=brought).needs == {Ability.TOOLS: "input[0].tools[0]"}
    forced = read(input=brought, tool_choice={"type": "function", "name": "f"})
    assert Ability.FORCED_TOOL in forced.needs
    assert read(input=brought, tools=[CUSTOM]).needs == {Ability.TOOLS: "tools"}
