"""How many empty answers an account gets for nothing; a rule that is told the time.

Nobody pays for an answer with nothing in it, yet the provider may have thought long for it and
wants its money. Who asks for such answers on purpose pays for them after a few. Counted by hours of
the clock, in this process alone.
"""

from typing import Final

SHARE: Final = 100
"""One answer in so many may be empty for nothing."""

LEAST: Final = 3
"""So many an hour may be in any case."""

_HOUR: Final = 3600


class FreeAnswers:
    """What accounts asked for in this hour, and how many empty answers they had for nothing.

    `asked` counts traffic, `take` takes.
    """

    __slots__ = ("_asked", "_hour", "_taken")

    def __init__(self) -> None:
        self._hour = 0
        self._asked: dict[str, int] = {}
        self._taken: dict[str, int] = {}

    def asked(self, account: str, now: float) -> None:
        """A request of that account is over. `now`: Unix time."""
        self._turn(now)
        self._asked[account] = self._asked.get(account, 0) + 1

    def take(self, account: str, now: float) -> bool:
        """Whether one more empty answer is free; if so it is taken."""
        self._turn(now)
        taken = self._taken.get(account, 0)
        if taken >= max(LEAST, self._asked.get(account, 0) // SHARE):
            return False
        self._taken[account] = taken + 1
        return True

    def _turn(self, now: float) -> None:
        hour = int(now) // _HOUR
        if hour != self._hour:
            self._hour = hour
            self._asked.clear()
            self._taken.clear()
