"""The timers of one request on one handle of the event loop, or on none while they are far.

Setting a deadline costs a dictionary entry. Most requests are over long before any of theirs: far
deadlines wait together in `FarDeadlines`, which looks at them twice a second, and only those that
come near arm the loop. Knows time, not what a deadline means.
"""

import asyncio
from collections.abc import Callable

from zurelay.relay.signals import REQUEST, Timer

Key = tuple[Timer, int]

_LOOK_AGAIN = 10.0
"""Seconds for which the loop is armed at most."""

_NEAR = 1.0
"""Seconds from which on a deadline arms the loop itself."""

_GRAIN = 0.001
"""Deadlines this close (seconds) ring together."""


def _unheard(_timer: Timer, _attempt: int, _now: float) -> None:
    """What a closed set of deadlines calls: it keeps nothing alive."""


class FarDeadlines:
    """Requests whose next deadline is far; one for all requests of a loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: set[Deadlines] = set()
        self._handle: asyncio.TimerHandle | None = None

    def add(self, deadlines: "Deadlines") -> None:
        """Look at `deadlines` from now on."""
        self._waiting.add(deadlines)
        if self._handle is None:
            self._handle = self._loop.call_later(_NEAR / 2, self._look)

    def discard(self, deadlines: "Deadlines") -> None:
        """Look at `deadlines` no more."""
        self._waiting.discard(deadlines)

    def _look(self) -> None:
        self._handle = None
        near = self._loop.time() + _NEAR
        for deadlines in [each for each in self._waiting if each.soonest <= near]:
            self._waiting.discard(deadlines)
            deadlines.arm()
        if self._waiting:
            self._handle = self._loop.call_later(_NEAR / 2, self._look)


class Deadlines:
    """Deadlines by timer and attempt; `ring` is called for each that passes."""

    __slots__ = ("_at", "_far", "_handle", "_handle_at", "_is_far", "_loop", "_ring")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        ring: Callable[[Timer, int, float], None],
        far: FarDeadlines | None = None,
    ) -> None:
        self._loop = loop
        self._ring = ring
        self._far = far
        self._is_far = False
        self._at: dict[Key, float] = {}
        self._handle: asyncio.TimerHandle | None = None
        self._handle_at = 0.0

    def set(self, timer: Timer, attempt: int, at: float) -> None:
        """Ring at loop time `at`; replaces an earlier setting."""
        self._at[timer, attempt] = at
        if self._handle is not None:
            if at < self._handle_at:
                self._arm(at)
        elif self._far is not None and at > self._loop.time() + _NEAR:
            if not self._is_far:
                self._is_far = True
                self._far.add(self)
        else:
            self._arm(min(at, self._loop.time() + _LOOK_AGAIN))

    @property
    def soonest(self) -> float:
        """Loop time of the next deadline; infinite if there is none."""
        return min(self._at.values(), default=float("inf"))

    def arm(self) -> None:
        """The next deadline is near: see to it."""
        self._is_far = False
        if self._at:
            self._arm(self.soonest)

    def clear(self, timer: Timer, attempt: int = REQUEST) -> None:
        """Do not ring."""
        self._at.pop((timer, attempt), None)

    def forget(self, attempt: int) -> None:
        """Drop every deadline of an attempt."""
        for key in [key for key in self._at if key[1] == attempt]:
            del self._at[key]

    def close(self) -> None:
        """Nothing rings any more."""
        self._at.clear()
        self._ring = _unheard
        if self._is_far and self._far is not None:
            self._is_far = False
            self._far.discard(self)
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _arm(self, at: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle_at = at
        self._handle = self._loop.call_at(at, self._fire)

    def _fire(self) -> None:
        self._handle = None
        now = self._loop.time()
        due = sorted((at, key) for key, at in self._at.items() if at <= now + _GRAIN)
        for at, key in due:
            if self._at.get(key) == at:
                del self._at[key]
                self._ring(key[0], key[1], now)
        if self._at and self._handle is None:
            self._arm(min(self.soonest, now + _LOOK_AGAIN))
