"""Which tier a request asks for: by the effort, and by signs that the task is no small one.

The rule as a table. It does not know models.
"""

from typing import Final

from zurelay.catalogue.tiers import number_of
from zurelay.plan.auto.features import MANY_TURNS, Features

_LIGHT, _STANDARD, _STRONG, _FRONTIER = map(number_of, ("light", "standard", "strong", "frontier"))

BOUNDS: Final = {
    "none": (_LIGHT, _STANDARD),
    "minimal": (_LIGHT, _STANDARD),
    "low": (_LIGHT, _STANDARD),
    None: (_LIGHT, _STRONG),
    "medium": (_STANDARD, _STRONG),
    "high": (_STRONG, _STRONG),
    "xhigh": (_FRONTIER, _FRONTIER),
    "max": (_FRONTIER, _FRONTIER),
}
"""Effort asked -> the tier without any sign, and the highest that signs raise it to."""

RAISES: Final = (0, 1, 1, 2)
"""Number of signs -> by how many tiers they raise; more than three raise no further."""


def signs(features: Features) -> tuple[str, ...]:
    """What in the request asks for more than the least, in words."""
    found = []
    if features.code:
        found.append("code")
    if features.tools:
        found.append("tools")
    if features.agent:
        found.append("an agent's loop")
    if features.long:
        found.append("a long prompt")
    if features.turns >= MANY_TURNS:
        found.append("many turns")
    if features.media:
        found.append("media")
    if features.script == "other":
        found.append("another script")
    return tuple(found)


def wanted(features: Features, found: tuple[str, ...]) -> int:
    """The number of the tier that a request with those signs asks for."""
    least, most = BOUNDS[features.effort]
    return min(most, least + RAISES[min(len(found), len(RAISES) - 1)])
