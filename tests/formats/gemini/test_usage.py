"""Counts of tokens."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.usage import Usage
from zurelay.formats.gemini.usage import read


@pytest.mark.parametrize(
    ("metadata", "usage"),
    [
        ({"promptTokenCount": 10, "candidatesTokenCount": 5}, Usage(input=10, output=5)),
        (
            {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 7},
            Usage(input=10, output=12, reasoning=7),
        ),
        (  # thoughts are in the answer's count already
            {
                "promptTokenCount": 10,
                "candidatesTokenCount": 12,
                "thoughtsTokenCount": 7,
                "totalTokenCount": 22,
            },
            Usage(input=10, output=12, reasoning=7),
        ),
        (
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 60,
                "toolUsePromptTokenCount": 4,
                "candidatesTokenCount": 1,
            },
            Usage(input=44, cached_input=60, output=1),
        ),
        (
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 60,
                "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 50}, None],
                "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 20}],
                "candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 2}],
                "candidatesTokenCount": 3,
            },
            Usage(input=10, cached_input=60, audio_input=30, output=1, audio_output=2),
        ),
        (
            {
                "promptTokenCount": 9,
                "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 50}],
                "candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 50}],
                "candidatesTokenCount": 3,
            },
            Usage(audio_input=9, audio_output=3),
        ),
        (
            {
                "promptTokenCount": 1000,
                "cachedContentTokenCount": 300,
                "promptTokensDetails": [{"modality": "IMAGE", "tokenCount": 600}],
                "cacheTokensDetails": [{"modality": "IMAGE", "tokenCount": 100}],
                "candidatesTokenCount": 1300,
                "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290}],
                "trafficType": "ON_DEMAND_FLEX",
            },
            Usage(
                input=200,
                cached_input=300,
                image_input=500,
                output=10,
                image_output=1290,
                tier="flex",
            ),
        ),
        ({"promptTokenCount": 5, "serviceTier": "standard"}, Usage(input=5, tier="standard")),
        ({"promptTokenCount": 5, "thoughtsTokenCount": 3}, Usage(input=5, output=3, reasoning=3)),
        ({"promptTokenCount": 5, "cachedContentTokenCount": 9}, Usage(cached_input=5)),
        ({"promptTokenCount": -1, "candidatesTokenCount": True}, None),
        ({"promptTokenCount": "5"}, None),
        ({}, None),
        (None, None),
        ([1], None),
    ],
)
def test_every_class_is_counted_once(metadata: Any, usage: Usage | None) -> None:
    assert read(metadata) == usage


COUNTS = st.integers(0, 10**7)
DETAILS = st.lists(
    st.fixed_dictionaries(
        {"modality": st.sampled_from(["TEXT", "IMAGE", "AUDIO", "VIDEO"]), "tokenCount": COUNTS}
    ),
    max_size=4,
)


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, DETAILS, DETAILS, DETAILS)
def test_classes_sum_to_what_was_told_whatever_the_details_say(
    prompt: int,
    cached: int,
    tools: int,
    answer: int,
    thoughts: int,
    of_prompt: Any,
    of_cache: Any,
    of_answer: Any,
) -> None:
    usage = read(
        {
            "promptTokenCount": prompt,
            "cachedContentTokenCount": cached,
            "toolUsePromptTokenCount": tools,
            "candidatesTokenCount": answer,
            "thoughtsTokenCount": thoughts,
            "totalTokenCount": prompt + tools + answer + thoughts,
            "promptTokensDetails": of_prompt,
            "cacheTokensDetails": of_cache,
            "candidatesTokensDetails": of_answer,
        }
    )
    assert usage is not None
    assert usage.prompt == prompt + tools
    assert usage.completion in (answer, answer + thoughts)
    leaves = (usage.input, usage.cached_input, usage.audio_input, usage.image_input, usage.output)
    assert min(*leaves, usage.audio_output, usage.image_output) >= 0
