"""The life of one request, without sockets, clocks or tasks.

The runner feeds signals in the order they happen and performs the actions that come back, in
order. Every rule about waiting, switching routes and going quiet lives in this file and nowhere
else. It does not know: routes, their health, bytes' meaning, time of day, money.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from zurelay.chat.faults import Fault, FaultKind
from zurelay.relay.candidates import Candidate, Candidates, CandidateView, Standing
from zurelay.relay.signals import (
    REQUEST,
    Action,
    Arrived,
    Begin,
    Call,
    Clear,
    ClientGone,
    Drop,
    Ended,
    Failed,
    KeepAlive,
    Open,
    Outcome,
    Probing,
    Rang,
    Refuse,
    Send,
    SendFault,
    Set,
    Settle,
    ShuttingDown,
    Signal,
    Skipped,
    Timer,
)
from zurelay.relay.timing import Timing

__all__ = ["CANCELLED", "CandidateView", "Machine", "Timing"]

CANCELLED = "cancelled"
"""The reason of a `Drop` that is nobody's fault."""

HELD_MAX = 16 * 1024 * 1024
"""Bytes an attempt may produce without a token before it counts as broken."""

REST_ROUNDS = 3
"""How often one request waits for a resting route: others may be quicker to ask it."""


_NO_TOKEN = Fault(FaultKind.TIMEOUT, "no token came within the start deadline")
_SILENT = Fault(FaultKind.TIMEOUT, "the answer fell silent")
_TOO_LONG = Fault(FaultKind.TIMEOUT, "the answer took longer than a stream may")
_ENDLESS = Fault(FaultKind.BAD_ANSWER, "too many bytes without a token")


class _Attempt:
    """One try at a candidate's route."""

    __slots__ = ("candidate", "finished", "held", "held_size", "number", "started", "token")

    def __init__(self, number: int, candidate: Candidate) -> None:
        self.number = number
        self.candidate = candidate
        self.held: list[bytes] = []
        self.held_size = 0
        self.started = False
        self.token = False
        self.finished = False


