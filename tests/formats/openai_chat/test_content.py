"""Content that is a list of parts."""

import pytest

from zurelay.formats.openai_chat.content import split_content


@pytest.mark.parametrize(
    ("parts", "text", "thinking"),
    [
        ([], "", ""),
        ([{"type": "text", "text": "a"}, "b"], "ab", ""),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]},
                {"type": "text", "text": "a"},
            ],
            "a",
            "t",
        ),
        ([{"type": "thinking", "thinking": "t"}], "", "t"),
        ([{"type": "reference", "ids": [1]}, None, 5, {"type": "text", "text": None}], "", ""),
    ],
)
def test_text_and_thinking_come_apart(parts: list[object], text: str, thinking: str) -> None:
    assert split_content(parts) == (text, thinking)
