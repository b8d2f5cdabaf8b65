import re

import pytest

from zurelay.letters.alerts import SENTENCES, money, say


def test_a_sentence_is_said_in_each_language_with_its_own_amounts() -> None:
    values = {"level": 80, "spent": "1234.5", "budget": "1500", "what": "research"}
    assert say("en", "budget", values) == (
        "80% of a budget is spent: $1,234.50 of $1,500.00 (research)."
    )
    assert say("nl", "budget", values).startswith("80% van een budget is uitgegeven: $\xa01.234,50")
    assert say("fr", "budget", values).startswith("80\xa0% d")
    assert say("de", "budget", values) == say("en", "budget", values)


def test_small_amounts_are_told_as_they_are() -> None:
    assert money("en", "0.000001") == "$0.000001"
    assert money("en", "-2") == "-$2.00"


def test_what_strangers_named_is_only_filled_in() -> None:
    said = say("en", "unpriced", {"models": ["%(day)s", "b"]})
    assert said == "Models without a price are refused: %(day)s, b."


@pytest.mark.parametrize("language", ["nl", "fr"])
@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_sentence_takes_its_values(language: str, sentence: str) -> None:
    names = re.findall(r"%\((\w+)\)s", SENTENCES[sentence])
    values = dict.fromkeys(names, "1")
    assert say(language, sentence, values) != say("en", sentence, values)