class Machine:
    """One request over the candidates of its plan.

    In every list of actions a `Call` comes last, after its timers, so that a route refused at
    once may be told (`Skipped`) from within it; `Settle` is last of all.

    Attributes:
        steady: the first token came and one attempt is live. Its plain data may bypass the
            machine: written straight to the caller of a stream, with `IDLE` and `QUIET` set anew
            by whoever does so; until a finish reason, a fault, the end or a timer.
        over: `Settle` was given; every later signal is ignored.
    """

    __slots__ = (
        "_begun",
        "_candidates",
        "_hedged",
        "_jitter",
        "_live",
        "_numbers",
        "_open",
        "_own",
        "_own_attempt",
        "_repeat",
        "_resting",
        "_rounds",
        "_speaker",
        "_streaming",
        "_timing",
        "_tries",
        "_waited",
        "over",
        "steady",
    )

    def __init__(
        self,
        timing: Timing,
        candidates: Sequence[CandidateView],
        streaming: bool,
        jitter: float = 0.5,
    ) -> None:
        """Wait for `Begin`.

        Args:
            timing: the deadlines in force.
            candidates: the plan's, in the order to try them.
            streaming: whether the caller wants an event stream.
            jitter: a number from 0 to 1, drawn by whoever runs this, that spreads second tries on
                the same route.
        """
        self.steady = False
        self.over = False
        self._timing = timing
        self._candidates = Candidates(candidates, timing)
        self._streaming = streaming
        self._jitter = jitter
        self._begun = False
        self._open = False
        self._live: dict[int, _Attempt] = {}
        self._speaker: _Attempt | None = None
        self._numbers = 0
        self._tries = 0
        self._repeat: _Attempt | None = None
        self._hedged = False
        self._resting = False
        self._rounds = 0
        self._waited = 0.0
        self._own: Fault | None = None
        self._own_attempt: int | None = None

    def handle(self, signal: Signal) -> list[Action]:
        """The actions that `signal` calls for, to be performed in order."""
        do: list[Action] = []
        if not self.over:
            self._HANDLERS[type(signal)](self, signal, do)
        return do

    # What happened.

    def _begin(self, _: Begin, do: list[Action]) -> None:
        if self._begun:
            return
        self._begun = True
        if self._streaming:
            do.append(Set(Timer.OPEN, self._timing.early_open_s))
        do.append(Set(Timer.TOTAL, self._timing.request_deadline_s))
        self._next(do)

    def _arrived(self, signal: Arrived, do: list[Action]) -> None:
        attempt = self._live.get(signal.attempt)
        if attempt is None:
            return
        ending = signal.finished and not attempt.finished
        if signal.token or ending:
            attempt.token = attempt.token or signal.token
            attempt.finished = attempt.finished or ending
            self._choose(attempt, do)
            self.steady = not attempt.finished
        self._watch(attempt, signal, ending, do)
        if not self._streaming:
            return
        if attempt is self._speaker:
            self._send(attempt, signal.out, do)
        elif signal.out:
            self._hold(attempt, signal.out, do)

    def _ended(self, signal: Ended, do: list[Action]) -> None:
        attempt = self._live.get(signal.attempt)
        if attempt is not None:
            self._complete(attempt, do)

    def _failed(self, signal: Failed, do: list[Action]) -> None:
        attempt = self._live.get(signal.attempt)
        if attempt is not None:
            self._fail(attempt, signal.fault, do, signal.at_once, signal.may_repeat)

    def _skipped(self, signal: Skipped, do: list[Action]) -> None:
        attempt = self._live.get(signal.attempt)
        if attempt is None or attempt.started:  # what has spoken was not skipped
            return
        del self._live[signal.attempt]
        do.append(Clear(Timer.START, attempt.number))
        self._tries -= 1
        candidate = attempt.candidate
        candidate.calls -= 1
        if self._live:  # a hedge that could not be: its route stays for failover
            candidate.standing = Standing.FRESH
            return
        if signal.wait is None:
            candidate.standing = Standing.OUT
        else:
            candidate.rest(signal.wait, spent=False)
        self._next(do)

    def _probing(self, signal: Probing, do: list[Action]) -> None:
        attempt = self._live.get(signal.attempt)
        if attempt is not None and not attempt.started:
            deadline = min(signal.deadline, attempt.candidate.start)
            do.append(Set(Timer.START, deadline, attempt.number))

    def _rang(self, signal: Rang, do: list[Action]) -> None:
        self._BELLS[signal.timer](self, signal.attempt, do)

    def _client_gone(self, _: ClientGone, do: list[Action]) -> None:
        spoke = self._speaker
        self._drop_all(do)
        self._settle(Outcome.CLIENT_GONE, spoke.number if spoke else None, do)

    def _shutting_down(self, _: ShuttingDown, do: list[Action]) -> None:
        spoke = self._speaker
        if spoke is not None and spoke.finished:
            self._cut(spoke, do)
            return
        self._drop_all(do)
        if spoke is not None and self._streaming:
            do.append(SendFault(None))
            self._settle(Outcome.BROKEN, spoke.number, do)
        else:
            self._tell(None, None, None, do)

    # What rang.

    def _open_rang(self, _: int, do: list[Action]) -> None:
        if self._streaming and not self._open:
            self._open = True
            do.append(Open(None))
            self._quiet_rang(REQUEST, do)

    def _quiet_rang(self, _: int, do: list[Action]) -> None:
        if self._open:
            do.append(KeepAlive())
            do.append(Set(Timer.QUIET, self._timing.keep_alive_s))

    def _total_rang(self, _: int, do: list[Action]) -> None:
        spoke = self._speaker
        if spoke is not None and (self._streaming or spoke.finished):
            self._cut(spoke, do)
            return
        do.extend(Drop(number, FaultKind.TIMEOUT, blame=False) for number in self._live)
        self._live.clear()
        self._tell(self._own, self._own_attempt, None, do)

    def _start_rang(self, number: int, do: list[Action]) -> None:
        attempt = self._live.get(number)
        if attempt is not None and not attempt.started:
            do.append(Drop(number, FaultKind.TIMEOUT))
            self._fail(attempt, _NO_TOKEN, do)

    def _idle_rang(self, number: int, do: list[Action]) -> None:
        attempt = self._live.get(number)
        if attempt is None or not attempt.started:
            return
        if attempt.finished:
            self._cut(attempt, do)
        else:
            do.append(Drop(number, FaultKind.TIMEOUT))
            self._fail(attempt, _SILENT, do)

    def _retry_rang(self, number: int, do: list[Action]) -> None:
        repeat = self._repeat
        if repeat is not None and repeat.number == number:
            self._repeat = None
            self._call(repeat.candidate, do)

    def _rest_rang(self, _: int, do: list[Action]) -> None:
        if self._resting:
            self._resting = False
            self._candidates.wake()
            self._next(do)

    def _hedge_rang(self, number: int, do: list[Action]) -> None:
        first = self._live.get(number)
        if not self._timing.hedge or self._hedged or not self._room():
            return
        if first is None or first.started:
            return
        beside = self._candidates.beside(first.candidate)
        if beside is not None:
            self._hedged = True
            self._call(beside, do)

    # An answer comes.

    def _choose(self, attempt: _Attempt, do: list[Action]) -> None:
        """This attempt gives the answer: every other is closed."""
        if self._speaker is attempt:
            return
        self._speaker = attempt
        self._live.pop(attempt.number, None)
        if self._live:
            self._drop_all(do)
        self._live[attempt.number] = attempt
        if self._streaming:
            do.append(Set(Timer.TOTAL, self._timing.stream_max_s))

    def _watch(self, attempt: _Attempt, signal: Arrived, ending: bool, do: list[Action]) -> None:
        """Move the attempt's deadline on."""
        if attempt.finished and not ending:
            return  # what is left to come has its deadline already
        if not attempt.started and (signal.token or signal.started or ending):
            attempt.started = True
            do.append(Clear(Timer.START, attempt.number))
        elif not (attempt.started and (signal.alive or ending)):
            return
        idle = attempt.candidate.idle
        if ending:
            idle = min(idle, self._timing.tail_deadline_s)
        do.append(Set(Timer.IDLE, idle, attempt.number))

    def _send(self, attempt: _Attempt, out: bytes, do: list[Action]) -> None:
        """Send the answer's bytes; the first time with the head and what was held back."""
        opens = not self._open
        if opens:
            self._open = True
            do.append(Clear(Timer.OPEN))
            do.append(Open(attempt.number))
        if attempt.held:
            out = b"".join([*attempt.held, out])
            attempt.held.clear()
        if out:
            do.append(Send(attempt.number, out))
        if out or opens:
            do.append(Set(Timer.QUIET, self._timing.keep_alive_s))

    def _hold(self, attempt: _Attempt, out: bytes, do: list[Action]) -> None:
        """Keep bytes back until a token shows that this attempt answers."""
        attempt.held.append(out)
        attempt.held_size += len(out)
        if attempt.held_size > HELD_MAX:
            do.append(Drop(attempt.number, FaultKind.BAD_ANSWER))
            self._fail(attempt, _ENDLESS, do)

    def _complete(self, attempt: _Attempt, do: list[Action]) -> None:
        self._choose(attempt, do)
        if self._streaming:
            self._send(attempt, b"", do)
        self._settle(Outcome.ANSWERED, attempt.number, do)

    def _cut(self, attempt: _Attempt, do: list[Action]) -> None:
        """The chosen attempt has had its time: whole if it finished, else broken off."""
        do.append(Drop(attempt.number, CANCELLED, blame=False))
        self._fail(attempt, _SILENT if attempt.finished else _TOO_LONG, do)

    # An attempt gives no answer.

    def _fail(
        self,
        attempt: _Attempt,
        fault: Fault,
        do: list[Action],
        at_once: bool = False,
        may_repeat: bool = False,
    ) -> None:
        """What follows once a live attempt failed, or was just dropped for a fault."""
        del self._live[attempt.number]
        self.steady = False
        spoke = attempt is self._speaker
        if attempt.finished:
            self._complete(attempt, do)
            return
        if spoke and self._streaming:
            do.append(SendFault(fault))
            self._settle(Outcome.BROKEN, attempt.number, do)
            return
        if spoke:
            self._speaker = None
        do.append(Clear(Timer.IDLE if attempt.started else Timer.START, attempt.number))
        if fault.moves_on:
            self._move_on(attempt, fault, do, at_once, may_repeat)
        else:
            self._refuse(attempt, fault, do)

    def _refuse(self, attempt: _Attempt, fault: Fault, do: list[Action]) -> None:
        """The request's own fault: at most another model the caller listed may still take it."""
        self._drop_all(do)
        if self._own is None or fault.kind is FaultKind.REJECTED:
            self._own = fault
            self._own_attempt = attempt.number
        if fault.kind is FaultKind.REJECTED:
            self._tell(fault, attempt.number, None, do)
        else:
            too_long = fault.kind is FaultKind.CONTEXT_OVERFLOW
            self._candidates.refuse(attempt.candidate.view.model, too_long=too_long)
            self._next(do)

    def _move_on(
        self, attempt: _Attempt, fault: Fault, do: list[Action], at_once: bool, may_repeat: bool
    ) -> None:
        """The route's fault: once more if it came at once, else the next route."""
        candidate = attempt.candidate
        again = may_repeat and candidate.calls < 2
        if fault.retry_after is not None:
            candidate.rest(fault.retry_after, spent=not again)
        if self._live:
            return  # the other of a hedged pair runs on
        # A second try takes no other route's place.
        room = self._tries + self._candidates.unasked() < self._timing.attempts
        if again and at_once and fault.retry_after is None and room:
            self._repeat = attempt
            pause = self._timing.retry_s * (0.5 + self._jitter)
            do.append(Set(Timer.RETRY, pause, attempt.number))
            return
        self._next(do)

    def _next(self, do: list[Action]) -> None:
        """Ask the next route, wait for a resting one, or give up."""
        if self._room():
            candidate = self._candidates.first()
            if candidate is not None:
                self._call(candidate, do)
                return
            wait = self._candidates.wait()
            left = self._timing.rest_wait_s - self._waited
            if wait is not None and wait <= left and self._rounds < REST_ROUNDS:
                self._resting = True
                self._rounds += 1
                self._waited += wait
                do.append(Set(Timer.REST, wait))
                return
        self._tell(self._own, self._own_attempt, self._candidates.told_wait(), do)

    def _call(self, candidate: Candidate, do: list[Action]) -> None:
        attempt = _Attempt(self._numbers, candidate)
        self._live[attempt.number] = attempt
        self._numbers += 1
        self._tries += 1
        candidate.calls += 1
        candidate.standing = Standing.USED
        do.append(Set(Timer.START, candidate.start, attempt.number))
        after = candidate.view.hedge_after
        if self._timing.hedge and after is not None and not self._hedged:
            do.append(Set(Timer.HEDGE, after, attempt.number))
        do.append(Call(attempt.number, candidate.index))

    def _room(self) -> bool:
        return self._tries < self._timing.attempts

    def _drop_all(self, do: list[Action]) -> None:
        do.extend(Drop(number, CANCELLED, blame=False) for number in self._live)
        self._live.clear()

    def _tell(
        self, fault: Fault | None, attempt: int | None, wait: float | None, do: list[Action]
    ) -> None:
        """There is no answer."""
        do.append(SendFault(fault, wait) if self._open else Refuse(fault, wait))
        self._settle(Outcome.FAILED, attempt, do)

    def _settle(self, outcome: Outcome, attempt: int | None, do: list[Action]) -> None:
        self.over = True
        self.steady = False
        do.append(Settle(outcome, attempt))

    _HANDLERS: ClassVar[dict[type, Callable[["Machine", Any, list[Action]], None]]] = {
        Begin: _begin,
        Arrived: _arrived,
        Ended: _ended,
        Failed: _failed,
        Skipped: _skipped,
        Probing: _probing,
        Rang: _rang,
        ClientGone: _client_gone,
        ShuttingDown: _shutting_down,
    }
    _BELLS: ClassVar[dict[Timer, Callable[["Machine", int, list[Action]], None]]] = {
        Timer.OPEN: _open_rang,
        Timer.QUIET: _quiet_rang,
        Timer.TOTAL: _total_rang,
        Timer.START: _start_rang,
        Timer.IDLE: _idle_rang,
        Timer.RETRY: _retry_rang,
        Timer.REST: _rest_rang,
        Timer.HEDGE: _hedge_rang,
    }
