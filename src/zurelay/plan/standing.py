"""How a route stands, as operators are shown it. Pure data."""

from dataclasses import dataclass
from typing import Literal

from zurelay.chat.faults import Fault


@dataclass(frozen=True, slots=True)
class ErrorSeen:
    """One of a route's last failures; `fault.message` is unredacted. `ago` in seconds."""

    ago: float
    fault: Fault


@dataclass(frozen=True, slots=True)
class RouteState:
    """A route as operators see it.

    Attributes:
        state: `closed`, `open`, `half_open` or `resting`.
        cause: `route`, `connection` or `credential`: what is open or half-open; None if nothing.
        wait: seconds until it may be tried again, or probed; 0 if now.
        samples: answers and failures of the last minute.
        success_rate: 0 to 1 of those; None without.
        first_token_p50: seconds; None without samples. p95 likewise.
        in_flight: attempts under way.
        tried: attempts of the last hour that ended, without those that told nothing; `failed` of
            them.
        errors: the last failures, newest first.
    """

    state: Literal["closed", "open", "half_open", "resting"]
    cause: Literal["route", "connection", "credential"] | None
    wait: float
    samples: int
    success_rate: float | None
    first_token_p50: float | None
    first_token_p95: float | None
    in_flight: int
    tried: int
    failed: int
    errors: tuple[ErrorSeen, ...]
