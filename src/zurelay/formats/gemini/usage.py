"""Token counts in this format's words, read into the one form in `chat`.

Every count that is no number >= 0 counts as left out, and parts never exceed their whole.
"""

from collections.abc import Mapping
from typing import Any

from zurelay.chat.usage import Usage
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
    heard = _audio(metadata, "promptTokensDetails") - _audio(metadata, "cacheTokensDetails")
    audio = min(max(heard, 0), prompt - cached)
    spoken = min(_audio(metadata, "candidatesTokensDetails"), output)
    text = prompt - cached - audio + (count(metadata, "toolUsePromptTokenCount") or 0)
    return Usage(
        input=text,
        cached_input=cached,
        audio_input=audio,
        output=output - spoken,
        audio_output=spoken,
        reasoning=None if thoughts is None else min(thoughts, output - spoken),
    )


def _audio(metadata: Mapping[str, Any], name: str) -> int:
    """Tokens of sound in a list of counts by modality."""
    details = metadata.get(name)
    return sum(
        count(item, "tokenCount") or 0
        for item in (details if isinstance(details, list) else [])
        if isinstance(item, dict) and item.get("modality") == "AUDIO"
    )
