"""Names of tools, made legal by a pure function, and the way back.

The same name gives the same result in a definition, a call and a choice, today and in the next
turn. Knows no format.
"""

import re
from collections.abc import Iterable

from zurelay.formats.tool_ids import base62

_WRONG = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST = 8


def legal_name(name: str, longest: int = 128) -> str:
    """`name` if it is 1 to `longest` of [A-Za-z0-9_-], else a stand-in that reads like it."""
    if 0 < len(name) <= longest and not _WRONG.search(name):
        return name
    readable = _WRONG.sub("_", name)[: longest - _DIGEST - 1]
    return f"{readable}_{base62(name, _DIGEST)}"


def renamed(names: Iterable[str], longest: int = 128) -> dict[str, str]:
    """The stand-ins among the legal forms of `names`, each with the name it stands for."""
    return {new: name for name in names if (new := legal_name(name, longest)) != name}
