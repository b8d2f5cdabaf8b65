"""A generateContent request from the neutral form."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from tests.formats.gemini.gemini import STUDIO
from zurelay.chat.parts import Text
from zurelay.chat.problems import Refused
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice, Turn
from zurelay.formats.base import Outbound, Target
from zurelay.formats.gemini.request import DROPS, write

USER = Turn("user", (Text("Hi"),))
BASE = Request((USER,))
TOOL = Tool("f", "does f", {"type": "object", "properties": {"a": {"type": "string"}}})


def out(request: Request, **target: Any) -> tuple[Any, Outbound]:
    written = write(
        request, Target("public", **{"upstream_model": "up", "profile": STUDIO, **target})
    )
    return json.loads(written.body), written


def config(request: Request, **target: Any) -> Any:
    return out(request, **target)[0].get("generationConfig")


PROBES: dict[str, Any] = {
    "max_output": 50,
    "temperature": 0.5,
    "top_p": 0.9,
    "stop": ("a",),
    "tools": (TOOL,),
    "tool_choice": ToolChoice("auto"),
    "parallel_tool_calls": False,
    "answer_format": AnswerFormat("json_object"),
    "seed": 3,
    "n": 2,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.2,
    "logit_bias": {"5": 1.0},
    "logprobs": True,
    "top_logprobs": 2,
    "verbosity": "low",
    "prompt_cache_key": "k",
    "service_tier": "flex",
    "extra": {"zeta": 1},
}


def test_every_field_of_the_neutral_form_is_probed() -> None:
    assert set(PROBES) | {"turns", "effort"} == {field.name for field in fields(Request)}


@pytest.mark.parametrize("name", PROBES)
def test_each_field_alone_moves_the_request_or_is_told_as_dropped(name: str) -> None:
    needed: dict[str, Any] = (
        {"tools": (TOOL,)} if name in ("tool_choice", "parallel_tool_calls") else {}
    )
    before = out(replace(BASE, **needed))[0]
    body, written = out(replace(BASE, **{**needed, name: PROBES[name]}))
    told = {"extra": "unknown_fields"}.get(name, name)
    assert (body != before) != (told in written.dropped)
    assert (name in DROPS) <= (name in written.dropped)


def test_the_path_names_the_model_and_how_it_answers() -> None:
    assert out(BASE)[1].path == "/models/up:generateContent"
    assert out(BASE, stream=True)[1].path == "/models/up:streamGenerateContent?alt=sse"
    vertex = STUDIO.but(path_prefix="/publishers/google")
    assert out(BASE, profile=vertex)[1].path == "/publishers/google/models/up:generateContent"


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "a?b", "a%2e", "a:b", "a#b", "a b", "é"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        out(BASE, upstream_model=name)


@pytest.mark.parametrize(
    ("form", "effort", "default", "sent"),
    [
        ("gemini_level", "high", None, {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("gemini_level", "minimal", "high", {"thinkingLevel": "MINIMAL", "includeThoughts": True}),
        ("gemini_level", None, "medium", {"includeThoughts": True}),
        ("gemini_level", None, "none", None),
        ("gemini_level", None, None, None),
        ("gemini_level", "none", None, None),
        ("gemini_budget", "low", None, {"thinkingBudget": 2048, "includeThoughts": True}),
        ("gemini_budget", "none", "high", {"thinkingBudget": 0}),
        ("nothing", "high", None, {"includeThoughts": True}),
    ],
)
def test_thinking_is_asked_for_in_the_models_form(
    form: Any, effort: str | None, default: str | None, sent: Any
) -> None:
    found = config(
        BASE, profile=STUDIO.but(effort_form=form), effort=effort, effort_default=default
    )
    assert (found or {}).get("thinkingConfig") == sent


def test_a_model_whose_default_is_unknown_is_asked_for_its_thinking_all_the_same() -> None:
    assert config(BASE, reasons=True) == {"thinkingConfig": {"includeThoughts": True}}
    quiet = STUDIO.but(thinking_summary=False)
    assert config(BASE, reasons=True, profile=quiet) is None


@pytest.mark.parametrize(("limit", "budget"), [(None, 16384), (4096, 3072), (100, 512)])
def test_a_budget_leaves_room_for_the_answer(limit: int | None, budget: int) -> None:
    profile = STUDIO.but(effort_form="gemini_budget")
    found = config(replace(BASE, max_output=limit), profile=profile, effort="high")
    assert found["thinkingConfig"]["thinkingBudget"] == budget


def test_words_of_the_profile_replace_the_usual_ones() -> None:
    words = STUDIO.but(effort_words=(("low", "minimal"),))
    assert config(BASE, profile=words, effort="low")["thinkingConfig"]["thinkingLevel"] == "MINIMAL"
    budget = STUDIO.but(effort_form="gemini_budget", effort_words=(("low", "700"),))
    assert config(BASE, profile=budget, effort="low")["thinkingConfig"]["thinkingBudget"] == 700


def test_the_limit_is_held_at_the_models_most() -> None:
    body, written = out(replace(BASE, max_output=90), max_output=50)
    assert body["generationConfig"] == {"maxOutputTokens": 50}
    assert written.dropped == ("max_completion_tokens",)


def test_sampling_is_held_or_dropped_as_the_model_wants_it() -> None:
    asked = replace(BASE, temperature=2.0, top_p=0.5, extra={"top_k": 40})
    assert config(asked) == {"temperature": 2.0, "topP": 0.5, "topK": 40}
    profile = STUDIO.but(temperature_max=1.0, refuses=frozenset({"top_p", "top_k"}))
    body, written = out(asked, profile=profile)
    assert body["generationConfig"] == {"temperature": 1.0}
    assert written.dropped == ("temperature", "top_p", "top_k")


def test_stops_beyond_what_is_taken_are_left_to_the_gateway() -> None:
    asked = replace(BASE, stop=("a", "b", "c"))
    body, written = out(asked, profile=STUDIO.but(stop_limit=2))
    assert (body["generationConfig"], written.stop) == ({"stopSequences": ["a", "b"]}, ("c",))
    body, written = out(asked, profile=STUDIO.but(refuses=frozenset({"stop"})))
    assert ("generationConfig" in body, written.stop) == (False, ("a", "b", "c"))


def test_more_answers_than_one_are_refused_where_the_model_gives_one() -> None:
    with pytest.raises(Refused) as refused:
        out(replace(BASE, n=2), profile=STUDIO.but(refuses=frozenset({"n"})))
    assert refused.value.problem.param == "n"


@pytest.mark.parametrize(
    ("choice", "strict", "sent"),
    [
        (None, None, None),
        (None, True, {"mode": "VALIDATED"}),
        (ToolChoice("auto"), None, {"mode": "AUTO"}),
        (ToolChoice("auto"), True, {"mode": "VALIDATED"}),
        (ToolChoice("none"), True, {"mode": "NONE"}),
        (ToolChoice("required"), True, {"mode": "ANY"}),
        (ToolChoice("named", "9"), None, {"mode": "ANY", "allowedFunctionNames": ["_9_hRWDn5m3"]}),
    ],
)
def test_the_choice_among_tools(choice: ToolChoice | None, strict: bool | None, sent: Any) -> None:
    tools = (replace(TOOL, strict=strict), Tool("9"))
    body, written = out(replace(BASE, tools=tools, tool_choice=choice))
    found = body.get("toolConfig", {}).get("functionCallingConfig")
    if sent and "allowedFunctionNames" in sent:
        (new,) = written.tool_names
        sent = {**sent, "allowedFunctionNames": [new]}
    assert found == sent
    assert list(written.tool_names.values()) == ["9"]


@pytest.mark.parametrize(
    ("parameters", "kept"),
    [
        (None, False),
        ({}, False),
        ({"type": "object", "properties": {}}, False),
        ({"type": "object", "additionalProperties": {"type": "string"}}, True),
        ({"type": "object", "$ref": "#/x"}, True),
        (TOOL.parameters, True),
    ],
)
def test_a_function_without_arguments_has_no_schema(parameters: Any, kept: bool) -> None:
    body, _ = out(replace(BASE, tools=(Tool("f", None, parameters),)))
    (function,) = body["tools"][0]["functionDeclarations"]
    assert ("parametersJsonSchema" in function) == kept
    assert "description" not in function


SCHEMA = AnswerFormat("json_schema", "n", {"$schema": "x", "type": "object"})


@pytest.mark.parametrize(
    ("wanted", "quirks", "sent", "line"),
    [
        (SCHEMA, {}, {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}}, ""),
        (AnswerFormat("json_object"), {}, {"responseMimeType": "application/json"}, ""),
        (SCHEMA, {"json_schema": "object"}, {"responseMimeType": "application/json"}, "match this JSON schema"),
        (SCHEMA, {"schema_with_tools": False}, None, "match this JSON schema"),
        (AnswerFormat("json_object"), {"json_schema": "none"}, None, "one JSON object"),
    ],
)  # fmt: skip
def test_answer_formats_are_native_or_asked_for_in_words(
    wanted: AnswerFormat, quirks: dict[str, Any], sent: Any, line: str
) -> None:
    asked = replace(BASE, answer_format=wanted, tools=(TOOL,))
    body, written = out(asked, profile=STUDIO.but(**quirks))
    assert body.get("generationConfig") == sent
    last = body["contents"][-1]["parts"][-1]["text"]
    assert (line in last) and (last == "Hi") == (not line)
    assert written.json_text == bool(line)
    assert ("response_format" in written.dropped) == bool(line)


@pytest.mark.parametrize(
    ("tier", "allowed", "sent"),
    [("flex", True, "flex"), ("default", True, "standard"), ("flex", False, None), ("odd", True, None)],
)  # fmt: skip
def test_a_tier_passes_where_it_is_allowed(tier: str, allowed: bool, sent: str | None) -> None:
    allows = frozenset({"service_tier"} if allowed else ())
    body, written = out(replace(BASE, service_tier=tier), allows=allows)
    assert body.get("serviceTier") == sent
    assert written.dropped == (() if sent else ("service_tier",))


def test_safety_settings_pass() -> None:
    settings = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]
    body, written = out(replace(BASE, extra={"safety_settings": settings}))
    assert (body["safetySettings"], written.dropped) == (settings, ())


def test_a_turn_to_go_on_with_is_refused_where_the_model_takes_none() -> None:
    asked = replace(BASE, turns=(USER, Turn("assistant", (Text("I"),))))
    assert out(asked)[0]["contents"][-1]["role"] == "model"
    with pytest.raises(Refused):
        out(asked, profile=STUDIO.but(prefill=False))


def test_the_same_request_gives_the_same_bytes() -> None:
    asked = replace(BASE, tools=(TOOL,), temperature=1.0, extra={"top_k": 1})
    assert out(asked)[1] == out(asked)[1]
