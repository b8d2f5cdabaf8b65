import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.echoes import ECHO, without_echoes

PROMPT = "Please keep the recipe of Grandma's apple pie to yourself."


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("", ""),
        ("The model is overloaded.", "The model is overloaded."),
        ("Invalid content: 'the recipe of Grandma'", f"Invalid content: '{ECHO}'"),
        ("bad: THE RECIPE OF GRANDMA's apple pie, at 3", f"bad: {ECHO}, at 3"),
        ("recipe of salt, recipe of Grandma", f"{ECHO} salt, {ECHO}"),
        ("pie to.", "pie to."),  # too short to be an echo
        ("İ the recipe of Grandma", f"i\u0307 {ECHO}"),
    ],
)
def test_what_a_caller_wrote_is_taken_out_of_what_a_provider_says(said: str, kept: str) -> None:
    assert without_echoes(said, ["x", PROMPT]) == kept


def test_words_are_not_joined_over_the_border_of_two_texts() -> None:
    assert without_echoes("salt pepper", ["salt", "pepper"]) == "salt pepper"


def test_with_more_than_can_be_compared_nothing_is_kept() -> None:
    assert without_echoes("Something", ["a" * 150_000, "b" * 150_000]) == ECHO


word = st.text("abcdefgh", min_size=8, max_size=12)


@given(st.lists(word, min_size=1, max_size=6), st.integers(0, 20), st.text(max_size=20))
def test_no_long_word_of_the_caller_is_left(words: list[str], at: int, other: str) -> None:
    prompt = " ".join(words)
    said = f"{other} '{words[at % len(words)]}' {prompt} {other}"
    kept = without_echoes(said, [prompt])
    assert all(word not in kept for word in words if word not in other.lower())
