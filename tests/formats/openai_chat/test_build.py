"""Requests built from the neutral form."""

import json
from typing import Any

import pytest

from zurelay.chat.parts import File, Image, RefusalText, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request, Tool, Turn
from zurelay.formats.base import Target
from zurelay.formats.openai_chat import build

USER = Turn("user", (Text("hi"),))


def sent(*turns: Turn, **fields: Any) -> Any:
    out = build.write(Request(turns, **fields), Target("p", "u", Profile()))
    return json.loads(out.body)


def test_pictures_of_a_result_follow_the_last_tool_message() -> None:
    image = Image(data="AA", media_type="image/png")
    results = ToolResult("c", (image,)), ToolResult("d", (Text("r"),), is_error=True)
    messages = sent(
        USER, Turn("assistant", (ToolCall("c", "f", "{}"),)), Turn("user", (*results, Text("look")))
    )["messages"]
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert messages[3]["content"] == "Error: r"
    assert messages[4]["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
        {"type": "text", "text": "look"},
    ]


def test_an_assistant_turn_is_one_message_with_plain_text() -> None:
    parts = (Thinking("r"), Text("a"), Text("b"), ToolCall("c", "f", "not json"))
    (_, message) = sent(USER, Turn("assistant", parts))["messages"]
    assert message["content"] == "a\n\nb"
    assert message["tool_calls"][0]["function"]["arguments"] == "not json"
    (_, refused) = sent(USER, Turn("assistant", (RefusalText("no"),)))["messages"]
    assert (refused["content"], refused["refusal"]) == (None, "no")


def test_more_stop_sequences_than_this_format_knows_are_left_to_the_gateway() -> None:
    stops = tuple("abcdef")
    out = build.write(Request((USER,), stop=stops), Target("p", "u", Profile()))
    assert json.loads(out.body)["stop"] == list("abcd")
    assert out.stop == ("e", "f")


def test_tools_keep_what_they_have() -> None:
    body = sent(USER, tools=(Tool("f"), Tool("g", "d", {"type": "object"}, strict=True)))
    assert [tool["function"] for tool in body["tools"]] == [
        {"name": "f"},
        {"name": "g", "description": "d", "parameters": {"type": "object"}, "strict": True},
    ]


def test_files_go_by_address_or_as_data() -> None:
    files = File(url="https://x/a.pdf"), File(data="BB", media_type="text/plain", filename="a.txt")
    (message,) = sent(Turn("user", files))["messages"]
    assert [part["file"] for part in message["content"]] == [
        {"file_data": "https://x/a.pdf"},
        {"filename": "a.txt", "file_data": "data:text/plain;base64,BB"},
    ]


def test_thinking_in_a_user_turn_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError):
        sent(Turn("user", (Thinking("r"),)))
