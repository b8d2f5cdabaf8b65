"""Percentiles of first-token times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.plan.latency import Latency, size_class


def latency(*seconds: float) -> Latency:
    made = Latency()
    for each in seconds:
        made.add(each)
    return made


def test_without_samples_there_is_no_percentile() -> None:
    assert latency().percentile(0.5) is None
    assert latency().count == 0


def test_a_few_samples_count_at_once() -> None:
    made = latency(3.0, 1.0, 2.0)
    assert made.percentile(0.5) == 2.0
    made.add(9.0)
    assert made.percentile(0.95) == 9.0
    assert made.percentile(1.0) == 9.0
    assert made.count == 4


def test_old_samples_make_way() -> None:
    made = latency(*[9.0] * 128, *[1.0] * 128)
    assert made.percentile(0.95) == 1.0
    assert made.count == 256


def test_many_samples_are_counted_again_every_eighth_time() -> None:
    made = latency(*[1.0] * 100)
    assert made.percentile(0.99) == 1.0
    for _ in range(7):
        made.add(5.0)
    assert made.percentile(0.99) == 1.0
    made.add(5.0)
    assert made.percentile(0.99) == 5.0


@given(st.lists(st.floats(0, 100), min_size=1, max_size=15), st.floats(0, 1))
def test_a_percentile_is_a_sample_that_so_many_do_not_exceed(
    samples: list[float], part: float
) -> None:
    found = latency(*samples).percentile(part)
    assert found in samples
    assert sum(each <= found for each in samples) >= part * len(samples)


@pytest.mark.parametrize(
    ("tokens", "expected"), [(0, 0), (1_999, 0), (2_000, 1), (19_999, 1), (20_000, 2)]
)
def test_prompts_have_three_sizes(tokens: int, expected: int) -> None:
    assert size_class(tokens) == expected
