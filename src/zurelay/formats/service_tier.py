"""The service tier that an upstream says an answer was served at; one rule for every format.

Knows no prices: whether a tier has one is for others to say.
"""

from typing import Final

from zurelay.chat.usage import STANDARD

_STANDARD: Final = frozenset(
    {"auto", "default", "global", "not_available", "on_demand", "standard", "standard_only"}
)
"""Words for the tier whose price is the price (OpenAI, Anthropic, Google, Groq; 2026-11-29)."""

_LONGEST: Final = 40


def used(word: object) -> str | None:
    """The tier, in lower case; `STANDARD` for the usual one, None for what is no word."""
    if word == "default":
        return STANDARD
    if not isinstance(word, str) or not word:
        return None
    tier = word[:_LONGEST].lower()
    # Vertex AI calls them ON_DEMAND_FLEX and ON_DEMAND_PRIORITY.
    return STANDARD if tier in _STANDARD else tier.removeprefix("on_demand_")
