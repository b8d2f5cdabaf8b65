"""What callers of Messages may send, and what they are told."""

import json
from typing import Any

import pytest

from zurelay.chat import problems
from zurelay.chat.estimate import PER_MESSAGE, measure
from zurelay.chat.problems import Refused
from zurelay.formats.anthropic.front import CountFront, MessagesFront
from zurelay.formats.base import Ability, Inbound

FRONT = MessagesFront()
BASE: dict[str, Any] = {
    "model": "m",
    "max_tokens": 10,
    "messages": [{"role": "user", "content": "Hi"}],
}
TOOL = {"name": "f", "input_schema": {"type": "object"}}


def read(**fields: Any) -> Inbound:
    return FRONT.read(json.dumps({**BASE, **fields}).encode())


def refused(**fields: Any) -> problems.Problem:
    with pytest.raises(Refused) as caught:
        read(**fields)
    return caught.value.problem


def user(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(blocks)}]


def said(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": list(blocks)}]


def adding(definition: Any) -> list[dict[str, Any]]:
    block = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}}
    return [{"role": "system", "content": [block]}]


def test_the_smallest_request() -> None:
    inbound = read()
    assert (inbound.front, inbound.model, inbound.stream, inbound.max_output) == (
        "anthropic",
        "m",
        False,
        10,
    )
    assert inbound.text_length == measure(["Hi"]) + PER_MESSAGE
    assert inbound.opening == b"Hi"
    assert inbound.effort is None
    assert not inbound.needs
    assert set(inbound.body) == set(BASE)


def test_what_is_read_of_a_full_one() -> None:
    inbound = read(
        stream=True,
        stop_sequences=["A", "B"],
        metadata={"user_id": "u1"},
        models=["x", "y", "x"],
        system=[{"type": "text", "text": "S"}],
        tools=[TOOL],
        tool_choice={"type": "any"},
        output_config={"format": {"type": "json_schema", "schema": {}}, "effort": "high"},
        temperature=0.5,
        top_p=None,
    )
    assert inbound.stream
    assert inbound.stop == ("A", "B")
    assert inbound.user == "u1"
    assert inbound.alternatives == ("x", "y")
    assert inbound.effort == "high"
    assert set(inbound.needs) == {Ability.TOOLS, Ability.FORCED_TOOL, Ability.JSON_SCHEMA}
    assert inbound.opening == b"S\x00Hi"
    assert inbound.text_length > 3


@pytest.mark.parametrize(
    ("thinking", "config", "effort"),
    [
        ({"type": "adaptive"}, None, None),
        ({"type": "adaptive"}, {"effort": "low"}, "low"),
        ({"type": "disabled"}, None, "none"),
        ({"type": "disabled"}, {"effort": "low"}, "none"),
        ({"type": "enabled", "budget_tokens": 1024}, None, "low"),
        ({"type": "enabled", "budget_tokens": 31_999}, None, "xhigh"),
        ({"type": "enabled", "budget_tokens": 31_999}, {"effort": "low"}, "low"),
        ({"type": "between_tools"}, None, None),
        (None, {"effort": "anything"}, "anything"),  # the planner knows the model's levels
    ],
)
def test_thinking_as_a_word(thinking: Any, config: Any, effort: str | None) -> None:
    assert read(thinking=thinking, output_config=config).effort == effort


def test_media_are_needs_wherever_they_stand() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}}
    pdf = {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "AA"},
    }
    result = {"type": "tool_result", "tool_use_id": "t", "content": [image]}
    inbound = read(messages=user({"type": "text", "text": "look"}, pdf, result))
    assert inbound.needs == {
        Ability.PDF: "messages[0].content[1]",
        Ability.IMAGE: "messages[0].content[2].content[0]",
    }
    assert inbound.media_count == 2
    assert "remote_image" in inbound.marks


