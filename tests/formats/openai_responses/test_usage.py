"""Counts of the Responses format as leaf classes that sum to the totals."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.usage import Usage
from zurelay.formats.openai_responses.usage import read

COUNTS = st.integers(0, 10**7)
ANYTHING = st.none() | st.integers() | st.floats() | st.text(max_size=3) | st.booleans()


def test_every_class_is_told_apart() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {
            "cached_tokens": 60,
            "cache_write_tokens": 30,
            "cache_write_tokens_details": {"ttl_30m_tokens": 20, "ttl_12h_tokens": 10},
        },
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 40},
    }
    assert read(usage) == Usage(
        input=10, cached_input=60, cache_write=20, cache_write_long=10, output=50, reasoning=40
    )


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_classes_sum_to_the_totals_and_thinking_is_inside_the_output(
    total: int, cached: int, written: int, lasting: int, output: int, reasoning: int
) -> None:
    usage = read(
        {
            "input_tokens": total,
            "input_tokens_details": {
                "cached_tokens": cached,
                "cache_write_tokens": written,
                "cache_write_tokens_details": {"ttl_12h_tokens": lasting},
            },
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": reasoning},
        }
    )
    assert usage is not None
    assert (usage.prompt, usage.completion) == (total, output)
    assert usage.reasoning is not None
    assert 0 <= usage.reasoning <= output
    assert min(usage.input, usage.cached_input, usage.cache_write, usage.cache_write_long) >= 0


@given(st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), ANYTHING))
def test_nonsense_is_never_a_negative_count(usage: dict[str, Any]) -> None:
    found = read(usage)
    assert found is None or (found.prompt >= 0 and found.completion >= 0)


@pytest.mark.parametrize("usage", [None, [], {}, {"input_tokens": None}, {"input_tokens": "5"}])
def test_no_count_is_none(usage: object) -> None:
    assert read(usage) is None
