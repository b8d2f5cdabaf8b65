"""What no answer can have used is not billed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.usage import Usage
from zurelay.meter.plausible import believed


def judged(usage: Usage, **changes: Any) -> Usage:
    facts: dict[str, Any] = {"prompt": 50, "delivered": 40, "window": 1000, "limit": 100}
    return believed(usage, **{**facts, **changes})


@pytest.mark.parametrize(
    ("usage", "changes"),
    [
        (Usage(input=1000, output=100), {}),
        (Usage(input=1, output=4196), {"window": 5000}),  # it thought more than it was to say
        (Usage(input=1, output=16_000), {"limit": 8000, "window": 20_000}),
        (Usage(input=0, output=0), {}),  # an explicit zero is a zero
        (Usage(input=10**9, output=10**9), {"window": None, "limit": None}),
        (Usage(output=9000, reasoning=8900), {"thinking_apart": True, "window": 9000}),
        (Usage(output=1000), {"limit": None}),
    ],
)
def test_what_can_be_is_taken_as_it_was_told(usage: Usage, changes: Any) -> None:
    assert judged(usage, **changes) is usage


def test_a_prompt_beyond_the_window_is_replaced_by_the_estimate() -> None:
    told = Usage(input=1, cached_input=1_000_000, image_input=5, output=7, tier="flex")
    assert judged(told) == Usage(input=50, output=7, tier="flex", estimated=True)


@pytest.mark.parametrize(
    "usage",
    [Usage(input=9, output=4197), Usage(input=9, output=4100, audio_output=100, reasoning=5)],
)
def test_an_answer_beyond_its_limit_is_replaced_by_what_was_delivered(usage: Usage) -> None:
    assert judged(usage, window=None) == Usage(input=9, output=10, estimated=True)


def test_an_answer_without_a_limit_is_bounded_by_the_window() -> None:
    assert judged(Usage(output=1001), limit=None) == Usage(output=10, estimated=True)
    apart = judged(Usage(output=1001, reasoning=1001), thinking_apart=True)
    assert apart == Usage(output=10, estimated=True)


COUNTS = st.integers(0, 10**9)


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.integers(0, 9000), st.integers(0, 500))
def test_what_is_billed_never_exceeds_window_and_limit_by_more_than_the_slack(
    fresh: int, cached: int, said: int, spoken: int, window: int, limit: int
) -> None:
    usage = Usage(input=fresh, cached_input=cached, output=said, audio_output=spoken)
    found = judged(usage, window=window, limit=limit)
    assert found.prompt <= max(window, 50)
    assert found.completion <= max(min(limit + max(limit, 4096), window), 10)
    assert found.estimated == (found != usage)
