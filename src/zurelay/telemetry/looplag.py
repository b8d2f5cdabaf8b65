"""Measures how late the event loop is: a timer that rings twice a second and looks at the clock.

Knows the loop and who wants to hear of it; knows no metrics library.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

INTERVAL = 0.5


class Timers(Protocol):
    """The part of an event loop that is needed."""

    def time(self) -> float:
        """Monotonic seconds."""
        ...

    def call_at(self, when: float, callback: Callable[[], None], /) -> asyncio.TimerHandle:
        """Run `callback` at `when`."""
        ...


class LoopLag:
    """Reports the lateness of its own timer, in seconds, until stopped."""

    def __init__(self, loop: Timers, report: Callable[[float], None]) -> None:
        self._loop = loop
        self._report = report
        self._due = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to measure; once."""
        self._due = self._loop.time() + INTERVAL
        self._handle = self._loop.call_at(self._due, self._ring)

    def stop(self) -> None:
        """Measure no more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _ring(self) -> None:
        self._report(max(0.0, self._loop.time() - self._due))
        self.start()
