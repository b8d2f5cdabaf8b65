"""Requests by Messages that broke at other models elsewhere, before upstreams that are strict."""

import base64
import json
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller
from tests.app.strict import CLAUDE, NEWEST, messages
from tests.formats.anthropic import made
from tests.formats.anthropic.test_writer import message
from zurelay.testing.chat import chat_chunk, chat_reply, chat_usage
from zurelay.testing.script import json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(24)).decode()
RESPONSES = "gpt-5.5-pro"
HI: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]


def tool(name: str = "f") -> dict[str, Any]:
    return {"name": name, "input_schema": {"type": "object", "properties": {}}}


def used(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


async def ask(caller: Caller, model: str = "test-model", **fields: Any) -> Answer:
    answer = await messages(caller, model, **{"messages": HI, **fields})
    assert answer.status == 200, answer.body
    return answer


async def test_pictures_in_results_follow_the_last_result(
    caller: Caller, second: ScriptedUpstream
) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    shown = [{"type": "text", "text": "done"}, {"type": "image", "source": source}]
    turns = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [used("toolu_1", "shot"), used("toolu_2", "ls")]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": shown},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "a b"},
            ],
        },
    ]
    await ask(caller, messages=turns, tools=[tool("shot"), tool("ls")])
    sent = second.requests[0].json["messages"]
    assert [turn["role"] for turn in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["toolu_1", "toolu_2"]
    assert [turn["content"] for turn in sent[2:4]] == ["done", "a b"]
    (picture,) = sent[4]["content"]
    assert picture["image_url"]["url"] == f"data:image/png;base64,{PNG}"


async def test_tokens_are_counted_without_asking_a_model(
    caller: Caller, second: ScriptedUpstream
) -> None:
    body = {
        "model": "test-model",
        "system": [{"type": "text", "text": "x" * 40}],
        "messages": [{"role": "user", "content": "word " * 2000}],
        "tools": [tool()],
    }
    path = "/v1/messages/count_tokens?beta=true"
    answer = await caller.send(
        "POST", path, json.dumps(body).encode(), dict(caller.gateway.headers)
    )
    assert answer.status == 200
    assert 1000 <= answer.json["input_tokens"] <= 6000
    unknown = json.dumps({**body, "model": "nobody"}).encode()
    lost = await caller.send("POST", path, unknown, dict(caller.gateway.headers))
    assert (lost.status, lost.json["error"]["type"]) == (404, "not_found_error")
    assert second.requests == []


CALL = {"id": "call_1", "type": "function", "function": {"name": "Write", "arguments": '{"a":1}'}}


async def test_a_call_is_a_tool_use_whatever_the_upstream_calls_the_end(
    caller: Caller, second: ScriptedUpstream
) -> None:
    told: list[Any] = [
        chat_chunk({"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}),
        chat_chunk({}, finish_reason="stop"),
        {**chat_chunk({}), "choices": [], "usage": chat_usage()},
        "[DONE]",
    ]
    second.enqueue(sse_reply(told))
    streamed = await ask(caller, tools=[tool("Write")], stream=True)
    events = made.events(streamed.body)
    (start,) = [data for kind, data in events if kind == "content_block_start"]
    assert (start["index"], start["content_block"]["type"]) == (0, "tool_use")
    second.enqueue(json_reply(chat_reply("", tool_calls=[CALL])))
    plain = await ask(caller, tools=[tool("Write")])
    for found in (message(streamed.body), plain.json):
        assert found["stop_reason"] == "tool_use"
        (block,) = found["content"]
        assert (block["type"], block["input"]) == ("tool_use", {"a": 1})


def piece(index: int, arguments: str, name: str = "") -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": name} if name else {})}
    opening = {"id": f"call_{index}", "type": "function"} if name else {}
    return chat_chunk({"tool_calls": [{"index": index, **opening, "function": function}]})


async def test_blocks_open_and_close_in_step(caller: Caller, second: ScriptedUpstream) -> None:
    told: list[Any] = [
        chat_chunk({"role": "assistant", "content": "a"}),
        *(piece(0, '{"x"', "f"), piece(0, ":"), piece(0, "1}")),
        *(piece(1, "{", "g"), piece(1, "}")),
        chat_chunk({"content": "b"}),
        chat_chunk({}, finish_reason="tool_calls"),
        "[DONE]",
    ]
    second.enqueue(sse_reply(told))
    answer = await ask(caller, tools=[tool("f"), tool("g")], stream=True)
    events = made.events(answer.body)
    fits = {"text_delta": "text", "input_json_delta": "tool_use"}
    open_block: dict[str, Any] = {}
    started = 0
    for kind, data in events:
        if kind == "content_block_start":
            assert not open_block
            assert data["index"] == started
            started, open_block = started + 1, data
        elif kind == "content_block_delta":
            assert data["index"] == open_block["index"]
            assert fits[data["delta"]["type"]] == open_block["content_block"]["type"]
        elif kind == "content_block_stop":
            assert data["index"] == open_block["index"]
            open_block = {}
    assert not open_block
    kinds = [kind for kind, _ in events]
    assert (kinds[-1], kinds.count("message_stop")) == ("message_stop", 1)
    found = message(answer.body)["content"]
    texts = [block["text"] for block in found if block["type"] == "text"]
    assert "".join(texts) == "ab"
    assert [b["input"] for b in found if b["type"] == "tool_use"] == [{"x": 1}, {}]


CACHED: dict[str, Any] = {
    "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "tools": [{**tool(), "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {
                    "type": "text",
                    "text": "hi",
                    "cache_control": {"type": "ephemeral", "ttl": "1h"},
                }
            ],
        }
    ],
}


