"""Requests by Chat Completions that broke at Claude elsewhere, before an upstream that is strict."""

import base64
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller
from tests.app.strict import BUDGETS, CLAUDE, NEWEST
from zurelay.testing.upstream import ScriptedUpstream

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(24)).decode()
PDF = base64.b64encode(b"%PDF-1.7\n%%EOF\n").decode()
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def result(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


async def ask(caller: Caller, turns: list[Any], model: str = CLAUDE, **fields: Any) -> Answer:
    answer = await caller.chat(model=model, messages=turns, **fields)
    assert answer.status == 200, answer.body
    return answer


async def test_neighbouring_turns_are_merged_and_results_come_first(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    turns = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "A"},
        {"role": "user", "content": "B"},
        {"role": "assistant", "content": "x", "tool_calls": [call("call_1")]},
        result("call_1", "r1"),
        {"role": "user", "content": "C"},
        {"role": "user", "content": "D"},
    ]
    await ask(caller, turns, tools=[TOOL])
    sent = upstream.requests[0].json["messages"]
    assert [turn["role"] for turn in sent] == ["user", "assistant", "user"]
    assert [block["text"] for block in sent[0]["content"]] == ["A", "B"]
    last = sent[2]["content"]
    assert last[0]["tool_use_id"] == "call_1"
    assert [block.get("text") for block in last[1:]] == ["C", "D"]


@pytest.mark.parametrize("content", ["", None, [{"type": "text", "text": ""}]])
async def test_a_call_without_words_is_a_call_alone(
    caller: Caller, upstream: ScriptedUpstream, content: Any
) -> None:
    turns = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": content, "tool_calls": [call("c1")]},
        result("c1", "r"),
    ]
    await ask(caller, turns, tools=[TOOL])
    sent = upstream.requests[0].json["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["tool_use"]


@pytest.mark.parametrize(
    "turns",
    [
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": ""}, {"type": "text", "text": "x"}],
            }
        ],
        [{"role": "system", "content": ""}, {"role": "user", "content": "hi"}],
        [
            {
                "role": "system",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": ""}],
            },
            {"role": "user", "content": "hi"},
        ],
    ],
)
async def test_empty_text_is_not_sent(caller: Caller, turns: list[Any]) -> None:
    await ask(caller, turns)


MARKS = ("S1-MARK", "S2-MARK", "S3-MARK")
INSTRUCTED = [
    {"role": "system", "content": MARKS[0]},
    {"role": "developer", "content": MARKS[1]},
    {"role": "user", "content": "u1"},
    {"role": "assistant", "content": "a1"},
    {"role": "system", "content": MARKS[2]},
    {"role": "user", "content": "u2"},
]


@pytest.mark.parametrize("model", [CLAUDE, NEWEST, "test-model", "gpt-5.5-pro"])
async def test_instructions_keep_their_order_and_never_speak_for_the_assistant(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream, model: str
) -> None:
    await ask(caller, INSTRUCTED, model=model)
    (request,) = [*upstream.requests, *second.requests]
    body = request.body.decode()
    assert [body.count(mark) for mark in MARKS] == [1, 1, 1]
    assert sorted(MARKS, key=body.index) == list(MARKS)
    turns = request.json.get("messages") or request.json["input"]
    assert not any("MARK" in str(turn) for turn in turns if turn.get("role") == "assistant")
    if model == "test-model":
        assert "developer" not in [turn["role"] for turn in turns]


async def test_a_call_that_was_never_answered_gets_a_result(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    turns = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")]},
        result("c1", "r1"),
        {"role": "user", "content": "never mind, stop"},
    ]
    await ask(caller, turns, tools=[TOOL])
    (request,) = upstream.requests
    first, second = request.json["messages"][2]["content"][:2]
    assert (first["tool_use_id"], second["tool_use_id"]) == ("c1", "c2")
    assert second["is_error"] is True


async def test_pictures_and_files_arrive_in_their_order(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    parts = [
        {"type": "text", "text": "what is this"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        },
    ]
    await ask(caller, [{"role": "user", "content": parts}])
    sent = upstream.requests[0].json["messages"][0]["content"]
    assert [block["type"] for block in sent] == ["text", "image", "document"]
    assert sent[2]["source"]["media_type"] == "application/pdf"


async def test_a_part_that_cannot_be_carried_is_named(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    turns = [{"role": "user", "content": [{"type": "text", "text": "x"}, sound]}]
    answer = await caller.chat(model=CLAUDE, messages=turns)
    assert answer.status == 400
    assert answer.json["error"]["param"] == "messages[0].content[1]"
    assert upstream.requests == []


@pytest.mark.parametrize("model", [BUDGETS, CLAUDE])
@pytest.mark.parametrize("kept", [True, False])
async def test_thinking_and_tools_go_round_whatever_the_client_keeps(
    caller: Caller, upstream: ScriptedUpstream, model: str, kept: bool
) -> None:
    asked: dict[str, Any] = {"tools": [TOOL], "reasoning_effort": "high", "max_tokens": 16_000}
    turns: list[Any] = [{"role": "user", "content": "go"}]
    first = await ask(caller, turns, model=model, **asked)
    said = first.json["choices"][0]["message"]
    assert said["tool_calls"][0]["id"] == "toolu_1"
    if not kept:
        said = {"role": "assistant", "content": None, "tool_calls": said["tool_calls"]}
    again = [*turns, said, result("toolu_1", "r")]
    second = await ask(caller, again, model=model, **asked)
    assert len(upstream.requests) == 2
    assert ("SIG1" in upstream.requests[1].body.decode()) is kept
    off = not kept and model == BUDGETS
    assert second.headers["x-zurelay-reasoning-effort"] == ("none" if off else "high")
    dropped = second.headers.get("x-zurelay-dropped-params", "")
    assert ("reasoning_effort" in dropped) is off
