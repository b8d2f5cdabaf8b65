"""Token counts in Responses' words, to and from the one form in `chat`.

Every count that is no number >= 0 counts as left out, and parts never exceed their whole.
"""

from collections.abc import Mapping
from typing import Any

from zurelay.chat.usage import Usage

_MOST = 1 << 40
"""Larger counts are lies."""


def read(usage: object) -> Usage | None:
    """The count in a `usage` object, None where it holds none.

    Input tokens include cache reads and writes, output tokens include thinking.
    """
    if not isinstance(usage, dict):
        return None
    total_input = _count(usage, "input_tokens")
    output = _count(usage, "output_tokens")
    if total_input is None and output is None:
        return None
    total_input, output = total_input or 0, output or 0
    details = _details(usage, "input_tokens_details")
    cached = min(_count(details, "cached_tokens") or 0, total_input)
    written = min(_count(details, "cache_write_tokens") or 0, total_input - cached)
    lasting = _details(details, "cache_write_tokens_details")
    written_long = min(_count(lasting, "ttl_12h_tokens") or 0, written)
    reasoning = _count(_details(usage, "output_tokens_details"), "reasoning_tokens")
    return Usage(
        input=total_input - cached - written,
        cached_input=cached,
        cache_write=written - written_long,
        cache_write_long=written_long,
        output=output,
        reasoning=None if reasoning is None else min(reasoning, output),
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


def _count(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= _MOST:  # also what is no number at all
        return None
    return int(value)


def _details(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}
