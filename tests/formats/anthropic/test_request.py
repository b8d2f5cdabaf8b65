"""Options of a Chat Completions request in Messages' words."""

import json
from typing import Any

import pytest

from tests.formats.anthropic.made import target, written
from zurelay.chat.problems import Refused
from zurelay.formats.anthropic.request import DROPS, LIMIT, LIMIT_THINKING, PATH
from zurelay.formats.base import Target

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
OLD = "claude-opus-4-6"
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ANSWERED: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "r"},
]


def test_the_smallest_request() -> None:
    body, out = written(to=target(OLD))
    assert body == {
        "model": f"up-{OLD}",
        "max_tokens": LIMIT,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    }
    assert out.path == PATH
    assert out.headers == (("anthropic-version", "2023-06-01"),)
    assert out.dropped == ()


@pytest.mark.parametrize(
    ("to", "asked", "limit"),
    [
        (target(OLD), {}, LIMIT),
        (target(OLD, effort="low"), {}, LIMIT_THINKING),
        (target(OLD, effort="none"), {}, LIMIT),
        (target("claude-opus-5-5"), {}, LIMIT_THINKING),
        (target("claude-opus-5", effort="none"), {}, LIMIT),
        (Target("m", "m", target(OLD).profile, max_output=4096), {}, 4096),
        (target(OLD), {"max_tokens": 100}, 100),
        (target(OLD), {"max_completion_tokens": 128_000}, 128_000),
    ],
)
def test_the_token_limit(to: Target, asked: dict[str, Any], limit: int) -> None:
    body, out = written(to=to, **asked)
    assert body["max_tokens"] == limit
    assert out.dropped == ()


def test_a_limit_above_the_models_own_is_cut_and_told() -> None:
    body, out = written(to=target(OLD), max_tokens=500_000)
    assert body["max_tokens"] == 128_000
    assert out.dropped == ("max_tokens",)


def test_sampling_on_a_model_that_takes_it() -> None:
    body, out = written(to=target(OLD), temperature=1.7, top_p=0.9, top_k=5)
    assert (body["temperature"], body.get("top_p"), body["top_k"]) == (1.0, None, 5)
    assert set(out.dropped) == {"temperature", "top_p"}
    body, out = written(to=target(OLD), top_p=0.9)
    assert (body["top_p"], out.dropped) == (0.9, ())


@pytest.mark.parametrize("to", [target("claude-opus-5-5"), target(OLD, effort="high")])
def test_sampling_is_left_out_where_it_would_be_refused(to: Target) -> None:
    body, out = written(to=to, temperature=0.5, top_p=0.9)
    assert not {"temperature", "top_p"} & set(body)
    assert out.dropped == ("temperature", "top_p")


def test_blank_stop_sequences_are_cut_here() -> None:
    body, out = written(stop=["END", "\n"])
    assert body["stop_sequences"] == ["END"]
    assert out.stop == ("\n",)
    body, out = written(stop="X")
    assert (body["stop_sequences"], out.stop) == (["X"], ())


@pytest.mark.parametrize(
    ("asked", "choice"),
    [
        ({}, None),
        ({"tool_choice": "auto"}, {"type": "auto"}),
        ({"tool_choice": "none"}, {"type": "none"}),
        ({"tool_choice": "required"}, {"type": "any"}),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            {"type": "tool", "name": "f"},
        ),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            {"tool_choice": "required", "parallel_tool_calls": False},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        ({"parallel_tool_calls": True}, None),
    ],
)
def test_the_choice_among_tools(asked: dict[str, Any], choice: Any) -> None:
    body, out = written(to=target(OLD), tools=[TOOL], **asked)
    assert body.get("tool_choice") == choice
    assert out.dropped == ()


def test_a_force_that_the_model_refuses_becomes_a_line_that_goes_last() -> None:
    named = {"type": "function", "function": {"name": "f"}}
    body, out = written(tools=[TOOL], tool_choice=named)
    assert body["tool_choice"] == {"type": "auto"}
    assert out.dropped == ("tool_choice",)
    assert body["messages"][-1]["role"] == "system"
    assert "`f`" in body["messages"][-1]["content"][0]["text"]
    no_entries = target(quirks={"late_system": False})
    body, _ = written(to=no_entries, tools=[TOOL], tool_choice="required")
    assert body["messages"][-1]["role"] == "user"
    assert body["messages"][-1]["content"][-1]["text"].startswith("<system>You must answer")


def test_tools() -> None:
    described = {
        "name": "a.b",
        "description": "d",
        "strict": True,
        "parameters": {"properties": {}},
    }
    tools = [
        {"type": "function", "function": described},
        {"type": "function", "function": {"name": "bare"}, "cache_control": {"type": "ephemeral"}},
        {"type": "custom", "custom": {"name": "free"}},
    ]
    body, out = written(tools=tools)
    first, bare, free = body["tools"]
    assert first["strict"] is True
    assert first["input_schema"] == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    assert first["description"] == "d"
    assert bare == {
        "name": "bare",
        "input_schema": {"type": "object", "properties": {}},
        "cache_control": {"type": "ephemeral"},
    }
    assert free["input_schema"]["required"] == ["input"]
    assert out.tool_names == {first["name"]: "a.b"}
    assert first["name"] != "a.b"