@pytest.mark.parametrize("model", ["test-model", RESPONSES])
async def test_breakpoints_do_not_leak(
    caller: Caller, second: ScriptedUpstream, model: str
) -> None:
    await ask(caller, model, **CACHED)
    body = second.requests[0].body
    assert b"cache_control" not in body
    assert b'"S"' in body


async def test_a_third_party_gets_breakpoints_without_a_lifetime(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    await ask(caller, "third-party", **CACHED)
    assert upstream.requests[0].body.count(b'"cache_control"') == 3


async def test_claude_gets_breakpoints_byte_for_byte(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    await ask(caller, CLAUDE, **CACHED)
    sent = upstream.requests[0].body
    for part in CACHED.values():
        assert json.dumps(part).encode() in sent


@pytest.mark.parametrize("model", ["test-model", RESPONSES])
async def test_turns_that_thought_keep_their_calls(
    caller: Caller, second: ScriptedUpstream, model: str
) -> None:
    turns = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "T", "signature": "SIG"},
                used("toolu_1", "f", a=1),
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
    ]
    await ask(caller, model, messages=turns, tools=[tool()])
    body = second.requests[0].json
    if "messages" in body:
        _, said, result = body["messages"]
        (call,) = said["tool_calls"]
        assert (call["id"], json.loads(call["function"]["arguments"])) == ("toolu_1", {"a": 1})
        assert not said.get("content")
        text = result["content"]
    else:
        call, result = body["input"][1:]
        assert (call["call_id"], json.loads(call["arguments"])) == ("toolu_1", {"a": 1})
        text = result["output"]
    assert text == "Error: r"


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"stop_sequences": ["STOP"]}, {"stop": ["STOP"]}),
        ({"stop_sequences": ["a", "b", "c", "d", "e"]}, {"stop": ["a", "b", "c", "d"]}),
        (
            {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
            {"tool_choice": "required", "parallel_tool_calls": False},
        ),
        ({"tool_choice": {"type": "none"}}, {"tool_choice": "none"}),
        (
            {"tool_choice": {"type": "tool", "name": "f"}},
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
        ),
        ({"max_tokens": 50}, {"max_completion_tokens": 50}),
        ({"temperature": 0.7, "top_p": 0.5}, {"temperature": 0.7, "top_p": 0.5}),
    ],
)
async def test_parameters_of_messages_are_carried_to_chat(
    caller: Caller, second: ScriptedUpstream, given: dict[str, Any], sent: dict[str, Any]
) -> None:
    answer = await ask(caller, tools=[tool()], **given)
    body = second.requests[0].json
    assert {name: body.get(name) for name in sent} == sent
    assert "x-zurelay-dropped-params" not in answer.headers


async def test_what_chat_does_not_have_is_told(caller: Caller) -> None:
    answer = await ask(caller, top_k=5)
    assert answer.headers["x-zurelay-dropped-params"] == "top_k"


async def test_a_stop_that_a_responses_model_lacks_is_cut_here(
    caller: Caller, second: ScriptedUpstream
) -> None:
    answer = await ask(caller, RESPONSES, stop_sequences=["k"])
    assert answer.json["content"] == [{"type": "text", "text": "o"}]
    assert (answer.json["stop_reason"], answer.json["stop_sequence"]) == ("stop_sequence", "k")
    assert "stop" not in second.requests[0].json


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("given", "sent", "dropped"),
    [
        ({"stop": ["", "\n"]}, {"stop_sequences": None}, ""),
        ({"stop": "END"}, {"stop_sequences": ["END"]}, ""),
        (
            {"tool_choice": "required", "parallel_tool_calls": False},
            {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
            "",
        ),
        ({"tool_choice": "none"}, {"tool_choice": {"type": "none"}}, ""),
        ({"max_completion_tokens": 50}, {"max_tokens": 50}, ""),
        ({"temperature": 1.7}, {"temperature": 1}, "temperature"),
        ({"top_k": 5}, {"top_k": 5}, ""),
    ],
)
async def test_parameters_of_chat_are_carried_to_claude(
    caller: Caller,
    upstream: ScriptedUpstream,
    given: dict[str, Any],
    sent: dict[str, Any],
    dropped: str,
) -> None:
    answer = await caller.chat(model=CLAUDE, tools=[TOOL], **given)
    assert answer.status == 200, answer.body
    body = upstream.requests[0].json
    assert {name: body.get(name) for name in sent} == sent
    assert answer.headers.get("x-zurelay-dropped-params", "") == dropped


@pytest.mark.parametrize(
    ("stop", "sent"), [(["", "x"], ["x"]), ("", None), (["a", "b"], ["a", "b"])]
)
async def test_empty_stops_reach_no_upstream(
    caller: Caller, second: ScriptedUpstream, stop: Any, sent: Any
) -> None:
    answer = await caller.chat(stop=stop)
    assert answer.status == 200, answer.body
    assert second.requests[0].json.get("stop") == sent


async def test_the_newest_claude_is_told_in_words_what_it_refuses_to_be_forced_to(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    answer = await caller.chat(model=NEWEST, tools=[TOOL], tool_choice="required")
    assert upstream.requests[0].json["tool_choice"] == {"type": "auto"}
    assert answer.headers["x-zurelay-dropped-params"] == "tool_choice"
    assert answer.json["choices"][0]["finish_reason"] == "tool_calls"
