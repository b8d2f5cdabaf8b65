"""A clock that moves only when told to."""


class ManualClock:
    """Gives the time it was set to; pass `clock.now` or the clock itself as a time function."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        """The present time, in seconds."""
        return self._now

    __call__ = now

    def advance(self, seconds: float) -> float:
        """Move on; returns the new time.

        Raises:
            ValueError: time does not go backwards.
        """
        if seconds < 0:
            raise ValueError("time does not go backwards")
        self._now += seconds
        return self._now
