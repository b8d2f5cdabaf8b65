"""Token counts of Converse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.usage import Usage
from zurelay.formats.converse.usage import read


def test_cache_reads_and_writes_stand_beside_the_input() -> None:
    usage = {
        "inputTokens": 10,
        "outputTokens": 5,
        "totalTokens": 115,
        "cacheReadInputTokens": 60,
        "cacheWriteInputTokens": 40,
        "cacheDetails": [{"ttl": "1h", "inputTokens": 30}, {"ttl": "5m", "inputTokens": 10}],
    }
    assert read(usage) == Usage(
        input=10, cached_input=60, cache_write=10, cache_write_long=30, output=5
    )
    assert read({**usage, "cacheDetails": None}) == Usage(
        input=10, cached_input=60, cache_write=40, output=5
    )


@pytest.mark.parametrize(
    ("told", "tier"),
    [({"type": "flex"}, "flex"), ({"type": "default"}, "standard"), (None, None), ("flex", None)],
)
def test_the_tier_that_was_used_is_read(told: Any, tier: str | None) -> None:
    assert read({"inputTokens": 1}, told) == Usage(input=1, tier=tier)


COUNTS = st.integers(0, 10**7)


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_classes_sum_to_what_was_told(
    fresh: int, cached: int, written: int, lasting: int, output: int
) -> None:
    usage = read(
        {
            "inputTokens": fresh,
            "cacheReadInputTokens": cached,
            "cacheWriteInputTokens": written,
            "cacheDetails": [{"ttl": "1h", "inputTokens": lasting}],
            "outputTokens": output,
        }
    )
    assert usage is not None
    assert usage.prompt == fresh + cached + max(written, lasting)
    assert usage.completion == output
    assert usage.cache_write >= 0


@pytest.mark.parametrize("usage", [None, [], {}, {"inputTokens": None}, {"inputTokens": True}])
def test_no_count_is_no_usage(usage: Any) -> None:
    assert read(usage) is None


@pytest.mark.parametrize("lie", [-1, 1 << 50, "7", float("nan")])
def test_what_cannot_be_counts_as_left_out(lie: Any) -> None:
    told = read({"inputTokens": lie, "outputTokens": 2, "cacheWriteInputTokens": lie})
    assert told == Usage(output=2)


def test_long_writes_are_writes_even_where_their_sum_is_missing() -> None:
    usage = {"inputTokens": 1, "cacheDetails": [{"ttl": "1h", "inputTokens": 30}]}
    assert read(usage) == Usage(input=1, cache_write_long=30)
