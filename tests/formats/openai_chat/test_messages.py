"""Messages: what checking them notes for the edit."""

import json
from typing import Any

import pytest

from zurelay.chat.estimate import PER_MESSAGE, measure
from zurelay.formats.openai_chat.messages import check
from zurelay.formats.openai_chat.view import REQUEST
from zurelay.formats.seen import Seen

USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def seen(*messages: Any) -> Seen:
    found = Seen()
    check(REQUEST.decode(json.dumps({"messages": messages}).encode()).messages, found)
    return found


@pytest.mark.parametrize(
    ("messages", "marks"),
    [
        ([USER], set()),
        ([{"role": "system", "content": "s"}, USER], set()),
        ([{"role": "developer", "content": "s"}, USER], {"developer"}),
        ([USER, {"role": "system", "content": "s"}], {"more_systems"}),
        ([{**USER, "name": "n"}], {"name"}),
        ([{"role": "user", "content": [{"type": "text", "text": "x"}]}], {"text_parts"}),
        ([{"role": "assistant", "content": "x", "reasoning": "r"}], {"reasoning"}),
        ([{"role": "assistant", "content": "x", "reasoning_content": ""}], {"reasoning"}),
        ([{"role": "assistant", "tool_calls": [CALL]}], {"calls", "call_ids"}),
        ([{"role": "assistant", "tool_calls": [{**CALL, "index": 0}]}], {"calls", "call_ids", "call_index"}),
        ([{"role": "assistant", "content": "x", "tool_calls": []}], {"no_calls"}),
        ([{"role": "tool", "tool_call_id": "c", "content": "r"}, USER], {"call_ids", "user_after_tool"}),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x"}}]}], {"remote_image"}),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]}], set()),
        ([{"role": "user", "content": [{"type": "file", "file": {"file_data": "data:x"}}]}], {"file"}),
    ],
)  # fmt: skip
def test_marks(messages: list[Any], marks: set[str]) -> None:
    assert seen(*messages).marks == marks


def test_all_text_counts() -> None:
    call = {**CALL, "function": {"name": "f", "arguments": "12345"}}
    found = seen(
        {
            "role": "user",
            "content": [{"type": "text", "text": "北"}, {"type": "text", "text": "ab"}],
        },
        {"role": "assistant", "reasoning_content": "thin", "tool_calls": [call]},
    )
    assert found.texts == ["北", "ab", "thin", "12345"]
    assert found.text_length == measure(found.texts) + 2 * PER_MESSAGE


def test_a_pdf_counts_by_its_size() -> None:
    def long(size: int) -> int:
        file = {"type": "file", "file": {"file_data": "data:application/pdf;base64," + "A" * size}}
        return seen({"role": "user", "content": [file]}).text_length

    assert long(10) < long(400_000) - 35_000
