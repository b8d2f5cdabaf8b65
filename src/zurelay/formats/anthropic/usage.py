"""Token counts in Messages' words, to and from the one form in `chat`.

`input_tokens` leaves out cache reads and writes; counts in a stream are cumulative, so the last
value of each holds. Every count that is no number >= 0 counts as left out.
"""

from collections.abc import Mapping
from typing import Any

from zurelay.chat.usage import Usage
from zurelay.formats import service_tier
from zurelay.formats.token_counts import count, details

_COUNTED = ("input_tokens", "output_tokens", "cache_read_input_tokens")


def merged(before: Mapping[str, Any], after: object) -> dict[str, Any]:
    """Usage so far with a later event's laid over it; nulls change nothing."""
    if not isinstance(after, dict):
        return dict(before)
    return {**before, **{name: value for name, value in after.items() if value is not None}}


def read(usage: object) -> Usage | None:
    """The count in a `usage` object, None where it holds none."""
    if not isinstance(usage, dict) or all(count(usage, name) is None for name in _COUNTED):
        return None
    written = count(usage, "cache_creation_input_tokens") or 0
    split = details(usage, "cache_creation")
    long = count(split, "ephemeral_1h_input_tokens") or 0
    short = count(split, "ephemeral_5m_input_tokens") or 0
    written = max(written, long + short)
    output = count(usage, "output_tokens") or 0
    thought = count(details(usage, "output_tokens_details"), "thinking_tokens")
    ran = details(usage, "server_tool_use")
    return Usage(
        input=count(usage, "input_tokens") or 0,
        cached_input=count(usage, "cache_read_input_tokens") or 0,
        cache_write=written - long,
        cache_write_long=long,
        output=output,
        reasoning=None if thought is None else min(thought, output),
        web_searches=count(ran, "web_search_requests") or 0,
        tier=_tier(usage),
    )


def _tier(usage: Mapping[str, Any]) -> str | None:
    """What made it dearer than the standard: speed, then place, then tier."""
    if usage.get("speed") == "fast":
        return "fast"
    if usage.get("inference_geo") == "us":
        return "us"
    return service_tier.used(usage.get("service_tier"))


def write(usage: Usage) -> dict[str, Any]:
    """The `usage` object callers get."""
    written = usage.cache_write + usage.cache_write_long
    out: dict[str, Any] = {
        "input_tokens": usage.input + usage.audio_input + usage.image_input,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": usage.cached_input,
        "output_tokens": usage.completion,
    }
    if written:
        out["cache_creation"] = {
            "ephemeral_5m_input_tokens": usage.cache_write,
            "ephemeral_1h_input_tokens": usage.cache_write_long,
        }
    if usage.reasoning is not None:
        out["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return out
