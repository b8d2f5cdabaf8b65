"""How often a route was tried in the last hour, and how often it failed. Pure; told the time."""

from typing import Final

STEP_S: Final = 300.0
STEPS: Final = 12


class Tally:
    """Counts of the last hour, by steps of five minutes; the step under way is the last of them."""

    __slots__ = ("_failed", "_step", "_tried")

    def __init__(self) -> None:
        self._tried = [0] * STEPS
        self._failed = [0] * STEPS
        self._step = 0

    def add(self, now: float, *, success: bool) -> None:
        """One more attempt that ended; `now` in seconds of one steady clock."""
        step = int(now // STEP_S)
        if step != self._step:
            self._go(step)
        place = self._step % STEPS
        self._tried[place] += 1
        self._failed[place] += not success

    def sums(self, now: float) -> tuple[int, int]:
        """How many attempts ended, and how many of them failed."""
        self._go(int(now // STEP_S))
        return sum(self._tried), sum(self._failed)

    def _go(self, step: int) -> None:
        """Empty the steps that passed up to this one."""
        for past in range(max(self._step + 1, step - STEPS + 1), step + 1):
            self._tried[past % STEPS] = self._failed[past % STEPS] = 0
        self._step = max(self._step, step)
