"""Messages callers served by others: the whole way."""

import json
from typing import Any

import pytest

from tests.formats.anthropic.made import context
from tests.formats.anthropic.test_writer import message
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import Target
from zurelay.formats.registry import exchange, front

CHAT = exchange("anthropic", "openai_chat")
STRICT = Target("m", "up-m", Profile())


def sent(target: Target = STRICT, **fields: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    body = {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi"}],
        **fields,
    }
    out = CHAT.write(front("anthropic").read(json.dumps(body).encode()), target)
    return json.loads(out.body), out.dropped


def test_pictures_in_results_follow_after_the_last_result() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AA"},
    }
    body, _ = sent(
        messages=[
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "toolu_1", "name": "shot", "input": {}},
                    {"type": "tool_use", "id": "toolu_2", "name": "ls", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "content": [{"type": "text", "text": "done"}, picture],
                    },
                    {"type": "tool_result", "tool_use_id": "toolu_2", "content": "a b"},
                ],
            },
        ]
    )
    roles = [m["role"] for m in body["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    assert [m["content"] for m in body["messages"][2:4]] == ["done", "a b"]
    assert body["messages"][4]["content"][0]["image_url"]["url"] == "data:image/png;base64,AA"


def test_a_proof_of_the_text_stands_before_it_and_goes_back_on_it() -> None:
    gemini = exchange("anthropic", "gemini")
    google = Profile(realm="google-ai-studio")
    said = [
        {"text": "Hm", "thought": True},
        {"text": "The "},
        {"text": "end.", "thoughtSignature": "SIG"},
    ]
    candidate = {"content": {"role": "model", "parts": said}, "finishReason": "STOP"}
    raw = json.dumps({"candidates": [candidate]}).encode()
    body = json.loads(gemini.whole(raw, context(profile=google)).body)
    assert [block["type"] for block in body["content"]] == ["thinking", "text"]
    asked = {
        "model": "m",
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": body["content"]},
            {"role": "user", "content": "On"},
        ],
    }
    inbound = front("anthropic").read(json.dumps(asked).encode())
    back = json.loads(gemini.write(inbound, Target("m", "up", google)).body)
    assert back["contents"][1]["parts"] == [{"text": "The end.", "thoughtSignature": "SIG"}]


def test_no_breakpoint_reaches_an_upstream_that_does_not_know_it() -> None:
    cached = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    body, _ = sent(
        system=[{"type": "text", "text": "S", **cached}],
        tools=[{"name": "f", "input_schema": {"type": "object", "properties": {}}, **cached}],
        messages=[{"role": "user", "content": [{"type": "text", "text": "hi", **cached}]}],
    )
    assert "cache_control" not in json.dumps(body)
    assert body["messages"][0]["content"] == "S"


def test_thinking_is_never_shown_as_words_and_errors_are_seen() -> None:
    other = Profile(reasoning_in="reasoning_content", realm="deepseek")
    body, _ = sent(
        Target("m", "m", other),
        messages=[
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "T", "signature": "SIG"},
                    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "content": "r",
                        "is_error": True,
                    }
                ],
            },
        ],
    )
    turn, result = body["messages"][1:]
    assert turn["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}
    assert not turn.get("content")
    assert "reasoning_content" not in turn
    assert "Error" in result["content"]


def test_thinking_goes_back_to_models_that_want_it() -> None:
    profile = Profile(reasoning_in="reasoning_content", realm="deepseek")
    target = Target("m", "m", profile)
    answer = json.dumps(
        {
            "choices": [
                {
                    "message": {
                        "reasoning_content": "R1",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "c",
                                "type": "function",
                                "function": {"name": "f", "arguments": "{}"},
                            }
                        ],
                    },
                    "finish_reason": "tool_calls",
                }
            ]
        }
    ).encode()
    content = json.loads(CHAT.whole(answer, context(profile=profile)).body)["content"]
    assert [block["type"] for block in content] == ["thinking", "tool_use"]
    assert content[0]["signature"]
    body, _ = sent(
        target,
        messages=[
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": content},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}],
            },
        ],
    )
    assert body["messages"][1]["reasoning_content"] == "R1"
    elsewhere = Target("m", "m", Profile(reasoning_in="reasoning_content", realm="zai"))
    body, _ = sent(
        elsewhere, messages=[*HI, {"role": "assistant", "content": [content[0], SAID]}, *HI]
    )
    assert "reasoning_content" not in body["messages"][1]


