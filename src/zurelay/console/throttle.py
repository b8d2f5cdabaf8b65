"""How often somebody may try to sign in: counted in memory, by address and by who asks.

Each process counts by itself. Knows no password.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final

WINDOW_S: Final = 900.0
TRIES: Final = {"pair": 8, "email": 60, "ip": 30}
"""Failures in a window: by one place for one person, for one person, by one place."""

_MOST_KNOWN: Final = 20_000


class Throttle:
    """Counts failures; threads may share it.

    Args:
        now: seconds on any clock that only rises.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._failures: OrderedDict[tuple[str, str], list[float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, email: str, ip: str) -> int:
        """Whole seconds until they may try again; 0 for now."""
        since = self._now() - WINDOW_S
        waits = [0.0]
        with self._lock:
            for kind, name in _names(email, ip):
                times = [at for at in self._failures.get((kind, name), ()) if at > since]
                if len(times) >= TRIES[kind]:
                    waits.append(times[-TRIES[kind]] - since)
        return int(-(-max(waits) // 1))

    def failed(self, email: str, ip: str) -> None:
        """A try that failed."""
        now = self._now()
        with self._lock:
            for kind, name in _names(email, ip):
                times = self._failures.setdefault((kind, name), [])
                times.append(now)
                del times[: -TRIES[kind]]
                self._failures.move_to_end((kind, name))
            while len(self._failures) > _MOST_KNOWN:
                self._failures.popitem(last=False)

    def succeeded(self, email: str, ip: str) -> None:
        """A try that did not: what this place failed for this person is forgotten."""
        with self._lock:
            self._failures.pop(_names(email, ip)[0], None)


def _names(email: str, ip: str) -> tuple[tuple[str, str], ...]:
    email = email.strip().lower()[:254]
    return ("pair", f"{email} {ip}"), ("email", email), ("ip", ip)
