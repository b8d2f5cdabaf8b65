"""Estimates count bytes, so that no script is nearly free."""

from zurelay.chat.estimate import estimated, prompt_tokens, tokens, weight
from zurelay.chat.usage import Usage


def test_bytes_are_weighed_not_characters() -> None:
    assert weight("abcd") == 4
    assert weight("北京") == 6
    assert weight("\ud83d") == 3


def test_any_text_is_at_least_one_token() -> None:
    assert [tokens(n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_what_nobody_counted_is_marked() -> None:
    assert estimated(7, 9) == Usage(input=7, output=3, estimated=True)
    assert estimated(7, 0).output == 0


def test_media_and_an_empty_prompt_count() -> None:
    assert prompt_tokens(0) > 0
    assert prompt_tokens(400, 2) - prompt_tokens(0) == 100 + 2000
