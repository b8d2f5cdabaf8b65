"""Which sandbox model stands in for what is asked, where nothing else is configured.

So that a fresh gateway answers as a configured one would: with thinking, calls or JSON. It does
not know routes.
"""

from typing import Final

from zurelay.plan.auto.features import Features

STAND_INS: Final = ("sandbox/reasoning", "sandbox/echo", "sandbox/tools", "sandbox/json")
"""Those that answer well. The others misbehave on purpose and are never chosen unasked."""


def in_order(features: Features) -> tuple[str, ...]:
    """All of them, the one that shows what was asked for first."""
    if features.tools:
        first = "sandbox/tools"
    elif features.schema:
        first = "sandbox/json"
    elif features.effort not in (None, "none"):
        first = "sandbox/reasoning"
    else:
        first = "sandbox/echo"
    return (first, *(name for name in STAND_INS if name != first))
