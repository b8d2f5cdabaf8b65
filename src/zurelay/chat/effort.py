"""Reasoning effort: one scale for every model, the rule that finds the nearest level, budgets.

The wire form of a level belongs to the formats and profiles; nothing here knows a provider.
"""

from collections.abc import Sequence

SCALE = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""All levels, lowest first."""

HIGH = frozenset({"high", "xhigh", "max"})
"""Levels with the longer deadlines."""

BUDGETS = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 24576,
    "max": 32768,
}
"""Thinking tokens of each level, for models that think by budget."""

LEAST_ROOM = 1024
"""Tokens that are always left for the answer itself."""


def clamp(asked: str, levels: Sequence[str]) -> str:
    """The level of `levels` that serves `asked`: nearest by position, the lower on a tie.

    Thinking goes off only when asked for: no other word becomes `none`. A model that cannot
    switch off answers `none` with its lowest level; one without levels always gives `none`.
    """
    thinking = [level for level in SCALE if level in levels and level != "none"]
    if asked == "none":
        return "none" if "none" in levels or not thinking else thinking[0]
    if not thinking:
        return "none"
    place = SCALE.index(asked)
    return min(thinking, key=lambda level: (abs(SCALE.index(level) - place), SCALE.index(level)))


def budget(
    level: str, bounds: tuple[int, int] = (0, BUDGETS["max"]), limit: int | None = None
) -> int | None:
    """Thinking tokens for `level`; None where the limit leaves too little for both.

    Args:
        level: a level that thinks.
        bounds: the least and the most the model takes.
        limit: tokens of thinking and answer together; it is never raised. A quarter of it, at
            least `LEAST_ROOM`, stays for the answer.
    """
    least, most = bounds
    if limit is not None:
        most = min(most, limit - max(LEAST_ROOM, limit // 4))
        if most < max(least, 1):
            return None
    return min(max(BUDGETS[level], least), most)
