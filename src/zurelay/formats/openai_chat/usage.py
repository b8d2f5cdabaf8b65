"""Token counts in Chat Completions' words, in all dialects, to and from the one form in `chat`.

Every count that is no number >= 0 counts as left out, and parts never exceed their whole: leaf
classes always sum to what the upstream called the total of its side.
"""

from typing import Any

from zurelay.chat.usage import Usage
from zurelay.formats.token_counts import count, details


def read(usage: object, excludes_reasoning: bool = False) -> Usage | None:
    """The count in a `usage` object, None where it holds none.

    Prompt tokens include cache reads and writes. Thinking is inside completion tokens if total ==
    prompt + completion, beside them if total == prompt + completion + thinking (xAI, Google's
    compatible endpoint); where the total says neither, `excludes_reasoning` decides, and thinking
    beyond the completion is always beside it.
    """
    if not isinstance(usage, dict):
        return None
    prompt = count(usage, "prompt_tokens")
    completion = count(usage, "completion_tokens")
    total = count(usage, "total_tokens")
    if prompt is None and completion is None and not total:
        return None
    completion = completion or 0
    if prompt is None:
        prompt = max((total or 0) - completion, 0)
    prompt_details = details(usage, "prompt_tokens_details")
    completion_details = details(usage, "completion_tokens_details")
    reasoning = _first(
        count(completion_details, "reasoning_tokens"), count(usage, "reasoning_tokens")
    )
    if reasoning and total != prompt + completion:
        beside = total == prompt + completion + reasoning
        if beside or excludes_reasoning or reasoning > completion:
            completion += reasoning
    cached = min(
        _first(
            count(prompt_details, "cached_tokens"),
            count(usage, "prompt_cache_hit_tokens"),  # DeepSeek
            count(usage, "cached_tokens"),  # Moonshot
        )
        or 0,
        prompt,
    )
    written = min(count(prompt_details, "cache_write_tokens") or 0, prompt - cached)
    lasting = details(prompt_details, "cache_write_tokens_details")  # as Responses has it
    written_long = min(count(lasting, "ttl_12h_tokens") or 0, written)
    heard = min(count(prompt_details, "audio_tokens") or 0, prompt - cached - written)
    seen = count(prompt_details, "image_tokens") or 0
    seen = min(seen, prompt - cached - written - heard)
    spoken = min(count(completion_details, "audio_tokens") or 0, completion)
    drawn = min(count(completion_details, "image_tokens") or 0, completion - spoken)
    said = completion - spoken - drawn
    return Usage(
        input=prompt - cached - written - heard - seen,
        cached_input=cached,
        cache_write=written - written_long,
        cache_write_long=written_long,
        audio_input=heard,
        image_input=seen,
        output=said,
        audio_output=spoken,
        image_output=drawn,
        reasoning=None if reasoning is None else min(reasoning, said),
    )


def write(usage: Usage) -> dict[str, Any]:
    """The `usage` object callers get."""
    prompt: dict[str, int] = {"cached_tokens": usage.cached_input}
    written = usage.cache_write + usage.cache_write_long
    if written:
        prompt["cache_write_tokens"] = written
    if usage.audio_input:
        prompt["audio_tokens"] = usage.audio_input
    if usage.image_input:
        prompt["image_tokens"] = usage.image_input
    completion: dict[str, int] = {}
    if usage.reasoning is not None:
        completion["reasoning_tokens"] = usage.reasoning
    if usage.audio_output:
        completion["audio_tokens"] = usage.audio_output
    if usage.image_output:
        completion["image_tokens"] = usage.image_output
    read, written_out = usage.prompt, usage.completion
    out: dict[str, Any] = {
        "prompt_tokens": read,
        "completion_tokens": written_out,
        "total_tokens": read + written_out,
        "prompt_tokens_details": prompt,
    }
    if completion:
        out["completion_tokens_details"] = completion
    return out


def _first(*counts: int | None) -> int | None:
    """The first that is not left out; a later one where it is zero."""
    given = [count for count in counts if count is not None]
    return next((count for count in given if count), given[0] if given else None)
