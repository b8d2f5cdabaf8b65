"""Reasoning effort: one scale for every model, and the rule that finds the nearest level.

The wire form of a level belongs to the formats and profiles; nothing here knows a provider.
"""

from collections.abc import Sequence

SCALE = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""All levels, lowest first."""

HIGH = frozenset({"high", "xhigh", "max"})
"""Levels with the longer deadlines."""


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
