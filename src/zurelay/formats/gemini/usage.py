"""Token counts in this format's words, read into the one form in `chat`.

Every count that is no number >= 0 counts as left out, and parts never exceed their whole.
"""

from collections.abc import Mapping
from typing import Any

from zurelay.chat.usage import Usage
from zurelay.formats import service_tier
from zurelay.formats.token_counts import count


def read(metadata: object) -> Usage | None:
    """The count in a `usageMetadata` object, None where it holds none.

    `promptTokenCount` includes cache reads and leaves the results of server tools out;
    `candidatesTokenCount` leaves thinking out, on some hosts it does not: the total tells.
    """
    if not isinstance(metadata, dict):
        return None
    prompt, answer = count(metadata, "promptTokenCount"), count(metadata, "candidatesTokenCount")
    thoughts = count(metadata, "thoughtsTokenCount")
    if prompt is None and answer is None and thoughts is None:
        return None
    prompt, answer = prompt or 0, answer or 0
    output = answer + (thoughts or 0)
    if thoughts and count(metadata, "totalTokenCount") == prompt + answer:
        output = answer
    cached = min(count(metadata, "cachedContentTokenCount") or 0, prompt)
    audio = min(_fresh(metadata, "AUDIO"), prompt - cached)
    seen = min(_fresh(metadata, "IMAGE"), prompt - cached - audio)
    spoken = min(_of_kind(metadata, "candidatesTokensDetails", "AUDIO"), output)
    drawn = min(_of_kind(metadata, "candidatesTokensDetails", "IMAGE"), output - spoken)
    text = prompt - cached - audio - seen + (count(metadata, "toolUsePromptTokenCount") or 0)
    said = output - spoken - drawn
    return Usage(
        input=text,
        cached_input=cached,
        audio_input=audio,
        image_input=seen,
        output=said,
        audio_output=spoken,
        image_output=drawn,
        reasoning=None if thoughts is None else min(thoughts, said),
        tier=service_tier.used(metadata.get("serviceTier") or metadata.get("trafficType")),
    )


def _fresh(metadata: Mapping[str, Any], kind: str) -> int:
    """Tokens of the prompt of one modality that were not read from the cache."""
    whole = _of_kind(metadata, "promptTokensDetails", kind)
    return max(whole - _of_kind(metadata, "cacheTokensDetails", kind), 0)


def _of_kind(metadata: Mapping[str, Any], name: str, kind: str) -> int:
    """Tokens of one modality in a list of counts by modality."""
    details = metadata.get(name)
    return sum(
        count(item, "tokenCount") or 0
        for item in (details if isinstance(details, list) else [])
        if isinstance(item, dict) and item.get("modality") == kind
    )
