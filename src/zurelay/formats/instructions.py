"""The instructions that a conversation begins with, for formats that keep them apart from it.

Pure functions. Knows no format, and nothing of instructions that come later.
"""

from collections.abc import Iterable, Sequence

from zurelay.chat.parts import Text
from zurelay.chat.request import Turn

ROLES = frozenset({"system", "developer"})
"""Who gives instructions."""


def leading(turns: Sequence[Turn]) -> int:
    """How many turns at the start are instructions; 0 if nothing else would be left."""
    for place, turn in enumerate(turns):
        if turn.role not in ROLES:
            return place
    return 0


def texts(turns: Iterable[Turn]) -> Iterable[str]:
    """The text of every text part, in order."""
    return (part.text for turn in turns for part in turn.parts if isinstance(part, Text))
