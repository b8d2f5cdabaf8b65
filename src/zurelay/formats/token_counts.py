"""Numbers in an upstream's `usage` object, whatever it put there; one rule for every format.

Knows nothing of names or of how counts nest: each format's `usage.py` does.
"""

from collections.abc import Mapping
from typing import Any

MOST = 1 << 40
"""Larger counts are lies."""


def count(fields: Mapping[str, Any], name: str) -> int | None:
    """The count of that name; None where it is left out or no number from 0 to `MOST`."""
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MOST:  # also what is no number at all
        return None
    return int(value)


def details(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of that name; empty where there is none."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}
