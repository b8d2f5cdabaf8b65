"""The node's budgets for second tries: on the same route, and beside a slow first one.

The one is a share of traffic with a floor, counted over the last seconds of the clock that each
call brings; the other a strict share. They do not know requests or routes.
"""

_SECONDS = 10
"""The stretch over which the share is counted."""


class RetryBudget:
    """At most `share` of the requests of the last 10 s, or `floor` in one second if that is more.

    `requested` counts traffic, `allows` looks, `spend` takes.
    """

    __slots__ = ("_floor", "_requests", "_retries", "_second", "_share")

    def __init__(self, share: float = 0.1, floor: int = 10) -> None:
        self._share = share
        self._floor = floor
        self._requests = [0] * _SECONDS
        self._retries = [0] * _SECONDS
        self._second = 0

    def requested(self, now: float) -> None:
        """A request began."""
        self._requests[self._slot(now)] += 1

    def allows(self, now: float) -> bool:
        """Whether one more second try may start."""
        slot = self._slot(now)
        if self._retries[slot] < self._floor:
            return True
        return sum(self._retries) < self._share * sum(self._requests)

    def spend(self, now: float) -> None:
        """A second try starts."""
        self._retries[self._slot(now)] += 1

    def _slot(self, now: float) -> int:
        """Where this second is counted; seconds that passed since the last call are emptied."""
        second = int(now)
        passed = second - self._second
        if passed > 0:
            for step in range(min(passed, _SECONDS)):
                slot = (second - step) % _SECONDS
                self._requests[slot] = 0
                self._retries[slot] = 0
            self._second = second
        return self._second % _SECONDS


class HedgeBudget:
    """At most one hedge for `requests` requests, saved up for `most` of them.

    `requested` counts traffic, `allows` looks, `spend` takes.
    """

    __slots__ = ("_cap", "_price", "_saved")

    def __init__(self, requests: int = 50, most: int = 10) -> None:
        self._price = requests
        self._cap = requests * most
        self._saved = 0

    def requested(self) -> None:
        """A request began that might be hedged."""
        if self._saved < self._cap:
            self._saved += 1

    def allows(self) -> bool:
        """Whether one more hedge may start."""
        return self._saved >= self._price

    def spend(self) -> None:
        """A hedge starts."""
        self._saved -= self._price