def test_more_strict_tools_than_are_taken_are_not_strict() -> None:
    tools = [{"type": "function", "function": {"name": f"f{i}", "strict": True}} for i in range(21)]
    body, out = written(tools=tools)
    assert not any("strict" in tool for tool in body["tools"])
    assert out.dropped == ("tools[].function.strict",)


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}}


def schema_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}


def test_a_schema_goes_natively_in_claudes_dialect() -> None:
    body, out = written(response_format=schema_of(SCHEMA))
    assert body["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {"a": {"type": "integer", "description": "minimum: 1"}},
            "additionalProperties": False,
        },
    }
    assert not out.json_text
    assert out.dropped == ()


def test_a_schema_that_cannot_go_natively_is_told_in_words() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    for to, schema in ((target(), tree), (target(quirks={"json_schema": "none"}), SCHEMA)):
        body, out = written(to=to, response_format=schema_of(schema))
        assert "output_config" not in body
        assert json.dumps(schema).replace(" ", "") in json.dumps(body["messages"][-1]).replace(
            "\\", ""
        ).replace(" ", "")
        assert out.json_text
        assert out.dropped == ("response_format",)


def test_a_json_object_is_asked_for_in_one_line() -> None:
    body, out = written(response_format={"type": "json_object"})
    assert "JSON object" in body["messages"][-1]["content"][-1]["text"]
    assert "output_config" not in body
    assert out.json_text


def test_effort_and_schema_share_their_object() -> None:
    body, _ = written(to=target(effort="max"), response_format=schema_of(SCHEMA))
    assert body["output_config"]["effort"] == "max"
    assert body["output_config"]["format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    "asked",
    [
        {"max_tokens": 2000},
        {"tools": [TOOL], "tool_choice": "required"},
        {"tools": [TOOL], "messages": ANSWERED},
    ],
)
def test_thinking_by_budget_goes_off_where_it_would_be_refused(asked: dict[str, Any]) -> None:
    body, out = written(to=target("claude-sonnet-4-5", effort="high"), **asked)
    assert "thinking" not in body
    assert out.effort == "none"
    assert "reasoning_effort" in out.dropped


def test_a_signed_turn_keeps_thinking_by_budget_on() -> None:
    details = [{"type": "reasoning.text", "signature": "SIG", "format": "anthropic/messages"}]
    thought = {**ANSWERED[1], "reasoning_content": "hm", "reasoning_details": details}
    body, out = written(
        to=target("claude-sonnet-4-5", effort="high"),
        tools=[TOOL],
        messages=[ANSWERED[0], thought, ANSWERED[2]],
    )
    assert body["thinking"]["type"] == "enabled"
    assert out.effort is None
    assert body["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "SIG",
    }


def test_more_than_one_answer_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        written(n=2)
    assert refused.value.problem.param == "n"


def test_a_service_tier_passes_only_where_it_is_priced() -> None:
    assert written(service_tier="auto")[1].dropped == ("service_tier",)
    to = target(allows=frozenset({"service_tier"}))
    assert written(to=to, service_tier="auto")[0]["service_tier"] == "auto"
    assert "service_tier" not in written(to=to, service_tier="priority")[0]


PROBES: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Other"}],
    "max_tokens": 99,
    "max_completion_tokens": 98,
    "temperature": 0.3,
    "top_p": 0.4,
    "top_k": 7,
    "stop": ["Z"],
    "tools": [TOOL],
    "response_format": {"type": "json_object"},
    "seed": 1,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.1,
    "logit_bias": {"1": 1},
    "logprobs": True,
    "top_logprobs": 2,
    "verbosity": "low",
    "prompt_cache_key": "k",
    "service_tier": "flex",
    "modalities": ["text"],
    "never_heard_of": 1,
}


@pytest.mark.parametrize("name", PROBES)
def test_each_field_alone_moves_the_body_or_is_named_as_dropped(name: str) -> None:
    """`user`, `metadata`, `models` and the like stay here and are none of the format's business."""
    plain, _ = written(to=target(OLD))
    body, out = written(to=target(OLD), **{name: PROBES[name]})
    told = {name, "unknown_fields"} & set(out.dropped)
    assert (body != plain) != bool(told)
    assert (name in DROPS) <= bool(told)


def test_writing_twice_gives_the_same_bytes() -> None:
    asked: dict[str, Any] = {"tools": [TOOL], "messages": ANSWERED, "temperature": 0.1}
    assert written(**asked)[1].body == written(**asked)[1].body
