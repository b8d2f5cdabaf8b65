"""Requests in neutral form."""

import json
from typing import Any

from zurelay.chat.parts import File, Image, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.request import Request, ToolChoice
from zurelay.formats.openai_chat import request
from zurelay.formats.openai_chat.front import ChatFront

USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a" :1}'}}


def read(messages: list[Any], **fields: Any) -> Request:
    body = {"model": "m", "messages": messages, **fields}
    return request.read(ChatFront().read(json.dumps(body).encode()))


def test_results_of_one_turn_are_one_user_turn() -> None:
    result = {"role": "tool", "content": "r"}
    turns = read(
        [USER, {"role": "assistant", "content": "", "tool_calls": [CALL]},
         {**result, "tool_call_id": "c"}, {**result, "tool_call_id": "d"}, USER]
    ).turns  # fmt: skip
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "user"]
    assert turns[1].parts == (ToolCall("c", "f", '{"a" :1}'),)
    assert turns[2].parts == (ToolResult("c", (Text("r"),)), ToolResult("d", (Text("r"),)))


def test_data_urls_are_taken_apart() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://x/y"}},
        {
            "type": "file",
            "file": {"file_data": "data:application/pdf;base64,BB", "filename": "a.pdf"},
        },
    ]
    (turn,) = read([{"role": "user", "content": parts}]).turns
    assert turn.parts == (
        Image(data="AA", media_type="image/png", detail="low"),
        Image(url="https://x/y"),
        File(data="BB", media_type="application/pdf", filename="a.pdf"),
    )


def test_thinking_comes_with_its_proofs() -> None:
    proof = {"type": "reasoning.text", "signature": "S", "format": "v"}
    hidden = {"type": "reasoning.encrypted", "data": "E", "format": "v"}
    message = {"reasoning_content": "r", "reasoning_details": [proof, hidden]}
    assert request.thinking(message) == [Thinking("r", "S", "v"), Thinking("", "E", "v", True)]
    assert request.thinking({"reasoning": "r"}) == [Thinking("r")]
    assert request.thinking(
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "s"}]}
    ) == [Thinking("s")]
    assert request.thinking({}) == []


def test_choices_and_unknown_fields() -> None:
    tool = {"type": "function", "function": {"name": "f"}}
    named = {"type": "function", "function": {"name": "f"}}
    got = read([USER], tools=[tool], tool_choice=named, zeta={"a": 1}, user="u", store=True)
    assert got.tool_choice == ToolChoice("named", "f")
    assert got.extra == {"zeta": {"a": 1}}
