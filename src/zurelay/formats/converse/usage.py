"""Token counts in Converse's words, read into the one form in `chat`.

`inputTokens` leaves cache reads and writes out (vendor's page on prompt caching, 2026-11-29).
Every count that is no number >= 0 counts as left out.
"""

from zurelay.chat.usage import Usage
from zurelay.formats import service_tier
from zurelay.formats.token_counts import count

_COUNTED = ("inputTokens", "outputTokens")


def read(usage: object, tier: object = None) -> Usage | None:
    """The count in a `usage` object, None where it holds none. `tier`: its `serviceTier`."""
    if not isinstance(usage, dict) or all(count(usage, name) is None for name in _COUNTED):
        return None
    written = count(usage, "cacheWriteInputTokens") or 0
    details = usage.get("cacheDetails")
    long = sum(
        count(each, "inputTokens") or 0
        for each in (details if isinstance(details, list) else ())
        if isinstance(each, dict) and each.get("ttl") == "1h"
    )
    written = max(written, long)
    return Usage(
        input=count(usage, "inputTokens") or 0,
        cached_input=count(usage, "cacheReadInputTokens") or 0,
        cache_write=written - long,
        cache_write_long=long,
        output=count(usage, "outputTokens") or 0,
        tier=service_tier.used(tier.get("type") if isinstance(tier, dict) else None),
    )
