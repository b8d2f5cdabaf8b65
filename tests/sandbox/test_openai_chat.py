import json
from typing import Any

import pytest

from tests.sandbox.playing import play
from zurelay.chat.problems import Problem, Refused
from zurelay.chat.request import AnswerFormat, Tool, ToolChoice
from zurelay.chat.usage import Usage
from zurelay.sandbox.base import Identity
from zurelay.sandbox.draft import Ask
from zurelay.sandbox.openai_chat import OpenAIChat, usage_object

USER = {"role": "user", "content": "Hello there"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
    for name in ("get_weather", "get_time")
]


def read(**fields: Any) -> Ask:
    body = {"model": "sandbox/echo", "messages": [USER], **fields}
    return OpenAIChat().read(json.dumps(body).encode())


def refused(body: bytes) -> Problem:
    with pytest.raises(Refused) as caught:
        OpenAIChat().read(body)
    return caught.value.problem


def fold(events: list[Any]) -> dict[str, Any]:
    """What a client puts together from a stream's chunks, for choice 0."""
    told: dict[str, Any] = {"content": "", "reasoning": "", "refusal": "", "calls": {}}
    for chunk in events[:-1]:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            told["content"] += delta.get("content") or ""
            told["reasoning"] += delta.get("reasoning_content") or ""
            told["refusal"] += delta.get("refusal") or ""
            for call in delta.get("tool_calls", ()):
                known = told["calls"].setdefault(call["index"], {"arguments": ""})
                known["arguments"] += call["function"]["arguments"]
                known.update({key: call[key] for key in ("id", "type") if key in call})
                if "name" in call["function"]:
                    known["name"] = call["function"]["name"]
            if choice["finish_reason"]:
                assert "finish" not in told
                told["finish"] = choice["finish_reason"]
    return told


# -- reading ---------------------------------------------------------------------------------------


def test_fields_are_read() -> None:
    ask = read(
        stream=True,
        stream_options={"include_usage": True},
        max_completion_tokens=5,
        n=2,
        stop=["a", "b"],
        tools=TOOLS[:1],
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
        parallel_tool_calls=False,
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"a": 1}}},
        reasoning_effort="low",
        something_else={"ignored": True},
    )
    request = ask.request
    assert (ask.model, ask.stream, ask.include_usage) == ("sandbox/echo", True, True)
    assert (request.max_output, request.n, request.stop) == (5, 2, ("a", "b"))
    schema = TOOLS[0]["function"]["parameters"]  # type: ignore[index]
    assert request.tools == (Tool("get_weather", None, schema, None),)
    assert request.tool_choice == ToolChoice("named", "get_weather")
    assert request.parallel_tool_calls is False
    assert request.answer_format == AnswerFormat("json_schema", "x", {"a": 1})
    assert request.effort == "low"


def test_fields_left_out_or_null_have_their_defaults() -> None:
    empty = {"stream": None, "n": None, "stop": None, "tools": None, "max_tokens": None}
    assert read(**empty) == read()
    assert (read().stream, read().include_usage, read().request.n) == (False, False, 1)


def test_the_older_name_of_the_limit_is_taken_too() -> None:
    assert read(max_tokens=7).request.max_output == 7
    assert read(stop="x").request.stop == ("x",)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
    ],
)
def test_tool_choices_are_read(choice: str, expected: ToolChoice) -> None:
    assert read(tools=TOOLS, tool_choice=choice).request.tool_choice == expected


def test_of_allowed_tools_only_those_can_be_called() -> None:
    allowed = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "get_time"}}]}
    ask = read(tools=TOOLS, tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
    assert [tool.name for tool in ask.request.tools] == ["get_time"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": 3}, "model"),
        ({"model": None}, "model"),
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"stream": "yes"}, "stream"),
        ({"n": 0}, "n"),
        ({"n": 129}, "n"),
        ({"max_tokens": -1}, "max_completion_tokens"),
        ({"tool_choice": "maybe"}, "tool_choice"),
        ({"tool_choice": {"type": "function"}}, "tool_choice"),
        ({"response_format": {"type": "yaml"}}, "response_format"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
    ],
)
def test_a_bad_field_is_named(fields: dict[str, Any], param: str) -> None:
    body = {"model": "sandbox/echo", "messages": [USER], **fields}
    problem = refused(json.dumps(body).encode())
    assert (problem.status, problem.param) == (400, param)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"\xff", b'{"model": "\\ud800"}', b"[" * 5000]
)
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    problem = refused(body)
    assert (problem.status, problem.code) == (400, "invalid_json")


# -- writing ---------------------------------------------------------------------------------------


