from typing import Any

import pytest

from zurelay.chat.parts import Audio, File, Image, Part, Text, ToolCall, ToolResult, Video
from zurelay.chat.problems import Refused
from zurelay.chat.request import Turn
from zurelay.sandbox.gemini_contents import SKIP, read_instruction, read_turns


def test_the_system_instruction_is_a_turn() -> None:
    assert read_instruction(None) == ()
    told = read_instruction({"parts": [{"text": "Be brief."}]})
    assert told == (Turn("system", (Text("Be brief."),)),)


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("image/png", Image(data="eA==", media_type="image/png")),
        ("application/pdf", File(data="eA==", media_type="application/pdf")),
        ("audio/wav", Audio("eA==", "audio/wav")),
        ("video/mp4", Video("data:video/mp4;base64,eA==")),
    ],
)
def test_inline_data_are_what_their_type_says(kind: str, part: Part) -> None:
    (turn,) = read_turns([{"parts": [{"inlineData": {"mimeType": kind, "data": "eA=="}}]}])
    assert turn == Turn("user", (part,))


def test_files_are_read_by_address() -> None:
    (turn,) = read_turns([{"parts": [{"fileData": {"fileUri": "gs://x/y"}}]}])
    assert turn.parts == (File(url="gs://x/y"),)


def answered(response: dict[str, Any]) -> Part:
    call = {"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}, "thoughtSignature": SKIP}
    answer = {"functionResponse": {"id": "a", "name": "f", "response": response}}
    spoken, heard = read_turns([{"role": "model", "parts": [call]}, {"parts": [answer]}])
    assert spoken.parts == (ToolCall("a", "f", '{"x":1}'),)
    (part,) = heard.parts
    return part


def test_a_response_is_its_output_or_its_error_or_all_of_it() -> None:
    assert answered({"output": "Sunny"}) == ToolResult("a", (Text("Sunny"),))
    assert answered({"error": "Gone"}) == ToolResult("a", (Text("Gone"),), is_error=True)
    assert answered({"sky": "blue"}) == ToolResult("a", (Text('{"sky":"blue"}'),))


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ({"role": "system", "parts": [{"text": "x"}]}, "contents[0].role"),
        ({"parts": "x"}, "contents[0].parts"),
        ({"parts": [{"text": 5}]}, "contents[0].parts[0]"),
    ],
)
def test_what_cannot_stand_there_is_named(content: dict[str, Any], path: str) -> None:
    with pytest.raises(Refused) as caught:
        read_turns([content])
    assert caught.value.problem.param == path
