"""Counts of tokens."""

from typing import Any

import pytest

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
