"""Items that a caller may send, what they tell of the request, and which are refused."""

from typing import Any

import pytest

from tests.formats.openai_responses.answered import read, refused
from zurelay.chat.estimate import PER_MESSAGE, measure
from zurelay.formats.base import Ability

PNG = "data:image/png;base64,AAAA"


def user(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(parts)}]


@pytest.mark.parametrize(
    ("part", "ability", "mark"),
    [
        ({"type": "input_image", "image_url": PNG}, Ability.IMAGE, None),
        ({"type": "input_image", "image_url": "https://x/a.png"}, Ability.IMAGE, "remote_image"),
        ({"type": "input_file", "file_data": "data:application/pdf;base64,A"}, Ability.PDF, None),
        ({"type": "input_file", "file_url": "https://x/a.pdf"}, Ability.PDF, "remote_file"),
        (
            {"type": "input_audio", "input_audio": {"data": "A", "format": "wav"}},
            Ability.AUDIO,
            None,
        ),
    ],
)
def test_what_is_no_text_is_an_ability_that_is_needed(
    part: dict[str, Any], ability: Ability, mark: str | None
) -> None:
    inbound = read(input=user({"type": "input_text", "text": "See"}, part))
    assert inbound.needs == {ability: "input[0].content[1]"}
    assert inbound.media_count == 1
    assert inbound.marks == ({mark} if mark else frozenset())


@pytest.mark.parametrize(
    ("items", "param"),
    [
        (None, "input"),
        ([], "input"),
        ("", "input"),
        (7, "input"),
        (["x"], "input[0]"),
        ([{"content": "x"}], "input[0].role"),
        ([{"role": "tool", "content": "x"}], "input[0].role"),
        ([{"role": "user"}], "input[0].content"),
        ([{"role": "user", "content": 7}], "input[0].content"),
        (user({"type": "input_text"}), "input[0].content[0].text"),
        (user({"text": "x"}), "input[0].content[0].type"),
        (user({"type": "video", "text": "x"}), "input[0].content[0].type"),
        (user({"type": "input_image", "image_url": "x"}), "input[0].content[0].image_url"),
        (user({"type": "input_image", "file_id": "f"}), "input[0].content[0].file_id"),
        (user({"type": "input_image"}), "input[0].content[0].image_url"),
        (user({"type": "input_file", "file_id": "f"}), "input[0].content[0].file_id"),
        (user({"type": "input_file", "file_url": "data:x"}), "input[0].content[0].file_url"),
        (user({"type": "input_audio"}), "input[0].content[0].input_audio"),
        ([{"type": "function_call", "name": "f", "arguments": "{}"}], "input[0].call_id"),
        ([{"type": "function_call", "call_id": "c", "arguments": "{}"}], "input[0].name"),
        ([{"type": "function_call", "call_id": "c", "name": "f"}], "input[0].arguments"),
        (
            [{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}],
            "input[0].arguments",
        ),
        ([{"type": "custom_tool_call", "call_id": "c", "name": "f"}], "input[0].input"),
        ([{"type": "function_call_output", "output": "x"}], "input[0].call_id"),
        ([{"type": "function_call_output", "call_id": "c"}], "input[0].output"),
        (
            [
                {"role": "user", "content": "x"},
                {"type": "function_call_output", "call_id": "c", "output": [{"type": "x"}]},
            ],
            "input[1].output[0].type",
        ),
        ([{"type": "reasoning", "summary": "x"}], "input[0].summary"),
    ],
)
def test_a_wrong_item_is_refused_by_its_path(items: object, param: str) -> None:
    problem = refused(input=items)
    assert (problem.status, problem.param) == (400, param)


def test_a_file_at_a_provider_is_unsupported() -> None:
    assert refused(input=user({"type": "input_file", "file_id": "f"})).code == "unsupported_content"


def test_items_of_types_unknown_here_pass_with_fields_of_any_type() -> None:
    strange = {"type": "tool_search_call", "arguments": {"q": 1}, "content": 7, "output": False}
    read(input=[strange, {"role": "user", "content": "Hi"}])


def test_tools_that_the_input_brings_count_as_text() -> None:
    def long(description: str) -> int:
        tool = {"type": "function", "name": "f", "description": description}
        item = {"type": "additional_tools", "tools": [tool]}
        return read(input=[item, {"role": "user", "content": "Hi"}]).text_length

    assert long("word " * 400) > long("word") + 300


def test_the_opening_is_the_instructions_and_the_first_words() -> None:
    items = [
        {"role": "developer", "content": "D"},
        {"role": "user", "content": [{"type": "input_text", "text": "First"}]},
        {"role": "assistant", "content": "A"},
        {"role": "user", "content": "Second"},
    ]
    assert read(input=items, instructions="S").opening == b"S\x00D\x00First"
    texts = ["S", "D", "First", "A", "Second"]
    assert read(input=items, instructions="S").text_length == measure(texts) + 4 * PER_MESSAGE


def test_a_pdf_counts_by_its_size() -> None:
    def long(size: int) -> int:
        part = {"type": "input_file", "file_data": "data:application/pdf;base64," + "A" * size}
        return read(input=[{"role": "user", "content": [part]}]).text_length

    assert long(10) < long(400_000) - 35_000
