"""Token counts: leaf classes sum, whatever the upstream claims."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.usage import Usage
from zurelay.formats.openai_chat.usage import read, write


def counts(
    prompt: int, completion: int, total: int | None = None, reasoning: int | None = None
) -> Any:
    usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if total is not None:
        usage["total_tokens"] = total
    if reasoning is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return usage


@pytest.mark.parametrize(
    ("usage", "completion", "reasoning"),
    [
        (counts(2008, 266, 2274, 261), 266, 261),  # inside
        (counts(36, 10, 736, 690), 700, 690),  # beside: xAI
        (counts(38, 11, 266, 217), 228, 217),  # beside: Google's compatible endpoint
        (counts(36, 10, None, 690), 700, 690),  # more than could be inside
        (counts(36, 700, None, 690), 700, 690),
        (counts(36, 700, 999, 690), 700, 690),
        ({**counts(36, 700, 736), "reasoning_tokens": 5}, 700, 5),
        (counts(1, 2, 3), 2, None),
        (counts(1, 2, 3, 0), 2, 0),
    ],
)
def test_thinking_is_counted_once(usage: Any, completion: int, reasoning: int | None) -> None:
    got = read(usage)
    assert got is not None
    assert (got.completion, got.reasoning) == (completion, reasoning)


def test_the_profile_decides_where_the_total_does_not() -> None:
    assert read(counts(36, 700, None, 90), excludes_reasoning=True) == Usage(
        input=36, output=790, reasoning=90
    )
    # The total says it is inside.
    assert read(counts(36, 700, 736, 90), True) == Usage(input=36, output=700, reasoning=90)


@pytest.mark.parametrize(
    ("more", "cached", "written"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 1}}, 8, 1),
        ({"prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 2}, 8, 0),  # DeepSeek
        ({"cached_tokens": 8}, 8, 0),  # Moonshot
        ({"cached_tokens": 8, "prompt_tokens_details": {"cached_tokens": 0}}, 8, 0),
        ({"prompt_tokens_details": None}, 0, 0),
        ({"prompt_tokens_details": {"cached_tokens": 99, "cache_write_tokens": 99}}, 10, 0),
        ({"cached_tokens": -5}, 0, 0),
    ],
)
def test_cache_reads_of_every_dialect(more: Any, cached: int, written: int) -> None:
    got = read({**counts(10, 2), **more})
    assert got == Usage(10 - cached - written, cached, written, output=2)


def test_writes_to_a_lasting_cache_are_told_apart_where_the_upstream_does() -> None:
    details = {"cache_write_tokens": 6, "cache_write_tokens_details": {"ttl_12h_tokens": 4}}
    got = read({**counts(10, 2), "prompt_tokens_details": details})
    assert got == Usage(4, cache_write=2, cache_write_long=4, output=2)


def test_audio_is_a_class_of_its_own() -> None:
    got = read(
        {
            **counts(10, 20),
            "prompt_tokens_details": {"audio_tokens": 4, "cached_tokens": 3},
            "completion_tokens_details": {"audio_tokens": 15, "reasoning_tokens": 9},
        }
    )
    assert got == Usage(3, 3, audio_input=4, output=5, audio_output=15, reasoning=5)


def test_images_are_a_class_of_their_own() -> None:
    raw = {
        **counts(10, 20),
        "prompt_tokens_details": {"image_tokens": 4, "cached_tokens": 7},
        "completion_tokens_details": {"image_tokens": 15, "reasoning_tokens": 3},
    }
    got = read(raw)
    assert got == Usage(0, 7, image_input=3, output=5, image_output=15, reasoning=3)
    assert got is not None
    assert read(write(got)) == got


@pytest.mark.parametrize(
    "usage", [None, [], "x", {}, {"prompt_tokens": None}, {"prompt_tokens": "5"}]
)
def test_what_holds_no_count_is_none(usage: Any) -> None:
    assert read(usage) is None


def test_a_total_alone_is_prompt() -> None:
    assert read({"total_tokens": 9, "completion_tokens": 2}) == Usage(input=7, output=2)


NUMBER = st.one_of(
    st.integers(-5, 50),
    st.floats(),
    st.none(),
    st.booleans(),
    st.text(max_size=2),
    st.just(1 << 70),
)
NAMES = ["prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "cached_tokens",
         "prompt_cache_hit_tokens"]  # fmt: skip
INNER = [
    "cached_tokens",
    "cache_write_tokens",
    "audio_tokens",
    "image_tokens",
    "reasoning_tokens",
]


@given(
    st.dictionaries(st.sampled_from(NAMES), NUMBER),
    st.dictionaries(st.sampled_from(INNER), NUMBER) | NUMBER,
    st.dictionaries(st.sampled_from(INNER), NUMBER) | NUMBER,
    st.booleans(),
)
def test_lies_never_make_classes_negative_or_doubled(
    usage: Any, prompt: Any, completion: Any, excludes: bool
) -> None:
    usage = {**usage, "prompt_tokens_details": prompt, "completion_tokens_details": completion}
    got = read(usage, excludes)
    if got is None:
        return
    leaves = (
        got.input,
        got.cached_input,
        got.cache_write,
        got.audio_input,
        got.image_input,
        got.output,
        got.audio_output,
        got.image_output,
    )
    assert all(isinstance(leaf, int) and leaf >= 0 for leaf in leaves)
    assert got.total == sum(leaves)
    claimed = usage.get("prompt_tokens")
    if isinstance(claimed, int) and not isinstance(claimed, bool) and 0 <= claimed < 100:
        assert got.prompt == claimed
    assert got.reasoning is None or 0 <= got.reasoning <= got.output
    again = read(write(got))
    assert again == got or got.total == 0


def test_callers_get_the_whole_shape() -> None:
    assert write(Usage(input=5)) == {
        "prompt_tokens": 5,
        "completion_tokens": 0,
        "total_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    full = write(Usage(1, 2, 3, 4, 5, 6, 7, reasoning=6))
    assert full == {
        "prompt_tokens": 15,
        "completion_tokens": 13,
        "total_tokens": 28,
        "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 7, "audio_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 6, "audio_tokens": 7},
    }