HI: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]
SAID = {"type": "text", "text": "x"}
TOOL = {"name": "f", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("asked", "name", "value"),
    [
        ({"stop_sequences": ["STOP"]}, "stop", ["STOP"]),
        ({"tools": [TOOL], "tool_choice": {"type": "any"}}, "tool_choice", "required"),
        ({"tools": [TOOL], "tool_choice": {"type": "none"}}, "tool_choice", "none"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "f"}},
            "tool_choice",
            {"type": "function", "function": {"name": "f"}},
        ),
        (
            {"tools": [TOOL], "tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
            "parallel_tool_calls",
            False,
        ),
        ({"temperature": 0.3}, "temperature", 0.3),
        ({"max_tokens": 50}, "max_tokens", 50),
    ],
)
def test_options(asked: dict[str, Any], name: str, value: Any) -> None:
    body, _ = sent(**asked)
    assert body[name] == value


def test_more_stop_sequences_than_are_taken_are_cut_here() -> None:
    raw = json.dumps(
        {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "x"}],
            "stop_sequences": ["a", "b", "c", "d", "e"],
        }
    ).encode()
    out = CHAT.write(front("anthropic").read(raw), STRICT)
    assert json.loads(out.body)["stop"] == ["a", "b", "c", "d"]
    assert out.stop == ("e",)


def test_a_stop_that_is_matched_here_is_named() -> None:
    stream = CHAT.stream(context(stop=("END",)))
    chunk = {"choices": [{"index": 0, "delta": {"content": "one END two"}, "finish_reason": None}]}
    out = stream.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n").out
    found = message(out + stream.finale(Usage(input=1, output=1), b""))
    assert found["content"] == [{"type": "text", "text": "one "}]
    assert (found["stop_reason"], found["stop_sequence"]) == ("stop_sequence", "END")


def test_what_others_do_not_know_is_named() -> None:
    _, dropped = sent(top_k=5, speed="fast", made_up=1)
    assert set(dropped) == {"top_k", "speed", "unknown_fields"}


def test_what_is_dropped_is_named_in_the_callers_words() -> None:
    form = {"type": "json_schema", "schema": {"type": "object"}}
    target = Target("m", "m", Profile(json_schema="none", strict_tools=False), max_output=50)
    _, dropped = sent(
        target, output_config={"format": form}, tools=[{**TOOL, "strict": True}], max_tokens=99
    )
    assert set(dropped) == {"output_config.format", "tools[].strict", "max_tokens"}


PROBES: dict[str, Any] = {
    "system": "S",
    "messages": [{"role": "user", "content": "Other"}],
    "max_tokens": 50,
    "temperature": 0.3,
    "top_p": 0.4,
    "top_k": 7,
    "stop_sequences": ["Z"],
    "tools": [TOOL],
    "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    "service_tier": "auto",
    "speed": "fast",
    "inference_geo": "us",
    "container": "c",
    "mcp_servers": [],
    "context_management": {},
    "cache_control": {"type": "ephemeral"},
    "never_heard_of": 1,
}


@pytest.mark.parametrize("back", ["openai_chat", "anthropic"])
@pytest.mark.parametrize("name", PROBES)
def test_each_field_alone_moves_the_body_or_is_named_as_dropped(name: str, back: str) -> None:
    """`metadata`, `models` and the like stay here and are none of the format's business."""

    def out(**fields: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
        body = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}
        read = front("anthropic").read(json.dumps(body | fields).encode())
        written = exchange("anthropic", back).write(read, STRICT)
        return json.loads(written.body), written.dropped

    body, dropped = out(**{name: PROBES[name]})
    assert (body != out()[0]) != bool({name, "unknown_fields"} & set(dropped))


def test_a_plain_answer() -> None:
    answer = {
        "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 5000,
            "completion_tokens": 40,
            "total_tokens": 5040,
            "prompt_tokens_details": {"cached_tokens": 4000},
        },
    }
    body = json.loads(CHAT.whole(json.dumps(answer).encode(), context()).body)
    assert body["content"] == [{"type": "text", "text": "Hello"}]
    assert (body["type"], body["role"], body["stop_reason"]) == ("message", "assistant", "end_turn")
    assert body["usage"] == {
        "input_tokens": 1000,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 4000,
        "output_tokens": 40,
    }


def test_a_call_with_finish_reason_stop_is_a_call() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    answer = {
        "choices": [{"message": {"content": "", "tool_calls": [call]}, "finish_reason": "stop"}]
    }
    body = json.loads(CHAT.whole(json.dumps(answer).encode(), context()).body)
    assert body["stop_reason"] == "tool_use"
    assert body["content"] == [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]
