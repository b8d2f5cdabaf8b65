"""The Converse format of Amazon Bedrock, spoken upstream."""

from zurelay.chat.parts import Thinking
from zurelay.chat.profile import Profile
from zurelay.formats.origin import origin

NAME = "converse"

ORIGIN = "converse"
"""What signed thinking of this format came in; with the realm it is its origin."""

_CLAUDES = origin("anthropic", "messages")
"""Signatures of Claude hold wherever it runs (vendor's page on preserved thinking, 2026-11-29)."""


def is_claude(profile: Profile) -> bool:
    """Whether the model takes Claude's own fields."""
    return profile.effort_form in ("claude_effort", "claude_budget")


def made_here(profile: Profile, *, redacted: bool) -> str:
    """The origin of thinking that the model signs.

    What is hidden whole is written here in another way than in Claude's own format.
    """
    if is_claude(profile) and not redacted:
        return _CLAUDES
    family = "claude" if is_claude(profile) else profile.realm
    return origin(family, ORIGIN)


def readable(part: Thinking, profile: Profile) -> bool:
    """Whether the model may see this thinking again."""
    return bool(part.signature) and part.origin == made_here(profile, redacted=part.redacted)
