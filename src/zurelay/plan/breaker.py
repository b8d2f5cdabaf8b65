"""A circuit breaker, and the record of outcomes that may open one.

Both are told the time with every call, in seconds of one steady clock. They do not know routes,
providers or faults: what counts as a failure is decided by whoever owns them.
"""

from collections import deque
from enum import StrEnum

WINDOW_S = 60.0
LEAST_SAMPLES = 10
OPENING_RATE = 0.5
GROWTH_S = 60.0
"""How long a closed breaker's share grows back to the whole."""

_FIRST_SHARE = 0.1
_MOST_SAMPLES = 200


class State(StrEnum):
    """What a breaker does with requests."""

    CLOSED = "closed"  # lets them through
    OPEN = "open"  # stops them
    HALF_OPEN = "half_open"  # lets one through, to see


class Breaker:
    """Closed, open, or half-open with one probe under way at most.

    It stays open for `first_s`, twice as long each time it opens again without having grown back
    to its whole share, `longest_s` at most.

    Attributes:
        open_until: when it becomes, or became, half-open; None while it is closed.
    """

    __slots__ = (
        "_closed_at",
        "_first_s",
        "_forced",
        "_longest_s",
        "_next_s",
        "_probing",
        "open_until",
    )

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._next_s = first_s
        self.open_until: float | None = None
        self._closed_at: float | None = None
        self._probing = False
        self._forced = False

    def state(self, now: float) -> State:
        """What it does now."""
        if self.open_until is None:
            return State.CLOSED
        return State.OPEN if now < self.open_until else State.HALF_OPEN

    def allows(self, now: float) -> bool:
        """Whether one more request may pass."""
        if self.open_until is None:
            return True
        return now >= self.open_until and not self._probing

    def wait(self, now: float) -> float:
        """Seconds until it is half-open; 0 if it is, or closed."""
        return max(0.0, (self.open_until or now) - now)

    def began(self, now: float) -> None:
        """A request passes; at half-open it is the probe."""
        if self.open_until is not None and now >= self.open_until:
            self._probing = True

    def forced(self) -> None:
        """A request passes although it is open: its success closes, its failure changes nothing."""
        self._forced = True

    def freed(self) -> None:
        """A request that passed told nothing; the next one may be the probe."""
        self._probing = False

    def succeeded(self, now: float) -> None:
        """A request succeeded. While open that tells nothing, unless one was forced through."""
        if self.open_until is None or (now < self.open_until and not self._forced):
            return
        self.open_until = None
        self._closed_at = now

    def failed(self, now: float) -> None:
        """Open; while open already nothing changes, so that late failures do not prolong it."""
        state = self.state(now)
        if state is State.OPEN:
            return
        if state is State.CLOSED and self._grown(now):
            self._next_s = self._first_s
        self.open_until = now + self._next_s
        self._next_s = min(self._longest_s, self._next_s * 2)
        self._probing = self._forced = False

    def share(self, now: float) -> float:
        """Part of its usual traffic that it should get: 1, less for a minute after it closed."""
        if self._closed_at is None or self.open_until is not None:
            return 1.0
        return min(1.0, max(_FIRST_SHARE, (now - self._closed_at) / GROWTH_S))

    def _grown(self, now: float) -> bool:
        return self._closed_at is None or now - self._closed_at >= GROWTH_S


class Outcomes:
    """Successes and failures of the last minute, and whether they are too bad to go on."""

    __slots__ = ("_failures", "_kept")

    def __init__(self) -> None:
        self._kept: deque[tuple[float, str, bool]] = deque()
        self._failures = 0

    def add(self, now: float, account: str, success: bool) -> None:
        """One more, of a request of `account`."""
        self._kept.append((now, account, success))
        self._failures += not success
        if len(self._kept) > _MOST_SAMPLES:
            self._forget_oldest()
        if self._kept[0][0] <= now - WINDOW_S:
            self._trim(now)

    def clear(self) -> None:
        """Start anew."""
        self._kept.clear()
        self._failures = 0

    def samples(self, now: float) -> int:
        """How many there are."""
        self._trim(now)
        return len(self._kept)

    def success_rate(self, now: float) -> float | None:
        """Successes by all, 0 to 1; None without samples."""
        self._trim(now)
        if not self._kept:
            return None
        return 1 - self._failures / len(self._kept)

    def too_bad(self, now: float) -> bool:
        """Half or more of at least ten failed, for more than one account where there are more."""
        self._trim(now)
        count = len(self._kept)
        if count < LEAST_SAMPLES or self._failures < OPENING_RATE * count:
            return False
        failing = {account for _, account, success in self._kept if not success}
        return len(failing) > 1 or failing >= {account for _, account, _ in self._kept if account}

    def _trim(self, now: float) -> None:
        while self._kept and self._kept[0][0] <= now - WINDOW_S:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, _, success = self._kept.popleft()
        self._failures -= not success
