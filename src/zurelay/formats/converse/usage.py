"""Token counts in Converse's words, read into the one form in `chat`.

`inputTokens` leaves cache reads and writes out (vendor's page on prompt caching, 2026-11-29).
Every count that is no number >= 0 counts as left out.
"""

from collections.abc import Mapping
from typing import Any

from zurelay.chat.usage import Usage

_MOST = 1 << 40
"""Larger counts are lies."""

_COUNTED = ("inputTokens", "outputTokens")


def read(usage: object) -> Usage | None:
    """The count in a `usage` object, None where it holds none."""
    if not isinstance(usage, dict) or all(_count(usage, name) is None for name in _COUNTED):
        return None
    written = _count(usage, "cacheWriteInputTokens") or 0
    details = usage.get("cacheDetails")
    long = sum(
        _count(each, "inputTokens") or 0
        for each in (details if isinstance(details, list) else ())
        if isinstance(each, dict) and each.get("ttl") == "1h"
    )
    written = max(written, long)
    return Usage(
        input=_count(usage, "inputTokens") or 0,
        cached_input=_count(usage, "cacheReadInputTokens") or 0,
        cache_write=written - long,
        cache_write_long=long,
        output=_count(usage, "outputTokens") or 0,
    )


def _count(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= _MOST:  # also what is no number at all
        return None
    return int(value)
