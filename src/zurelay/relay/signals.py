"""The relay machine's language: what happened (signals) and what to do about it (actions).

Signals and actions of an attempt carry its number, so that late data or a late timer of one route
never hits another. Numbers count from 0 in the order of `Call`s.
"""

from enum import StrEnum

from msgspec import Struct

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


class Begin(Struct, frozen=True, gc=False):
    """The request was admitted and its plan made."""


class Arrived(Struct, frozen=True, gc=False):
    """An attempt produced something. See `formats.base.Progress` for the flags."""

    attempt: int
    out: bytes = b""
    token: bool = False
    started: bool = False
    alive: bool = True
    finished: bool = False


class Ended(Struct, frozen=True, gc=False):
    """An attempt's answer is whole (its finish reason came and its usage, or its end)."""

    attempt: int


class Failed(Struct, frozen=True, gc=False):
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


class Skipped(Struct, frozen=True, gc=False):
    """The route of an attempt could not be tried now (resting, full, breaker open).

    `wait` is the seconds it rests on a Retry-After; None for every other reason.
    """

    attempt: int
    wait: float | None = None


class Probing(Struct, frozen=True, gc=False):
    """The attempt just called is its route's half-open probe, with a start deadline of its own."""

    attempt: int
    deadline: float


class Rang(Struct, frozen=True, gc=False):
    """A timer ran out."""

    timer: Timer
    attempt: int = REQUEST


class ClientGone(Struct, frozen=True, gc=False):
    """The caller went away."""


class ShuttingDown(Struct, frozen=True, gc=False):
    """The grace time of a shutdown is over."""


Signal = Begin | Arrived | Ended | Failed | Skipped | Probing | Rang | ClientGone | ShuttingDown


class Call(Struct, frozen=True, gc=False):
    """Start attempt `attempt` on candidate `candidate` of the plan."""

    attempt: int
    candidate: int


class Drop(Struct, frozen=True, gc=False):
    """Close an attempt's connection; its end is `reason` (a FaultKind value or `cancelled`).

    `blame` False: the request ran out of time, not the route; its health is not touched.
    """

    attempt: int
    reason: str
    blame: bool = True


class Set(Struct, frozen=True, gc=False):
    """Let `timer` ring `seconds` from now; replaces an earlier setting."""

    timer: Timer
    seconds: float
    attempt: int = REQUEST


class Clear(Struct, frozen=True, gc=False):
    """Let `timer` not ring."""

    timer: Timer
    attempt: int = REQUEST


class Open(Struct, frozen=True, gc=False):
    """Send the response head. `attempt` None: early, before any token."""

    attempt: int | None


class Send(Struct, frozen=True, gc=False):
    """Send bytes of an attempt's answer."""

    attempt: int
    out: bytes


class KeepAlive(Struct, frozen=True, gc=False):
    """Fill a silence."""


class Refuse(Struct, frozen=True, gc=False):
    """Answer with an error status; only before `Open`.

    `fault` is the request's own fault to pass on, or None when every route failed. `wait` is the
    seconds until the first route may be asked, when all of them rest on a Retry-After.
    """

    fault: Fault | None
    wait: float | None = None


class SendFault(Struct, frozen=True, gc=False):
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


class Settle(Struct, frozen=True, gc=False):
    """The request is over: meter it, then send what ends it. Emitted exactly once, always last.

    `attempt` is the one whose tokens count: None where no token came, and nothing is billed. Of a
    request refused for its own fault it is the attempt that found out.
    """

    outcome: Outcome
    attempt: int | None


Action = Call | Drop | Set | Clear | Open | Send | KeepAlive | Refuse | SendFault | Settle
