from typing import Any

import pytest

from zurelay.chat.parts import File, Image, Part, RefusalText, Text, ToolCall, ToolResult
from zurelay.chat.problems import Refused
from zurelay.chat.request import Turn
from zurelay.sandbox.openai_items import read_input


def test_a_string_is_a_message_of_the_users() -> None:
    assert read_input("Be brief.", "Hi") == (
        Turn("system", (Text("Be brief."),)),
        Turn("user", (Text("Hi"),)),
    )


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_messages_keep_their_role(role: str) -> None:
    (turn,) = read_input(None, [{"role": role, "content": "x"}])
    assert (turn.role, turn.parts) == (role, (Text("x"),))


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"type": "input_text", "text": "x"}, Text("x")),
        ({"type": "refusal", "refusal": "No."}, RefusalText("No.")),
        ({"type": "input_image", "image_url": "https://x.example/"}, Image("https://x.example/")),
        (
            {"type": "input_file", "file_data": "eA==", "filename": "x.pdf"},
            File(data="eA==", filename="x.pdf"),
        ),
    ],
)
def test_parts_are_read(given: dict[str, Any], part: Part) -> None:
    (turn,) = read_input(None, [{"type": "message", "role": "user", "content": [given]}])
    assert turn.parts == (part,)


def test_calls_and_outputs_of_functions_and_custom_tools_are_read() -> None:
    turns = read_input(
        None,
        [
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":1}'},
            {"type": "custom_tool_call", "call_id": "b", "name": "g", "input": "free"},
            {"type": "function_call_output", "call_id": "a", "output": "one"},
            {
                "type": "custom_tool_call_output",
                "call_id": "b",
                "output": [{"type": "input_text", "text": "two"}],
            },
        ],
    )
    assert [part for turn in turns for part in turn.parts] == [
        ToolCall("a", "f", '{"x":1}'),
        ToolCall("b", "g", "free"),
        ToolResult("a", (Text("one"),)),
        ToolResult("b", (Text("two"),)),
    ]


def test_items_of_other_types_are_left_alone() -> None:
    assert read_input(None, [{"type": "web_search_call", "id": "ws_1"}]) == ()


def test_what_cannot_stand_there_is_named() -> None:
    with pytest.raises(Refused) as caught:
        read_input(None, [{"role": "user", "content": [{"type": "image"}]}])
    assert caught.value.problem.param == "input[0].content[0]"
