import time

from zurelay.chat.nearest import did_you_mean, nearest

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "MiniMax-M3", "openai/gpt-oss-120b")


def test_a_word_with_one_wrong_letter_finds_its_neighbour() -> None:
    assert nearest("claude-opus-5.5", MODELS) == "claude-opus-5-5"


def test_case_does_not_count() -> None:
    assert nearest("minimax-m3", MODELS) == "MiniMax-M3"


def test_a_word_unlike_all_others_finds_nothing() -> None:
    assert nearest("zebra", MODELS) is None
    assert did_you_mean("zebra", MODELS) == ""


def test_the_hint_can_be_put_behind_a_sentence() -> None:
    assert did_you_mean("claude-opus-55", MODELS) == ' Did you mean "claude-opus-5-5"?'


def test_a_very_long_word_costs_no_more_than_a_long_one() -> None:
    many = [f"model-{number}" for number in range(500)]
    start = time.process_time()
    assert nearest("m" * 1_000_000, many) is None
    assert time.process_time() - start < 0.5
