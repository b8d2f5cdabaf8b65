"""Finish reasons: four words, consistent with the message."""

import pytest

from zurelay.formats.openai_chat.finish import fault, read


@pytest.mark.parametrize(
    ("word", "has_calls", "reason"),
    [
        ("stop", False, "stop"),
        ("STOP", True, "tool_calls"),
        ("function_call", True, "tool_calls"),
        ("tool_calls", False, "stop"),
        ("length", True, "length"),
        ("content_filter", True, "content_filter"),
        ("something_new", False, "stop"),
    ],
)
def test_words(word: str, has_calls: bool, reason: str) -> None:
    assert read(word, has_calls) == reason
    assert fault(word) is None


def test_failures() -> None:
    found = fault("ERROR")
    assert found is not None
    assert found.moves_on
