"""Estimates are near what real tokenizers count, cheap, and never nothing.

`estimate_samples.json` holds texts and what five tokenizers count in them (2026-11-29).
"""

import json
import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.estimate import (
    estimated,
    measure,
    measure_pdf,
    prompt_tokens,
    tokens,
    weight,
)
from zurelay.chat.usage import Usage

SAMPLES: dict[str, Any] = json.loads(
    Path(__file__).with_name("estimate_samples.json").read_text(encoding="utf-8")
)
RATIOS = {
    (name, tokenizer): tokens(measure([sample["text"]])) / counted
    for name, sample in SAMPLES.items()
    for tokenizer, counted in sample["tokens"].items()
}


def test_most_texts_are_estimated_within_a_third() -> None:
    assert 0.95 < statistics.median(RATIOS.values()) < 1.15
    near = [ratio for ratio in RATIOS.values() if 0.75 <= ratio <= 4 / 3]
    assert len(near) >= 0.75 * len(RATIOS)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_text_is_estimated_beyond_the_documented_bounds(name: str) -> None:
    """Half to twice; rows of digits are one token each or a third of one, so up to 2.5 times."""
    most = 2.5 if name == "digits" else 2.0
    for tokenizer in SAMPLES[name]["tokens"]:
        assert 0.5 <= RATIOS[name, tokenizer] <= most, tokenizer


def test_a_long_prompt_is_judged_by_samples_from_all_of_it() -> None:
    texts = [sample["text"] for sample in SAMPLES.values()]
    whole = sum(measure([text]) for text in texts)
    assert 0.85 < measure(texts * 40) / (40 * whole) < 1.15
    halves = ["word " * 20_000, "0123456789" * 10_000]
    assert 0.9 < measure(halves) / sum(measure([half[:4000]]) * 25 for half in halves) < 1.1


def test_the_longest_prompt_takes_no_longer_than_a_short_one() -> None:
    def took(texts: list[str]) -> float:
        began = time.perf_counter()
        measure(texts)
        return time.perf_counter() - began

    english, chinese = SAMPLES["English"]["text"], SAMPLES["chinese"]["text"]
    short = min(took([chinese * 16]) for _ in range(20))
    for long in ([english * 50_000], [chinese * 50_000]):
        assert min(took(long) for _ in range(20)) < 20 * short


@given(st.lists(st.text(max_size=300), max_size=30))
def test_any_text_counts_and_how_it_is_cut_matters_little(texts: list[str]) -> None:
    joined = "".join(texts)
    assert measure(texts) == measure([joined])
    assert (measure(texts) > 0) == bool(joined.strip(" \t\r"))
    assert measure([joined]) <= 7 * len(joined) + 1


@given(st.text(max_size=2000), st.text(max_size=2000))
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    assert measure([one, other]) >= max(measure([one]), measure([other]))


def test_bytes_are_weighed_in_answers_not_characters() -> None:
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


def test_a_pdf_counts_by_its_size_from_a_short_one_to_a_book() -> None:
    counted = [
        prompt_tokens(measure_pdf(size), 1) - prompt_tokens(0)
        for size in (0, 40_000, 4_000_000, 10**9)
    ]
    assert counted == [1000, 1000, 100_000, 150_000]
