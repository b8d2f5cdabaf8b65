"""Counts in Messages' words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.usage import Usage
from zurelay.formats.anthropic.usage import merged, read, write


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (
            {
                "input_tokens": 3,
                "cache_creation_input_tokens": 12_304,
                "cache_read_input_tokens": 0,
                "output_tokens": 550,
            },
            Usage(input=3, cache_write=12_304, output=550),
        ),
        (
            {
                "input_tokens": 1,
                "cache_creation_input_tokens": 30,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 10,
                    "ephemeral_1h_input_tokens": 20,
                },
                "cache_read_input_tokens": 5,
                "output_tokens": 9,
                "output_tokens_details": {"thinking_tokens": 4},
            },
            Usage(
                input=1, cached_input=5, cache_write=10, cache_write_long=20, output=9, reasoning=4
            ),
        ),
        ({"output_tokens": 2}, Usage(output=2)),
        (
            {
                "output_tokens": 2,
                "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 9},
                "service_tier": "standard",
                "speed": "standard",
                "inference_geo": "global",
            },
            Usage(output=2, web_searches=3, tier="standard"),
        ),
        ({"output_tokens": 2, "service_tier": "priority"}, Usage(output=2, tier="priority")),
        (
            {"output_tokens": 2, "service_tier": "standard", "inference_geo": "us"},
            Usage(output=2, tier="us"),
        ),
        (
            {"output_tokens": 2, "speed": "fast", "inference_geo": "us"},
            Usage(output=2, tier="fast"),
        ),
        ({"output_tokens": 2, "server_tool_use": None, "service_tier": 5}, Usage(output=2)),
        ({"input_tokens": -1, "output_tokens": "x"}, None),
        ({"input_tokens": True}, None),
        ({"service_tier": "standard"}, None),
        (None, None),
        ([], None),
    ],
)
def test_reading(raw: Any, usage: Usage | None) -> None:
    assert read(raw) == usage


def test_no_class_is_counted_twice() -> None:
    raw = {"input_tokens": 3, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 7}
    found = read(raw)
    assert found is not None
    assert found.prompt == 15


def test_thinking_never_exceeds_the_output() -> None:
    found = read({"output_tokens": 2, "output_tokens_details": {"thinking_tokens": 9}})
    assert found == Usage(output=2, reasoning=2)


def test_a_later_count_replaces_an_earlier_one_and_nulls_change_nothing() -> None:
    before = {"input_tokens": 4, "output_tokens": 1}
    assert merged(before, {"output_tokens": 23, "input_tokens": None}) == {
        "input_tokens": 4,
        "output_tokens": 23,
    }
    assert merged(before, None) == before


@pytest.mark.parametrize(
    "usage",
    [
        Usage(),
        Usage(input=1, cached_input=2, output=3),
        Usage(input=1, cache_write=2, cache_write_long=3, output=4, reasoning=2),
    ],
)
def test_what_is_written_reads_as_it_was(usage: Usage) -> None:
    assert read(write(usage)) == usage


def test_audio_is_not_lost() -> None:
    assert write(Usage(input=1, audio_input=2, output=3, audio_output=4))["input_tokens"] == 3


COUNTS = st.integers(0, 10**7)


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_classes_sum_to_what_was_told(
    fresh: int, cached: int, written: int, lasting: int, output: int, thought: int
) -> None:
    usage = read(
        {
            "input_tokens": fresh,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
            "cache_creation": {"ephemeral_1h_input_tokens": lasting},
            "output_tokens": output,
            "output_tokens_details": {"thinking_tokens": thought},
        }
    )
    assert usage is not None
    assert usage.prompt == fresh + cached + max(written, lasting)
    assert (usage.completion, usage.reasoning) == (output, min(thought, output))
    assert usage.cache_write >= 0
