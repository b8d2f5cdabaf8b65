"""Token counts of Converse."""

from typing import Any

import pytest

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
