"""Thinking and effort in Messages' words: from a level to fields, and back to a level.

Three forms: models that take `output_config.effort` and think adaptively, models that think by a
budget of tokens, and hosts of other models, which take the effort alone. Which models do what:
vendor's pages on effort and thinking, 2026-11-29; it stands in the profile.
"""

from dataclasses import dataclass, field
from typing import Any

from zurelay.chat.effort import BUDGETS
from zurelay.chat.profile import Profile
from zurelay.formats.base import Target

Json = dict[str, Any]

LEAST_BUDGET = 1024
_ROOM = 4096
_WORDS = ((2048, "low"), (12_000, "medium"), (24_000, "high"))


@dataclass(slots=True)
class Thought:
    """What is asked of the model.

    Attributes:
        thinking: the `thinking` object; None leaves it out.
        effort: `output_config.effort`; None leaves it out.
        thinks: whether the model will think.
        refused: the effort asked for could not be had.
    """

    thinking: Json | None = None
    effort: str | None = None
    thinks: bool = False
    refused: bool = field(default=False)


def unasked(profile: Profile) -> bool:
    """Whether the model thinks where nothing is said of it."""
    return profile.effort_form == "claude_effort" and profile.effort_off != "omit"


def may_think(target: Target) -> bool:
    """Whether the request as a whole will think, before anything stands in the way."""
    if target.effort is not None:
        return target.effort != "none"
    return unasked(target.profile)


def ask(target: Target, limit: int, obstacle: bool, display: str = "summarized") -> Thought:
    """The fields that ask for the target's level.

    Args:
        target: the model and the level; no level leaves the model its own.
        limit: the answer's token limit.
        obstacle: a model that thinks by budget would refuse it for this request.
        display: how thinking is shown; left out by default it is on newer models.
    """
    level, profile = target.effort, target.profile
    form = profile.effort_form
    if form == "nothing":
        return Thought()
    if form == "claude_budget":
        return _by_budget(level, limit, obstacle)
    if form == "claude_effort":
        adaptive = {"type": "adaptive", "display": display}
        if level is None:
            return Thought(adaptive, None, thinks=True) if unasked(profile) else Thought()
        if level == "none":
            return Thought({"type": "disabled"} if profile.effort_off == "disabled" else None)
        return Thought(adaptive, level, thinks=True)
    if level == "none":
        return Thought({"type": "disabled"})
    word = None if level is None else dict(profile.effort_words).get(level, level)
    return Thought(None, word or None, thinks=level is not None)


def _by_budget(level: str | None, limit: int, obstacle: bool) -> Thought:
    if level is None or level == "none":
        return Thought()
    if obstacle or limit < 2 * LEAST_BUDGET:
        return Thought(refused=True)
    return Thought({"type": "enabled", "budget_tokens": budget(level, limit)}, thinks=True)


def budget(level: str, limit: int) -> int:
    """Thinking tokens for `level` inside of `limit`, with room for the answer itself."""
    return max(LEAST_BUDGET, min(BUDGETS[level], limit - min(_ROOM, limit // 2)))


def level_of_budget(tokens: int) -> str:
    """The word for a budget, for models that take words."""
    return next((word for below, word in _WORDS if tokens < below), "xhigh")
