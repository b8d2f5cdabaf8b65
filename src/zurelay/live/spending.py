"""What each key has spent, in memory: ever, and in the period that now runs. Days are UTC's."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

from zurelay.access.accounts import Period

_DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_KEPT = 31
"""Days told apart, today included: as long as the longest period."""


class Spending:
    """Sums that only rise. Holds one number per key, and one per key and day for a month."""

    def __init__(self) -> None:
        self._total: defaultdict[str, int] = defaultdict(int)
        self._days: defaultdict[int, defaultdict[str, int]] = defaultdict(_zeros)

    def load(self, rows: Iterable[tuple[str, int, int]]) -> None:
        """Begin anew from (key id, days since 1970, nano-dollars)."""
        self._total.clear()
        self._days.clear()
        for key, day, cost in rows:
            self._total[key] += cost
            self._days[day][key] += cost
        self._forget(max(self._days, default=0))

    def add(self, key: str, at: float, cost: int) -> None:
        """A request begun at Unix time `at` cost that many nano-dollars."""
        day = int(at) // _DAY
        self._total[key] += cost
        if day not in self._days:
            self._forget(day)
        self._days[day][key] += cost

    def of(self, key: str, period: Period, now: float) -> int:
        """Nano-dollars spent since the period began: today, on Monday, on the first, or ever."""
        if period == "total":
            return self._total.get(key, 0)
        today = int(now) // _DAY
        calendar = date.fromordinal(_EPOCH + today)
        back = {"day": 0, "week": calendar.weekday(), "month": calendar.day - 1}[period]
        return sum(
            self._days[day].get(key, 0)
            for day in range(today - back, today + 1)
            if day in self._days
        )

    def _forget(self, newest: int) -> None:
        for day in [day for day in self._days if day <= newest - _KEPT]:
            del self._days[day]


def _zeros() -> defaultdict[str, int]:
    return defaultdict(int)
