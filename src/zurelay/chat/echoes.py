"""Takes out of a provider's words what it repeats of a caller's: prompts are not to be kept.

Pure text work. It does not know where the words are kept or who reads them.
"""

import re
from collections.abc import Iterable
from typing import Final

ECHO: Final = "[...]"

_MOST: Final = 200_000
"""Characters of a request that words are compared with; with longer ones nothing is kept."""

_SHORTEST: Final = 8
"""Shorter runs are in any text by chance: `model`, `a list`."""

_WORD = re.compile(r"[^\s\"'`<>()\[\]{},;:]+")


def without_echoes(said: str, texts: Iterable[str]) -> str:
    """`said` with every run of words that also stands in one of the texts replaced.

    Case does not matter. Runs shorter than eight characters stay.

    Args:
        said: what a provider said, at most a few hundred words.
        texts: what its caller wrote. Where they are too long to compare with, nothing is left.
    """
    if not said:
        return ""
    written = _joined(texts)
    if written is None:
        return ECHO
    folded = said.lower()
    if len(folded) != len(said):  # a letter that folds into two
        said = folded
    words = [word.span() for word in _WORD.finditer(said)]
    kept = []
    end = at = 0
    while at < len(words):
        start = words[at][0]
        after = at
        while after < len(words) and folded[start : words[after][1]] in written:
            after += 1
        if after > at and words[after - 1][1] - start >= _SHORTEST:
            kept += [said[end:start], ECHO]
            end = words[after - 1][1]
            at = after
        else:
            at += 1
    return "".join((*kept, said[end:]))


def _joined(texts: Iterable[str]) -> str | None:
    """All texts as one; None if that is too much."""
    found = []
    length = 0
    for text in texts:
        length += len(text)
        if length > _MOST:
            return None
        found.append(text.lower())
    return "\n".join(found)
