"""A Responses request from the neutral form."""

import json
from typing import Any

import pytest

from zurelay.chat.parts import Audio, File, Image, Text, Thinking, ToolCall, ToolResult, Video
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice, Turn
from zurelay.formats.base import Outbound, Target
from zurelay.formats.openai_responses.request import write

USER = Turn("user", (Text("Hi"),))
GPT = Profile(realm="openai", refuses_while_thinking=frozenset({"temperature", "top_p"}))


def out(request: Request, **target: Any) -> tuple[Any, Outbound]:
    written = write(request, Target("public", "upstream", **{"profile": GPT, **target}))
    return json.loads(written.body), written


def test_every_request_is_stateless() -> None:
    body, written = out(Request((USER,)))
    assert written.path == "/responses"
    assert body == {
        "model": "upstream",
        "store": False,
        "input": [{"role": "user", "content": "Hi"}],
    }


@pytest.mark.parametrize(
    ("effort", "default", "reasoning", "included"),
    [
        ("high", "medium", {"effort": "high", "summary": "auto"}, True),
        (None, "medium", {"summary": "auto"}, True),
        ("none", "medium", {"effort": "none"}, False),
        (None, "none", None, False),
        (None, None, None, False),
    ],
)
def test_thinking_is_asked_for_where_the_model_thinks(
    effort: str | None, default: str | None, reasoning: Any, included: bool
) -> None:
    body, _ = out(Request((USER,)), effort=effort, effort_default=default)
    assert body.get("reasoning") == reasoning
    assert (body.get("include") == ["reasoning.encrypted_content"]) == included


def test_a_model_whose_default_is_unknown_is_asked_for_its_thinking_all_the_same() -> None:
    body, _ = out(Request((USER,)), reasons=True)
    assert body["reasoning"] == {"summary": "auto"}


def test_a_summary_is_left_out_where_the_account_may_not_ask() -> None:
    quiet = GPT.but(thinking_summary=False)
    body, _ = out(Request((USER,)), profile=quiet, effort="low")
    assert body["reasoning"] == {"effort": "low"}
    body, _ = out(Request((USER,)), profile=quiet, effort_default="low")
    assert "reasoning" not in body


@pytest.mark.parametrize(("effort", "kept"), [("none", True), ("low", False), (None, False)])
def test_sampling_passes_only_without_thinking(effort: str | None, kept: bool) -> None:
    body, written = out(Request((USER,), temperature=0.5, top_p=0.9), effort=effort)
    assert ("temperature" in body, "top_p" in body) == (kept, kept)
    assert written.dropped == (() if kept else ("temperature", "top_p"))


@pytest.mark.parametrize(("asked", "sent"), [(1, 16), (15, 16), (16, 16), (90, 50), (50, 50)])
def test_the_token_limit_is_held_between_the_formats_least_and_the_models_most(
    asked: int, sent: int
) -> None:
    body, written = out(Request((USER,), max_output=asked), max_output=50)
    assert body["max_output_tokens"] == sent
    assert written.dropped == (() if asked == sent else ("max_completion_tokens",))


def test_what_has_no_place_here_is_told_and_stops_are_left_to_the_gateway() -> None:
    request = Request(
        (USER,),
        seed=1,
        presence_penalty=0.1,
        frequency_penalty=0.1,
        logit_bias={"1": 1},
        logprobs=True,
        top_logprobs=2,
        stop=("END",),
        service_tier="flex",
        extra={"top_k": 5, "X-MARK": 1, "prompt_cache_retention": "24h"},
    )
    body, written = out(request)
    assert set(body) == {"model", "store", "input", "prompt_cache_retention"}
    assert written.stop == ("END",)
    assert written.dropped == (
        "seed", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs",
        "service_tier", "top_k", "unknown_fields",
    )  # fmt: skip


def test_a_tier_passes_where_it_is_allowed() -> None:
    body, written = out(Request((USER,), service_tier="flex"), allows=frozenset({"service_tier"}))
    assert (body["service_tier"], written.dropped) == ("flex", ())


@pytest.mark.parametrize(("ours", "sent"), [(None, "theirs"), ("ours", "ours")])
def test_the_cache_key_is_the_accounts_own(ours: str | None, sent: str) -> None:
    body, _ = out(Request((USER,), prompt_cache_key="theirs"), cache_key=ours)
    assert body["prompt_cache_key"] == sent
    assert "prompt_cache_key" not in out(Request((USER,)), cache_key=ours)[0]


def test_tools_are_flat_and_never_strict_unasked() -> None:
    tools = (Tool("a", "does a", {"type": "object"}), Tool("b", strict=True))
    body, _ = out(Request((USER,), tools=tools, parallel_tool_calls=False))
    assert body["tools"] == [
        {
            "type": "function",
            "name": "a",
            "description": "does a",
            "parameters": {"type": "object"},
            "strict": False,
        },
        {
            "type": "function",
            "name": "b",
            "parameters": {"type": "object", "properties": {}},
            "strict": True,
        },
    ]
    assert body["parallel_tool_calls"] is False
    assert "tool_choice" not in body


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (ToolChoice("auto"), "auto"),
        (ToolChoice("none"), "none"),
        (ToolChoice("required"), "required"),
        (ToolChoice("named", "a"), {"type": "function", "name": "a"}),
    ],
)
def test_the_choice_among_tools(choice: ToolChoice, sent: object) -> None:
    body, written = out(Request((USER,), tools=(Tool("a"),), tool_choice=choice))
    assert (body["tool_choice"], written.dropped) == (sent, ())