def test_text_documents_are_text() -> None:
    text = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "abc"},
    }
    content = {"type": "document", "source": {"type": "content", "content": "abc"}}
    inbound = read(messages=user(text, content))
    assert not inbound.needs
    assert inbound.text_length >= 6


def test_the_header_that_changes_with_each_request_names_no_conversation() -> None:
    header = {"type": "text", "text": "x-anthropic-billing-header: cch=12345"}
    system = [header, {"type": "text", "text": "S"}]
    assert read(system=system).opening == b"S\x00Hi"


def test_marks() -> None:
    def thought(signature: str) -> list[dict[str, Any]]:
        block = {"type": "thinking", "thinking": "t", "signature": signature}
        return [{"role": "user", "content": "q"}, {"role": "assistant", "content": [block]}]

    assert read(messages=thought("gw1.xx")).marks == {"foreign_thinking", "prefill"}
    assert read(messages=thought("EqQBCgIYAhIM")).marks == {"prefill"}
    of_turn = [{"role": "user", "content": "q", "output_config": {"effort": "low"}}]
    assert read(messages=of_turn).marks == {"turn_changes"}
    assert read(messages=adding(TOOL)).marks == {"turn_changes"}
    assert read(messages=[{"role": "user", "content": "q", "output_config": None}]).marks == set()


