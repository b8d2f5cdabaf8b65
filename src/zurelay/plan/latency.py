"""First-token times of a route, and their percentiles.

Only successful answers are told to it. It does not know what is done with the figures.
"""

from collections import deque

_KEPT = 128
_STALE_AFTER = 8
"""New samples after which percentiles are counted again."""

LARGE = 20_000
"""Estimated input tokens from which a prompt is large."""

_MIDDLE = 2_000


def size_class(input_tokens: int) -> int:
    """0 small, 1 middle, 2 large."""
    return (input_tokens >= _MIDDLE) + (input_tokens >= LARGE)


class Latency:
    """The last first-token times, in seconds."""

    __slots__ = ("_fresh", "_kept", "_sorted", "_total")

    def __init__(self) -> None:
        self._kept: deque[float] = deque(maxlen=_KEPT)
        self._sorted: list[float] = []
        self._fresh = 0
        self._total = 0

    def add(self, seconds: float) -> None:
        """One more."""
        self._kept.append(seconds)
        self._fresh += 1
        self._total += 1

    @property
    def count(self) -> int:
        """How many were ever told."""
        return self._total

    def percentile(self, part: float) -> float | None:
        """The time that `part` (0 to 1) of the samples do not exceed; None without samples."""
        if self._fresh and (self._fresh >= _STALE_AFTER or len(self._kept) < 2 * _STALE_AFTER):
            self._sorted = sorted(self._kept)
            self._fresh = 0
        if not self._sorted:
            return None
        return self._sorted[min(len(self._sorted) - 1, int(part * len(self._sorted)))]
