"""Token counts in Responses' words, to and from the one form in `chat`.

Every count that is no number >= 0 counts as left out, and parts never exceed their whole.
"""

from typing import Any

from zurelay.chat.usage import Usage
from zurelay.formats import service_tier
from zurelay.formats.token_counts import count, details


def read(usage: object, tier: object = None) -> Usage | None:
    """The count in a `usage` object, None where it holds none.

    Input tokens include cache reads and writes, output tokens include thinking. `tier`: the
    response's `service_tier`.
    """
    if not isinstance(usage, dict):
        return None
    total_input = count(usage, "input_tokens")
    output = count(usage, "output_tokens")
    if total_input is None and output is None:
        return None
    total_input, output = total_input or 0, output or 0
    of_input = details(usage, "input_tokens_details")
    cached = min(count(of_input, "cached_tokens") or 0, total_input)
    written = min(count(of_input, "cache_write_tokens") or 0, total_input - cached)
    lasting = details(of_input, "cache_write_tokens_details")
    written_long = min(count(lasting, "ttl_12h_tokens") or 0, written)
    reasoning = count(details(usage, "output_tokens_details"), "reasoning_tokens")
    return Usage(
        input=total_input - cached - written,
        cached_input=cached,
        cache_write=written - written_long,
        cache_write_long=written_long,
        output=output,
        reasoning=None if reasoning is None else min(reasoning, output),
        tier=service_tier.used(tier),
    )


def write(usage: Usage) -> dict[str, Any]:
    """The `usage` object callers get."""
    cached: dict[str, int] = {"cached_tokens": usage.cached_input}
    written = usage.cache_write + usage.cache_write_long
    if written:
        cached["cache_write_tokens"] = written
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": cached,
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": usage.total,
    }
