"""A Converse request from the neutral form, held to AWS's own service model."""

import json
from typing import Any

import pytest

from tests.formats.converse.bedrock import BUDGET, CLAUDE, PLAIN, faults
from zurelay.chat.parts import Image, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.problems import Refused
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice, Turn
from zurelay.formats.base import Outbound, Target
from zurelay.formats.converse.request import DROPS, path, write

USER = Turn("user", (Text("Hi"),))
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}}


def out(request: Request, **target: Any) -> tuple[Any, Outbound]:
    written = write(request, Target("public", "a.b-v1:0", **{"profile": PLAIN, **target}))
    body = json.loads(written.body)
    assert faults(body) == ""
    return body, written


def test_the_least_request_holds_the_message_alone() -> None:
    body, written = out(Request((USER,)))
    assert body == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    assert written.path == "/model/a.b-v1%3A0/converse"
    assert out(Request((USER,)), stream=True)[1].path == "/model/a.b-v1%3A0/converse-stream"


def test_an_arn_is_one_segment_of_the_path() -> None:
    arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x.y"
    found = path(Target("p", arn, PLAIN), "converse")
    assert found.count("/") == 3
    assert found.endswith("%3Aapplication-inference-profile%2Fx.y/converse")


FIELDS: dict[str, Any] = {
    "max_output": 50,
    "temperature": 0.5,
    "top_p": 0.9,
    "stop": ("x",),
    "tools": (Tool("f"),),
    "answer_format": AnswerFormat("json_schema", "n", SCHEMA),
    "effort": "low",
    "seed": 1,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.1,
    "logit_bias": {"5": 1.0},
    "logprobs": True,
    "top_logprobs": 2,
    "verbosity": "low",
    "prompt_cache_key": "k",
    "service_tier": "flex",
    "parallel_tool_calls": False,
    "extra": {"top_k": 5},
}


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("profile", [PLAIN, CLAUDE, BUDGET], ids=["plain", "claude", "budget"])
def test_every_field_alone_is_written_or_named_as_dropped(name: str, profile: Any) -> None:
    effort = FIELDS["effort"] if name == "effort" else None
    tools = (Tool("f"),) if name == "parallel_tool_calls" else ()
    base, _ = out(Request((USER,), tools=tools), profile=profile)
    request = Request((USER,), **{"tools": tools, name: FIELDS[name]})
    body, written = out(request, profile=profile, effort=effort)
    assert (body != base) != bool(written.dropped), (body, written.dropped)
    assert (name in written.dropped) or name not in DROPS


def test_inference_settings_have_their_own_table() -> None:
    request = Request((USER,), max_output=50, temperature=1.5, top_p=0.9, stop=("a", " ", "b"))
    body, written = out(request, max_output=20)
    assert body["inferenceConfig"] == {
        "maxTokens": 20,
        "temperature": 1.0,
        "topP": 0.9,
        "stopSequences": ["a", "b"],
    }
    assert written.dropped == ("max_tokens", "temperature")
    # Blank sequences are refused there: the gateway cuts at them itself.
    assert written.stop == (" ",)


def test_stops_beyond_the_limit_are_cut_here() -> None:
    _, written = out(Request((USER,), stop=("a", "b", "c")), profile=PLAIN.but(stop_limit=2))
    assert written.stop == ("c",)


@pytest.mark.parametrize(
    ("effort", "fields"),
    [
        (None, {"thinking": {"type": "adaptive", "display": "summarized"}}),
        ("none", {"thinking": {"type": "disabled"}}),
        (
            "xhigh",
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "xhigh"},
            },
        ),
    ],
)
def test_claude_is_asked_for_thinking_in_its_own_words(effort: str | None, fields: Any) -> None:
    body, written = out(Request((USER,)), profile=CLAUDE, effort=effort)
    assert body["additionalModelRequestFields"] == fields
    assert body["inferenceConfig"]["maxTokens"] == (8192 if effort == "none" else 32768)
    assert written.dropped == ()


def test_claude_with_a_budget_thinks_inside_the_limit() -> None:
    body, written = out(Request((USER,), max_output=4096), profile=BUDGET, effort="high")
    thinking = body["additionalModelRequestFields"]["thinking"]
    assert thinking["type"] == "enabled"
    assert 1024 <= thinking["budget_tokens"] < 4096
    assert (written.effort, written.dropped) == (None, ())


