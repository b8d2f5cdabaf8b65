"""The known word nearest to an unknown one, for messages that say what to write instead.

Used for model ids, configuration keys and kinds alike; knows none of them.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 100
"""Longer words are cut: callers choose them, and the search takes time by their length."""


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `word`, compared without case; None if none is much like it."""
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    found = get_close_matches(word[:_LONGEST].casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """` Did you mean "x"?`, with its leading space, or nothing."""
    found = nearest(word, candidates)
    return f' Did you mean "{found}"?' if found else ""
