from typing import Any

import pytest

from zurelay.chat.parts import (
    Audio,
    File,
    Image,
    Part,
    RefusalText,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Video,
)
from zurelay.chat.problems import Refused
from zurelay.sandbox.openai_messages import read_turns


@pytest.mark.parametrize(
    ("message", "role", "parts"),
    [
        ({"role": "system", "content": "s"}, "system", (Text("s"),)),
        ({"role": "developer", "content": "d"}, "developer", (Text("d"),)),
        (
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "t"},
                    {"type": "image_url", "image_url": {"url": "u", "detail": "low"}},
                    {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
                    {"type": "video_url", "video_url": {"url": "v"}},
                    {"type": "file", "file": {"file_data": "f", "filename": "a.pdf"}},
                ],
            },
            "user",
            (
                Text("t"),
                Image(url="u"),
                Audio("AA", "wav"),
                Video("v"),
                File(data="f", filename="a.pdf"),
            ),
        ),
        (
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
            "assistant",
            (RefusalText("no"),),
        ),
        (
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
            },
            "assistant",
            (Thinking("hm"), ToolCall("c", "f", "{}")),
        ),
        (
            {"role": "tool", "tool_call_id": "c", "content": "r"},
            "user",
            (ToolResult("c", (Text("r"),)),),
        ),
        (
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "r"}]},
            "user",
            (ToolResult("c", (Text("r"),)),),
        ),
    ],
)
def test_messages_are_read(message: dict[str, Any], role: str, parts: tuple[Part, ...]) -> None:
    (turn,) = read_turns([message])
    assert (turn.role, turn.parts) == (role, parts)


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"content": "x"}, "messages[1].role"),
        ({"role": "robot"}, "messages[1].role"),
        ({"role": ["user"]}, "messages[1].role"),
        ({"role": "user", "content": 3}, "messages[1].content"),
        ({"role": "user", "content": ["x"]}, "messages[1].content[0]"),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "odd"}]},
            "messages[1].content[1]",
        ),
        ({"role": "tool", "content": "x"}, "messages[1].tool_call_id"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "messages[1].tool_calls[0]"),
        ({"role": "assistant", "tool_calls": "c"}, "messages[1].tool_calls[0]"),
    ],
)
def test_what_cannot_be_read_is_named(message: dict[str, Any], param: str) -> None:
    with pytest.raises(Refused) as caught:
        read_turns([{"role": "user", "content": "fine"}, message])
    assert (caught.value.problem.status, caught.value.problem.param) == (400, param)


def test_names_are_kept() -> None:
    assert read_turns([{"role": "user", "content": "x", "name": "ann"}])[0].name == "ann"
