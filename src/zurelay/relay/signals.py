"""The relay machine's language: what happened (signals) and what to do about it (actions).

Signals and actions of an attempt carry its number, so that late data or a late timer of one route
never hits another. Numbers count from 0 in the order of `Call`s.
"""

from dataclasses import dataclass
from enum import StrEnum

from zurelay.chat.faults import Fault


class Timer(StrEnum):
    """Everything that can ring.

    `OPEN`, `QUIET`, `TOTAL` and `REST` are the request's (attempt -1).
    """

    OPEN = "open"  # open the stream although no token came
    QUIET = "quiet"  # fill the silence
    TOTAL = "total"  # the request's own deadline
    START = "start"  # an attempt's deadline for its first token
    IDLE = "idle"  # an attempt's deadline for its next event
    RETRY = "retry"  # a second try on the same route, after jitter
    HEDGE = "hedge"  # start a second route beside a slow first one
    REST = "rest"  # the request's: until the first resting route may be asked again


REQUEST = -1
"""The attempt number of timers that belong to the whole request."""


@dataclass(frozen=True, slots=True)
class Begin:
    """The request was admitted and its plan made."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """An attempt produced something. See `formats.base.Progress` for the flags."""

    attempt: int
    out: bytes = b""
    token: bool = False
    started: bool = False
    alive: bool = True
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt's answer is whole (its finish reason came and its usage, or its end)."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt failed.

    Attributes:
        at_once: a stale connection, or 502/503 within a second.
        may_repeat: the node's budget for second tries on the same route has room. Whoever performs
            such a second `Call` takes it from the budget.
    """

    attempt: int
    fault: Fault
    at_once: bool = False
    may_repeat: bool = True


@dataclass(frozen=True, slots=True)
class Skipped:
    """The route of an attempt could not be tried now (resting, full, breaker open).

    `wait` is the seconds it rests on a Retry-After; None for every other reason.
    """

    attempt: int
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class Probing:
    """The attempt just called is its route's half-open probe, with a start deadline of its own."""

    attempt: int
    deadline: float


@dataclass(frozen=True, slots=True)
class Rang:
    """A timer ran out."""

    timer: Timer
    attempt: int = REQUEST


@dataclass(frozen=True, slots=True)
class ClientGone:
    """The caller went away."""


@dataclass(frozen=True, slots=True)
class ShuttingDown:
    """The grace time of a shutdown is over."""


Signal = Begin | Arrived | Ended | Failed | Skipped | Probing | Rang | ClientGone | ShuttingDown


@dataclass(frozen=True, slots=True)
class Call:
    """Start attempt `attempt` on candidate `candidate` of the plan."""

    attempt: int
    candidate: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Close an attempt's connection; its end is `reason` (a FaultKind value or `cancelled`).

    `blame` False: the request ran out of time, not the route; its health is not touched.
    """

    attempt: int
    reason: str
    blame: bool = True


@dataclass(frozen=True, slots=True)
class Set:
    """Let `timer` ring `seconds` from now; replaces an earlier setting."""

    timer: Timer
    seconds: float
    attempt: int = REQUEST


@dataclass(frozen=True, slots=True)
class Clear:
    """Let `timer` not ring."""

    timer: Timer
    attempt: int = REQUEST


@dataclass(frozen=True, slots=True)
class Open:
    """Send the response head. `attempt` None: early, before any token."""

    attempt: int | None


@dataclass(frozen=True, slots=True)
class Send:
    """Send bytes of an attempt's answer."""

    attempt: int
    out: bytes


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """Fill a silence."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with an error status; only before `Open`.

    `fault` is the request's own fault to pass on, or None when every route failed. `wait` is the
    seconds until the first route may be asked, when all of them rest on a Retry-After.
    """

    fault: Fault | None
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class SendFault:
    """Put an error event into the open stream; never followed by a normal end.

    `fault` and `wait` as in `Refuse`; after tokens were sent `fault` is what broke the answer, or
    None when this gateway is shutting down.
    """

    fault: Fault | None
    wait: float | None = None


class Outcome(StrEnum):
    """How a request ended."""

    ANSWERED = "answered"
    FAILED = "failed"  # no token was ever sent
    BROKEN = "broken"  # failed after tokens were sent
    CLIENT_GONE = "client_gone"


@dataclass(frozen=True, slots=True)
class Settle:
    """The request is over: meter it, then send what ends it. Emitted exactly once, always last.

    `attempt` is the one whose tokens count: None where no token came, and nothing is billed. Of a
    request refused for its own fault it is the attempt that found out.
    """

    outcome: Outcome
    attempt: int | None


Action = Call | Drop | Set | Clear | Open | Send | KeepAlive | Refuse | SendFault | Settle