CALLING = (
    USER,
    Turn("assistant", (ToolCall("c", "f", "{}"),)),
    Turn("user", (ToolResult("c", (Text("r"),)),)),
)


@pytest.mark.parametrize(
    "request_",
    [
        Request((USER,), max_output=2047),
        Request((USER,), tools=(Tool("f"),), tool_choice=ToolChoice("required")),
        Request(CALLING, tools=(Tool("f"),)),
    ],
    ids=["small", "forced", "lost"],
)
def test_a_budget_that_would_be_refused_goes_off_and_is_reported(request_: Request) -> None:
    body, written = out(request_, profile=BUDGET, effort="high")
    assert "additionalModelRequestFields" not in body
    assert (written.effort, written.dropped) == ("none", ("reasoning_effort",))


def test_a_budget_stays_where_the_calls_thinking_came_back() -> None:
    thought = Thinking("hm", "SIG", "anthropic/messages")
    turns = (USER, Turn("assistant", (thought, ToolCall("c", "f", "{}"))), CALLING[2])
    body, written = out(Request(turns, tools=(Tool("f"),)), profile=BUDGET, effort="low")
    assert body["additionalModelRequestFields"]["thinking"]["type"] == "enabled"
    assert written.effort is None


@pytest.mark.parametrize(("form", "sent"), [("reasoning_effort", {"reasoning_effort": "low"}), ("nothing", None)])  # fmt: skip
def test_other_models_take_the_effort_word(form: Any, sent: Any) -> None:
    body, _ = out(Request((USER,)), profile=PLAIN.but(effort_form=form), effort="low")
    assert body.get("additionalModelRequestFields") == sent


def test_claude_takes_one_sampling_field_and_none_while_it_thinks() -> None:
    request = Request((USER,), temperature=0.5, top_p=0.9, extra={"top_k": 5, "zeta": 1})
    body, written = out(request, profile=BUDGET)
    assert body["inferenceConfig"] == {"maxTokens": 8192, "temperature": 0.5}
    assert body["additionalModelRequestFields"] == {"top_k": 5}
    assert written.dropped == ("top_p", "unknown_fields")
    _, written = out(request, profile=BUDGET, effort="low")
    assert written.dropped == ("temperature", "top_p", "top_k", "unknown_fields")


def test_a_schema_is_sent_as_text_in_the_subset() -> None:
    wanted = AnswerFormat("json_schema", "answer", SCHEMA, "what it is")
    body, written = out(Request((USER,), answer_format=wanted))
    told = body["outputConfig"]["textFormat"]
    definition = told["structure"]["jsonSchema"]
    assert (told["type"], definition["name"], definition["description"]) == (
        "json_schema",
        "answer",
        "what it is",
    )
    assert json.loads(definition["schema"]) == {
        "type": "object",
        "properties": {"a": {"type": "integer", "description": "minimum: 3"}},
        "additionalProperties": False,
    }
    assert (written.dropped, written.json_text) == ((), False)


@pytest.mark.parametrize("kind", ["json_object", "json_schema"])
def test_json_without_a_mode_is_asked_for_in_words_that_go_last(kind: Any) -> None:
    profile = PLAIN.but(json_schema="none", forced_tools="never")
    wanted = AnswerFormat(kind, "n", SCHEMA if kind == "json_schema" else None)
    body, written = out(Request((USER,), answer_format=wanted), profile=profile)
    line = body["messages"][-1]["content"][-1]["text"]
    assert line.startswith("<system>Answer with")
    assert ('"minimum":3' in line) == (kind == "json_schema")
    assert written.json_text
    assert written.dropped == (("response_format",) if kind == "json_schema" else ())


@pytest.mark.parametrize(
    ("allows", "tier", "sent", "dropped"),
    [
        (frozenset({"service_tier"}), "flex", {"type": "flex"}, ()),
        (frozenset({"service_tier"}), "auto", None, ("service_tier",)),
        (frozenset(), "flex", None, ("service_tier",)),
    ],
)
def test_a_tier_passes_where_it_is_priced(
    allows: Any, tier: str, sent: Any, dropped: tuple[str, ...]
) -> None:
    body, written = out(Request((USER,), service_tier=tier), allows=allows)
    assert (body.get("serviceTier"), written.dropped) == (sent, dropped)


