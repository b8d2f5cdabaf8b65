"""How the relay's stories are told: a script of signals, each with the actions that must follow."""

from collections.abc import Sequence

from zurelay.chat.faults import Fault, FaultKind
from zurelay.relay.machine import CandidateView, Machine, Timing
from zurelay.relay.signals import (
    Action,
    Arrived,
    Begin,
    Call,
    Clear,
    Drop,
    Open,
    Send,
    Set,
    Signal,
    Timer,
)

Script = tuple[Signal, list[Action]]

OPEN = Set(Timer.OPEN, 20.0)
TOTAL = Set(Timer.TOTAL, 570.0)
STREAM_MAX = Set(Timer.TOTAL, 3600.0)
RETRY = Set(Timer.RETRY, 0.1 * 1.5, 0)
QUIET = Set(Timer.QUIET, 15.0)
REFUSED = Fault(FaultKind.REJECTED, "bad param", status=400)
TOO_LONG = Fault(FaultKind.CONTEXT_OVERFLOW, "too long", status=400)
POLICY = Fault(FaultKind.CONTENT_POLICY, "no", status=400)
DOWN = Fault(FaultKind.SERVER_ERROR, "down", status=500)
BUSY = Fault(FaultKind.OVERLOADED, "busy", status=503)
SILENT = Fault(FaultKind.TIMEOUT, "the answer fell silent")


def limited(seconds: float) -> Fault:
    return Fault(FaultKind.RATE_LIMITED, "later", status=429, retry_after=seconds)


def start(attempt: int, seconds: float = 180.0) -> Set:
    return Set(Timer.START, seconds, attempt)


def idle(attempt: int, seconds: float = 180.0) -> Set:
    return Set(Timer.IDLE, seconds, attempt)


def call(attempt: int, candidate: int | None = None, seconds: float = 180.0) -> list[Action]:
    return [start(attempt, seconds), Call(attempt, attempt if candidate is None else candidate)]


def began(attempt: int) -> list[Action]:
    """What a first token sets in motion, before anything is sent."""
    return [STREAM_MAX, Clear(Timer.START, attempt), idle(attempt)]


def cancel(attempt: int) -> Drop:
    return Drop(attempt, "cancelled", blame=False)


def late(attempt: int) -> Drop:
    return Drop(attempt, "timeout")


def skip(attempt: int) -> Action:
    return Clear(Timer.START, attempt)


def routes(count: int, model: str = "m") -> list[CandidateView]:
    return [CandidateView(model)] * count


def stream(candidates: Sequence[CandidateView] | int = 2, timing: Timing | None = None) -> Machine:
    views = routes(candidates) if isinstance(candidates, int) else candidates
    return Machine(timing or Timing(), views, streaming=True, jitter=1.0)


def plain(candidates: Sequence[CandidateView] | int = 2, timing: Timing | None = None) -> Machine:
    views = routes(candidates) if isinstance(candidates, int) else candidates
    return Machine(timing or Timing(), views, streaming=False, jitter=1.0)


def play(machine: Machine, *script: Script) -> None:
    for step, (signal, expected) in enumerate(script):
        assert (step, machine.handle(signal)) == (step, expected)


BEGUN: Script = (Begin(), [OPEN, TOTAL, *call(0)])
PLAIN_BEGUN: Script = (Begin(), [TOTAL, *call(0)])
TOKEN: Script = (
    Arrived(0, b"hi", token=True),
    [*began(0), Clear(Timer.OPEN), Open(0), Send(0, b"hi"), QUIET],
)
