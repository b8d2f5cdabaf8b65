"""A caller's items as a conversation, and back upstream in any format."""

import json
from typing import Any

from tests.formats.openai_responses.answered import CUSTOM, FUNCTION, read
from zurelay.chat.parts import Audio, File, Image, RefusalText, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.request import AnswerFormat, Request, ToolChoice, Turn
from zurelay.formats.openai_responses.read import read as neutral

PNG = "data:image/png;base64,AAAA"


def asked(**fields: Any) -> Request:
    return neutral(read(**fields))


def test_a_string_is_one_turn_of_the_user() -> None:
    found = asked(instructions="Be kind")
    assert found.turns == (Turn("system", (Text("Be kind"),)), Turn("user", (Text("Hi"),)))
    assert not found.extra


def test_items_of_one_side_make_one_turn() -> None:
    found = asked(
        input=[
            {"role": "developer", "content": "D"},
            {"role": "user", "content": [{"type": "input_text", "text": "Q"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "T"}]},
            {"type": "message", "role": "assistant", "content": "A", "phase": "commentary"},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "+x"},
            {"type": "function_call_output", "call_id": "c1", "output": "1"},
            {
                "type": "custom_tool_call_output",
                "call_id": "c2",
                "output": [{"type": "input_image", "image_url": PNG, "detail": "low"}],
            },
            {"role": "user", "content": "More"},
        ]
    )
    assert found.turns == (
        Turn("developer", (Text("D"),)),
        Turn("user", (Text("Q"),)),
        Turn(
            "assistant",
            (
                Thinking("T"),
                Text("A"),
                ToolCall("c1", "f", "{}"),
                ToolCall("c2", "patch", '{"input":"+x"}'),
            ),
        ),
        Turn(
            "user",
            (
                ToolResult("c1", (Text("1"),)),
                ToolResult("c2", (Image(data="AAAA", media_type="image/png", detail="low"),)),
            ),
        ),
        Turn("user", (Text("More"),)),
    )


def test_a_longer_conversation_begins_with_the_shorter_one() -> None:
    items = [
        {"role": "user", "content": "Q"},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No"}]},
        {"role": "user", "content": "R"},
    ]
    whole = asked(input=items).turns
    assert whole[:3] == asked(input=items[:3]).turns
    assert whole[3].parts == (RefusalText("No"),)


def test_parts_of_every_type() -> None:
    parts = [
        {"type": "input_image", "image_url": "https://x/a.png"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,AA", "filename": "a.pdf"},
        {"type": "input_file", "file_url": "https://x/a.pdf"},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
    ]
    (turn,) = asked(input=[{"role": "user", "content": parts}]).turns
    assert turn.parts == (
        Image(url="https://x/a.png"),
        File(data="AA", media_type="application/pdf", filename="a.pdf"),
        File(url="https://x/a.pdf"),
        Audio("AA", "wav"),
    )


def test_tools_and_the_choice_among_them() -> None:
    tools = [{**FUNCTION, "strict": True, "description": "F"}, CUSTOM]
    found = asked(tools=tools, tool_choice={"type": "custom", "name": "patch"})
    assert [(tool.name, tool.strict) for tool in found.tools] == [("f", True), ("patch", None)]
    custom = found.tools[1].parameters
    assert custom is not None
    assert custom["required"] == ["input"]
    assert found.tool_choice == ToolChoice("named", "patch")
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"name": "f"}]}
    some = asked(tools=tools, tool_choice=allowed)
    assert ([t.name for t in some.tools], some.tool_choice) == (["f"], ToolChoice("required"))


def test_the_form_of_the_answer() -> None:
    schema = {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True}
    found = asked(text={"format": schema, "verbosity": "low"}, temperature=0.5, top_p=0.9)
    assert found.answer_format == AnswerFormat("json_schema", "n", {"type": "object"}, strict=True)
    assert (found.verbosity, found.temperature, found.top_p) == ("low", 0.5, 0.9)
    assert asked(text={"format": {"type": "json_object"}}).answer_format == AnswerFormat(
        "json_object"
    )
    assert asked(text={"format": {"type": "text"}}).answer_format is None


def test_what_asks_for_what_happens_anyway_is_not_reported() -> None:
    found = asked(
        store=False,
        truncation="disabled",
        include=["reasoning.encrypted_content"],
        background=False,
        stream_options={"include_obfuscation": False},
        metadata={"a": "b"},
        user="u",
    )
    assert not found.extra


def test_the_rest_is_left_over_to_be_reported() -> None:
    found = asked(
        store=True,
        truncation="auto",
        max_tool_calls=3,
        include=["message.output_text.logprobs"],
        input=[{"type": "web_search_call"}, {"role": "user", "content": "Hi"}],
    )
    assert set(found.extra) == {"store", "truncation", "max_tool_calls", "include", "input[]"}


def test_strings_that_json_must_escape_survive_in_a_custom_call() -> None:
    said = 'a"b\\\n\u2028'
    item = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": said}
    (turn,) = asked(input=[item]).turns
    (call,) = turn.parts
    assert isinstance(call, ToolCall)
    assert json.loads(call.arguments) == {"input": said}


def test_breakpoints_of_either_vendor_are_kept() -> None:
    parts = [
        {"type": "input_text", "text": "A", "prompt_cache_breakpoint": {"mode": "explicit"}},
        {"type": "input_text", "text": "B", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ]
    (turn,) = asked(input=[{"role": "user", "content": parts}]).turns
    assert turn.parts == (Text("A", "5m"), Text("B", "1h"))