def test_several_answers_are_refused() -> None:
    with pytest.raises(Refused) as refused:
        out(Request((USER,), n=2))
    assert refused.value.problem.param == "n"


def test_a_longer_conversation_starts_with_the_bytes_of_the_shorter_one() -> None:
    turns = (
        Turn("system", (Text("S", "1h"),)),
        Turn("user", (Text("look"), Image(data="iVBORw0KGgo=", media_type="image/png"))),
        Turn("assistant", (Thinking("hm", "S", "anthropic/messages"), ToolCall("c", "f", '{"a":1}'))),
        Turn("user", (ToolResult("c", (Text("r"),)),)),
        Turn("assistant", (Text("done"),)),
        Turn("user", (Text("more"),)),
    )  # fmt: skip
    tools = (Tool("f"),)
    before: list[Any] = []
    for length in (2, 4, 6):
        body, _ = out(Request(turns[:length], tools=tools), profile=CLAUDE, effort="low")
        messages = [json.dumps(each) for each in body["messages"]]
        assert messages[: len(before)] == before
        before = messages


def test_novas_highest_effort_stands_alone_and_gives_way_to_a_limit() -> None:
    nova = "us.amazon.nova-2-lite-v1:0"
    free = Request((USER,), temperature=0.5, top_p=0.9)
    written = write(free, Target("p", nova, PLAIN, effort="max"))
    body = json.loads(written.body)
    assert "inferenceConfig" not in body
    assert body["additionalModelRequestFields"]["reasoningConfig"]["maxReasoningEffort"] == "high"
    assert (written.effort, written.dropped) == (None, ("temperature", "top_p"))
    limited = Request((USER,), temperature=0.5, max_output=50)
    written = write(limited, Target("p", nova, PLAIN, effort="high"))
    body = json.loads(written.body)
    assert body["inferenceConfig"] == {"maxTokens": 50, "temperature": 0.5}
    assert body["additionalModelRequestFields"]["reasoningConfig"]["maxReasoningEffort"] == "medium"
    assert (written.effort, written.dropped) == ("medium", ("reasoning_effort",))


def test_a_call_asked_for_in_words_is_told_to_who_reads_the_answer() -> None:
    forced = Request((USER,), tools=(Tool("f"),), tool_choice=ToolChoice("required"))
    assert out(forced, profile=PLAIN.but(forced_tools="never"))[1].must_call
    assert not out(forced, profile=PLAIN)[1].must_call


RECURSIVE = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}},
}


def test_a_schema_that_refers_to_itself_is_asked_for_in_words() -> None:
    wanted = AnswerFormat("json_schema", "n", RECURSIVE)
    profile = PLAIN.but(forced_tools="never")
    body, written = out(Request((USER,), answer_format=wanted), profile=profile)
    assert "outputConfig" not in body
    assert (written.json_text, written.dropped) == (True, ("response_format",))


def test_a_tool_whose_schema_refers_to_itself_is_not_strict() -> None:
    body, _ = out(Request((USER,), tools=(Tool("f", None, RECURSIVE, strict=True),)))
    spec = body["toolConfig"]["tools"][0]["toolSpec"]
    assert "strict" not in spec
    assert spec["inputSchema"]["json"] == RECURSIVE


@pytest.mark.parametrize(
    ("model", "profile", "marked"),
    [
        ("us.anthropic.claude-x", PLAIN, True),
        ("amazon.nova-2-lite-v1:0", PLAIN, True),
        ("arn:x", CLAUDE, True),
        ("openai.gpt-oss-20b-1:0", PLAIN, False),
    ],
)
def test_results_say_that_they_failed_where_the_model_knows_the_word(
    model: str, profile: Any, marked: bool
) -> None:
    turns = (*CALLING[:2], Turn("user", (ToolResult("c", (Text("r"),), is_error=True),)))
    written = write(Request(turns, tools=(Tool("f"),)), Target("p", model, profile))
    result = json.loads(written.body)["messages"][2]["content"][0]["toolResult"]
    assert (result.get("status") == "error") == marked
    assert (result["content"][0] == {"text": "Error:"}) != marked
