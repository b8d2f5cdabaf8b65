import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sandbox.playing import asking
from zurelay.chat.parts import Image, Text, ToolCall, ToolResult
from zurelay.chat.request import AnswerFormat, Request, Tool, Turn
from zurelay.sandbox.behaviour import MOST_TOKENS
from zurelay.sandbox.tokens import pieces, prompt_tokens


@given(st.text())
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello there", ["Hello", " there"]),
        ("consectetur", ["consecte", "tur"]),
        ("end \n", ["end", " \n"]),
    ],
)
def test_a_token_is_a_short_word_with_the_space_before_it(text: str, expected: list[str]) -> None:
    assert list(pieces(text)) == expected


def test_a_very_long_text_has_longer_pieces_rather_than_more() -> None:
    text = "word " * 30_000
    assert len(pieces(text)) <= MOST_TOKENS
    assert "".join(pieces(text)) == text


def test_a_prompt_counts_about_four_characters_a_token() -> None:
    assert prompt_tokens(asking("12345678")) == 3 + 2
    assert prompt_tokens(asking("123456789")) == 3 + 3


def test_everything_in_a_prompt_counts() -> None:
    bare = prompt_tokens(asking("hi"))
    assert prompt_tokens(Request((Turn("user", (Text("hi"), Image(url="u"))),))) > bare
    assert prompt_tokens(asking("hi", tools=(Tool("get", "Gets", {"type": "object"}),))) > bare
    schema = AnswerFormat("json_schema", schema={"type": "object"})
    assert prompt_tokens(asking("hi", answer_format=schema)) > bare
    turns = (
        Turn("user", (Text("hi"),)),
        Turn("assistant", (ToolCall("1", "get", "{}"),)),
        Turn("user", (ToolResult("1", (Text("some result"),)),)),
    )
    assert prompt_tokens(Request(turns)) == bare + (3 + 1 + 1) + (3 + 3)
