from zurelay.chat.estimate import measure
from zurelay.formats.seen import Seen


def test_the_length_of_a_prompt_is_that_of_its_words_and_of_what_is_none() -> None:
    found = Seen(texts=["Hello", "wörld"], other_length=7)
    assert found.text_length == measure(["Hello", "wörld"]) + 7
    found.texts.append("more")
    assert found.text_length == measure(["Hello", "wörld", "more"]) + 7
