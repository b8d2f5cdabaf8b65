"""Names of functions as this format takes them, by one pure function.

A name starts with a letter or `_`, then come letters, digits and `_.:-`, 128 in all (vendor's API
reference, 2026-11-29). Knows no requests.
"""

import re
from collections.abc import Iterable, Mapping

from zurelay.formats.tool_ids import base62

_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.:-]+")
_KEPT = 100


def legal(name: str) -> str:
    """`name` where it is allowed, else a stand-in made from it alone."""
    if _LEGAL.fullmatch(name):
        return name
    return f"_{_ILLEGAL.sub('_', name)[:_KEPT]}_{base62(name, 8)}"


def renamed(names: Iterable[str]) -> Mapping[str, str]:
    """Name upstream -> the caller's own, for those that differ."""
    return {legal(name): name for name in names if legal(name) != name}