@pytest.mark.parametrize(
    ("forcing", "effort", "kept"),
    [("never", "none", False), ("not_thinking", "low", False), ("not_thinking", "none", True)],
)
def test_a_forced_call_becomes_a_line_where_it_is_refused(
    forcing: Any, effort: str, kept: bool
) -> None:
    request = Request((USER,), tools=(Tool("a"),), tool_choice=ToolChoice("named", "a"))
    body, written = out(request, profile=GPT.but(forced_tools=forcing), effort=effort)
    assert written.must_call is not kept
    if kept:
        assert written.dropped == ()
    else:
        assert written.dropped == ("tool_choice",)
        assert body["tool_choice"] == "auto"
        assert body["input"][-1]["role"] == "developer"
        assert "`a`" in body["input"][-1]["content"]


def test_answer_formats_are_flat() -> None:
    schema = AnswerFormat("json_schema", "n", {"type": "object"}, "d", strict=True)
    body, _ = out(Request((USER,), answer_format=schema, verbosity="low"))
    assert body["text"] == {
        "format": {
            "type": "json_schema",
            "name": "n",
            "description": "d",
            "schema": {"type": "object"},
            "strict": True,
        },
        "verbosity": "low",
    }
    body, _ = out(Request((USER,), answer_format=AnswerFormat("json_object")))
    assert body["text"] == {"format": {"type": "json_object"}}


def test_leading_instructions_are_joined_and_later_ones_keep_their_place() -> None:
    turns = (
        Turn("system", (Text("a"),)),
        Turn("developer", (Text("b"), Text("c"))),
        USER,
        Turn("system", (Text("d"),)),
    )
    body, _ = out(Request(turns))
    assert body["instructions"] == "a\n\nb\n\nc"
    assert body["input"] == [
        {"role": "user", "content": "Hi"},
        {"role": "developer", "content": "d"},
    ]


def test_instructions_alone_are_the_input() -> None:
    body, _ = out(Request((Turn("system", (Text("a"),)),)))
    assert "instructions" not in body
    assert body["input"] == [{"role": "developer", "content": "a"}]


def test_results_come_before_what_the_user_says_and_keep_pictures() -> None:
    picture = Image(data="AA", media_type="image/png")
    turn = Turn(
        "user",
        (ToolResult("c1", (Text("1"), Text("2"))), ToolResult("c2", (picture,), is_error=True)),
    )
    body, _ = out(Request((turn, USER)))
    assert body["input"][:2] == [
        {"type": "function_call_output", "call_id": "c1", "output": "1\n\n2"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [
                {"type": "input_text", "text": "Error:"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "auto"},
            ],
        },
    ]


def test_files_have_a_name_an_address_or_an_id() -> None:
    files = (
        File(data="AA", media_type="application/pdf"),
        File(data="AA", media_type="text/csv", filename="t.csv"),
        File(url="https://example.org/a.pdf"),
        File(file_id="file-1"),
    )
    body, _ = out(Request((Turn("user", files),)))
    assert [sorted(part) for part in body["input"][0]["content"]] == [
        ["file_data", "filename", "type"],
        ["file_data", "filename", "type"],
        ["file_url", "type"],
        ["file_id", "type"],
    ]
    assert body["input"][0]["content"][0]["filename"] == "file.pdf"


def test_ids_of_calls_and_results_stay_equal_when_made_legal() -> None:
    long = "tool id " + "x" * 80
    turns = (
        USER,
        Turn("assistant", (ToolCall(long, "f", "{}"),)),
        Turn("user", (ToolResult(long, (Text("1"),)),)),
    )
    call, result = out(Request(turns))[0]["input"][1:]
    assert call["call_id"] == result["call_id"]
    assert len(call["call_id"]) <= 64


def _proof(text: str) -> Thinking:
    return Thinking("", text, "openai/responses", redacted=True)


def test_thinking_stands_before_what_it_led_to() -> None:
    parts = (
        _proof("1"),
        Text("So"),
        _proof("2"),
        ToolCall("a", "f", "{}"),
        ToolCall("b", "f", "{}"),
        _proof("leads to nothing"),
    )
    body, _ = out(Request((USER, Turn("assistant", parts))))
    kinds = [item.get("encrypted_content") or item.get("type") for item in body["input"][1:]]
    assert kinds == ["1", "message", "2", "function_call", "function_call"]


@pytest.mark.parametrize(
    "thinking",
    [
        Thinking("plain"),
        Thinking("", "x", "azure-openai/responses", redacted=True),
        Thinking("t", "x", "anthropic/messages"),
        Thinking("", "x", None, redacted=True),
    ],
)
def test_thinking_of_another_origin_is_dropped_whole(thinking: Thinking) -> None:
    body, _ = out(Request((USER, Turn("assistant", (thinking, Text("b"))))))
    assert [item["role"] for item in body["input"]] == ["user", "assistant"]


@pytest.mark.parametrize("part", [Audio("AA", "wav"), Video("https://example.org/a.mp4")])
def test_sound_and_film_are_refused(part: Any) -> None:
    with pytest.raises(Refused) as refusal:
        out(Request((Turn("user", (part,)),)))
    assert refusal.value.problem.code == "unsupported_content"


def test_several_answers_are_refused() -> None:
    with pytest.raises(Refused) as refusal:
        out(Request((USER,), n=2))
    assert (refusal.value.problem.param, refusal.value.problem.status) == ("n", 400)


def test_names_are_dropped_and_streams_asked_for() -> None:
    body, written = out(Request((Turn("user", (Text("Hi"),), name="bob"),)), stream=True)
    assert written.dropped == ("messages[].name",)
    assert body["stream"] is True