def test_a_plain_answer_has_the_shape_of_openai() -> None:
    heard = play("sandbox/echo")
    assert (heard.status, heard.ended) == (200, True)
    assert heard.headers["content-type"] == "application/json"
    assert heard.headers["content-length"] == str(len(heard.body))
    answer = heard.json
    assert answer["id"].startswith("chatcmpl-")
    assert (answer["object"], answer["created"]) == ("chat.completion", 1_795_000_000)
    assert answer["model"] == "sandbox/echo"
    assert answer["choices"] == [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Hello there",
                "refusal": None,
                "annotations": [],
            },
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    usage = answer["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (6, 2, 8)


def test_a_stream_comes_in_the_order_clients_rely_on() -> None:
    heard = play("sandbox/echo", stream=True, stream_options={"include_usage": True})
    assert heard.headers["content-type"] == "text/event-stream; charset=utf-8"
    *chunks, usage, done = heard.events
    assert done == "[DONE]"
    assert [chunk["choices"][0]["delta"] for chunk in chunks] == [
        {"role": "assistant", "content": "", "refusal": None},
        {"content": "Hello"},
        {"content": " there"},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, None, "stop"]
    assert {chunk["usage"] for chunk in chunks} == {None}
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 8)
    every = [*chunks, usage]
    assert {chunk["object"] for chunk in every} == {"chat.completion.chunk"}
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in every}) == 1


def test_without_include_usage_no_chunk_speaks_of_usage() -> None:
    events = play("sandbox/echo", stream=True).events
    assert all("usage" not in chunk for chunk in events[:-1])
    assert events[-2]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("sandbox/echo", {}),
        ("sandbox/echo", {"max_tokens": 1}),
        ("sandbox/lorem?tokens=20&tps=100", {"stop": "dolor"}),
        ("sandbox/reasoning", {"reasoning_effort": "low"}),
        ("sandbox/reasoning", {"reasoning_effort": "none"}),
        ("sandbox/tools", {"tools": TOOLS}),
        ("sandbox/tools", {}),
        ("sandbox/json", {"response_format": {"type": "json_object"}}),
        ("sandbox/slow?first=1", {}),
        ("sandbox/refusal", {}),
        ("sandbox/usage", {}),
    ],
)
def test_a_stream_folds_to_the_plain_answer(model: str, fields: dict[str, Any]) -> None:
    plain = play(model, **fields).json
    heard = play(model, stream=True, stream_options={"include_usage": True}, **fields)
    folded = fold(heard.events)
    choice = plain["choices"][0]
    message = choice["message"]
    assert folded["content"] == (message["content"] or "")
    assert folded["reasoning"] == message.get("reasoning_content", "")
    assert folded["refusal"] == (message["refusal"] or "")
    assert folded["finish"] == choice["finish_reason"]
    assert [
        (call["id"], call["type"], call["name"], call["arguments"])
        for call in folded["calls"].values()
    ] == [
        (call["id"], call["type"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls", [])
    ]
    assert heard.events[-2]["usage"] == plain["usage"]


def test_tool_calls_have_null_content_and_open_once() -> None:
    message = play("sandbox/tools", tools=TOOLS).json["choices"][0]["message"]
    assert message["content"] is None
    assert [call["function"]["name"] for call in message["tool_calls"]] == [
        "get_weather",
        "get_time",
    ]
    first, second, *_ = play("sandbox/tools", tools=TOOLS, stream=True).events
    assert first["choices"][0]["delta"]["content"] is None
    assert second["choices"][0]["delta"]["tool_calls"][0]["function"] == {
        "name": "get_weather",
        "arguments": "",
    }


def test_choices_stream_side_by_side() -> None:
    events = play("sandbox/echo", stream=True, n=2).events[:-1]
    seen = [(chunk["choices"][0]["index"], chunk["choices"][0]["delta"]) for chunk in events]
    assert [index for index, _ in seen] == [0, 1] * 4
    assert seen[2] == (0, {"content": "Hello"})
    assert len(play("sandbox/echo", n=3).json["choices"]) == 3


def test_an_error_event_is_not_followed_by_an_end_mark() -> None:
    heard = play("sandbox/error?after=2&status=500", stream=True)
    assert heard.ended
    assert heard.events[-1]["error"]["type"] == "server_error"
    assert fold(heard.events)["content"] == "Lorem ipsum"


def test_usage_includes_cache_reads_and_writes_in_the_prompt() -> None:
    told = usage_object(Usage(input=150, cached_input=800, cache_write=50, output=60, reasoning=20))
    assert told["prompt_tokens"] == 1000
    assert told["prompt_tokens_details"] == {
        "cached_tokens": 800,
        "audio_tokens": 0,
        "cache_write_tokens": 50,
    }
    assert told["completion_tokens"] == 60
    assert told["completion_tokens_details"]["reasoning_tokens"] == 20
    assert told["total_tokens"] == 1060


def test_an_error_body_has_the_four_fields() -> None:
    body = OpenAIChat().problem(Problem(400, "t", "c", "m", "p"), Identity("s", 0))
    assert json.loads(body) == {"error": {"message": "m", "type": "t", "param": "p", "code": "c"}}