def test_unknown_blocks_and_fields_pass() -> None:
    odd = {"type": "web_search_tool_result", "content": {"type": "error"}, "tool_use_id": 5}
    inbound = read(messages=user({"type": "new_kind", "content": {"a": 1}}), container={"x": 1})
    assert "container" in inbound.body
    assert refused(messages=user(odd)).param == "messages[0].content[0].tool_use_id"
    tool = {"type": "web_search_20250305", "name": "web_search"}
    assert Ability.TOOLS in read(tools=[tool, {"type": "mcp_toolset"}]).needs


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"model": ""}, "model"),
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": "10"}, "max_tokens"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
        ({"messages": user({"type": "text"})}, "messages[0].content[0].text"),
        ({"messages": user({"type": "image"})}, "messages[0].content[0].source"),
        (
            {"messages": user({"type": "image", "source": {"type": "base64"}})},
            "messages[0].content[0].source.data",
        ),
        (
            {"messages": user({"type": "image", "source": {"type": "base64", "data": "A"}})},
            "messages[0].content[0].source.media_type",
        ),
        (
            {"messages": user({"type": "image", "source": {"type": "url", "url": "file:///x"}})},
            "messages[0].content[0].source.url",
        ),
        ({"messages": user({"type": "image", "source": "x"})}, "messages[0].content[0].source"),
        (
            {"messages": said({"type": "tool_use", "id": "t", "name": "f"})},
            "messages[0].content[0].input",
        ),
        (
            {"messages": said({"type": "tool_use", "id": "t", "name": "f", "input": "{}"})},
            "messages[0].content[0].input",
        ),
        ({"messages": said({"type": "tool_use", "name": "f"})}, "messages[0].content[0].id"),
        ({"messages": user({"type": "tool_result"})}, "messages[0].content[0].tool_use_id"),
        (
            {"messages": user({"type": "tool_result", "tool_use_id": "t", "content": 5})},
            "messages[0].content[0].content",
        ),
        ({"messages": said({"type": "thinking"})}, "messages[0].content[0].thinking"),
        (
            {"messages": user({"type": "tool_use", "id": "t", "name": "f", "input": {}})},
            "messages[0].content[0].type",
        ),
        (
            {"messages": user({"type": "thinking", "thinking": "t"})},
            "messages[0].content[0].type",
        ),
        (
            {
                "messages": user(
                    {
                        "type": "tool_result",
                        "tool_use_id": "t",
                        "content": [{"type": "redacted_thinking", "data": "x"}],
                    }
                )
            },
            "messages[0].content[0].content[0].type",
        ),
        (
            {"messages": said({"type": "tool_result", "tool_use_id": "t"})},
            "messages[0].content[0].type",
        ),
        (
            {"messages": user({"type": "search_result", "content": "x"})},
            "messages[0].content[0].content",
        ),
        (
            {"messages": user({"type": "search_result", "content": [5]})},
            "messages[0].content[0].content",
        ),
        (
            {"messages": user({"type": "document", "source": {"type": "content", "content": 5}})},
            "messages[0].content[0].source.content",
        ),
        (
            {"messages": [{"role": "user", "content": "q", "output_config": 5}]},
            "messages[0].output_config",
        ),
        (
            {"messages": [{"role": "user", "content": "q", "output_config": {"effort": 5}}]},
            "messages[0].output_config.effort",
        ),
        ({"messages": user({"type": "tool_removal"})}, "messages[0].content[0].tool"),
        (
            {"messages": user({"type": "tool_removal", "tool": {"name": ["f"]}})},
            "messages[0].content[0].tool",
        ),
        ({"messages": adding({"name": 7})}, "messages[0].content[0].tool"),
        (
            {"messages": adding({"name": "f"})},
            "messages[0].content[0].tool.definition.input_schema",
        ),
        ({"messages": adding({"input_schema": {}})}, "messages[0].content[0].tool.definition.name"),
        (
            {"messages": adding({"type": "code_execution_20250825", "name": "code_execution"})},
            "messages[0].content[0].tool.definition.type",
        ),
        (
            {"messages": adding({"type": "web_search_20250305", "name": "web_search"})},
            "messages[0].content[0].tool.definition.type",
        ),
        ({"system": [{"type": "text"}]}, "system[0].text"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": 2}, "top_p"),
        ({"top_k": -1}, "top_k"),
        ({"stop_sequences": [""]}, "stop_sequences[0]"),
        ({"stop_sequences": "x"}, "stop_sequences"),
        ({"metadata": {"user_id": "x" * 513}}, "metadata.user_id"),
        ({"tools": [{"input_schema": {}}]}, "tools[0].name"),
        ({"tools": [{"name": "f"}]}, "tools[0].input_schema"),
        ({"tools": [{**TOOL, "name": "x" * 129}]}, "tools[0].name"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"tool_choice": {"type": "some"}}, "tool_choice.type"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "g"}}, "tool_choice.name"),
        ({"thinking": {"type": "on"}}, "thinking.type"),
        ({"thinking": {"type": "enabled"}}, "thinking.budget_tokens"),
        ({"thinking": {"type": "enabled", "budget_tokens": 5}}, "thinking.budget_tokens"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format.type"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema"),
        ({"models": ["m"] * 9}, "models[8]"),
    ],
)
def test_what_is_wrong_is_named_with_its_path(fields: dict[str, Any], param: str) -> None:
    problem = refused(**fields)
    assert (problem.status, problem.param) == (400, param)
    assert param.removesuffix("[8]") in problem.message


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model": "\xff"}', b"[" * 200])
def test_what_is_no_json_object(body: bytes) -> None:
    with pytest.raises(Refused) as caught:
        FRONT.read(body)
    assert caught.value.problem.code == "invalid_json"


def test_messages_say_what_would_be_right() -> None:
    assert refused(max_tokens=None).message == (
        "Missing required parameter: 'max_tokens', a whole number of at least 0."
    )
    assert refused(max_tokens="10").message == (
        "Invalid value for 'max_tokens': expected a whole number of at least 0, but got a string."
    )


def test_counting_needs_no_limit() -> None:
    body = json.dumps({**BASE, "max_tokens": None}).encode()
    assert CountFront().read(body).max_output is None


def test_problems_have_anthropics_shape() -> None:
    problem = problems.overloaded_here("Busy.")
    status, body = FRONT.problem_body(problem, "req_1")
    assert status == 529
    assert json.loads(body) == {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Busy."},
        "request_id": "req_1",
    }
    event = FRONT.problem_event(problem, "req_1")
    assert event == b"event: error\ndata: " + body + b"\n\n"
