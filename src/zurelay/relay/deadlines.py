"""The timers of one request on one handle of the event loop.

Setting a deadline costs a dictionary entry; the handle is re-armed only when an earlier deadline
comes, and looks again when it fires. Knows time, not what a deadline means.
"""

import asyncio
from collections.abc import Callable

from zurelay.relay.signals import REQUEST, Timer

Key = tuple[Timer, int]

_LOOK_AGAIN = 10.0
"""Seconds for which the loop is armed at most."""

_GRAIN = 0.001
"""Deadlines this close (seconds) ring together."""


def _unheard(_timer: Timer, _attempt: int, _now: float) -> None:
    """What a closed set of deadlines calls: it keeps nothing alive."""


class Deadlines:
    """Deadlines by timer and attempt; `ring` is called for each that passes."""

    __slots__ = ("_at", "_handle", "_handle_at", "_loop", "_ring")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, ring: Callable[[Timer, int, float], None]
    ) -> None:
        self._loop = loop
        self._ring = ring
        self._at: dict[Key, float] = {}
        self._handle: asyncio.TimerHandle | None = None
        self._handle_at = 0.0

    def set(self, timer: Timer, attempt: int, at: float) -> None:
        """Ring at loop time `at`; replaces an earlier setting."""
        self._at[timer, attempt] = at
        if self._handle is None:
            # Most requests are over long before their deadlines: look again a little later, and
            # the deadlines that follow this one need not arm the loop anew.
            self._arm(min(at, self._loop.time() + _LOOK_AGAIN))
        elif at < self._handle_at:
            self._arm(at)

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
            self._arm(min(*self._at.values(), now + _LOOK_AGAIN))
