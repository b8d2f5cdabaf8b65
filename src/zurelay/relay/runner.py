"""Performs what the machine decides: the only place where a request meets sockets and timers.

One `Run` per request, driven by callbacks; no task, no lock. The machine decides transitions; in
the steady state after the first token, bytes go straight from the upstream's read callback to the
caller's transport, and only timestamps are kept.
"""

import asyncio
from collections import deque
from collections.abc import Callable

import structlog

from zurelay.chat import problems
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.problems import FailedAttempt, Problem, Refused
from zurelay.chat.usage import Usage
from zurelay.formats.base import Progress
from zurelay.meter.record import Attempt as AttemptRecord
from zurelay.plan.planner import Candidate
from zurelay.relay import headers, inlining, preparation, settlement, signals, telling
from zurelay.relay.attempt import Attempt
from zurelay.relay.deadlines import Deadlines
from zurelay.relay.job import Job, Services
from zurelay.relay.machine import CANCELLED, Machine
from zurelay.relay.ports import Sink
from zurelay.relay.signals import Outcome, Signal, Timer

log = structlog.get_logger("zurelay.relay")

_DROPPED = {
    FaultKind.TIMEOUT.value: "no token within the deadline",
    FaultKind.BAD_ANSWER.value: "too many bytes without a token",
}
_AT_ONCE_SECONDS = 1.0
_LINGER_SECONDS = 2.0
"""How long the rest of an upstream's answer is awaited so that its connection can be used again."""


class Run:
    """One request on its way. `done` is called once, after its last byte was handed over.

    Attributes:
        streaming: the caller wants an event stream.
    """

    def __init__(
        self,
        job: Job,
        services: Services,
        sink: Sink,
        loop: asyncio.AbstractEventLoop,
        wire: str,
        done: "Callable[[Run], None]",
    ) -> None:
        self._job = job
        self._services = services
        self._sink = sink
        self._loop = loop
        self._wire = wire
        self._done = done
        self.streaming = job.inbound.stream
        self._machine = Machine(
            job.timing,
            [preparation.view(c) for c in job.plan.candidates],
            streaming=self.streaming,
            jitter=services.jitter(),
        )
        self._deadlines = Deadlines(loop, self._rang, services.far)
        self._attempts: dict[int, Attempt] = {}
        self._inlining = inlining.of(job, services.downloads, loop)
        self._pending: deque[Signal | signals.Call] = deque()
        self._busy = False
        self._open = False
        self._spare: Attempt | None = None  # answers if no other does
        self._speaker = signals.REQUEST  # the attempt of whose answer something was sent
        self._sent_headers: list[headers.Header] = []
        self._last_write = 0.0
        self._last_alive = 0.0
        self._problem: Problem | None = None
        self._ending = False
        self._settled = False

    # What the edge calls.

    def start(self) -> None:
        """Begin. Everything else follows from callbacks."""
        self._services.observer.started()
        self._services.retries.requested(self._loop.time())
        if self._job.timing.hedge:
            self._services.hedges.requested()
        self._sink.listen(self._client_gone, self._set_paused)
        self._feed(signals.Begin())

    def shut_down(self) -> None:
        """The grace time of a shutdown is over."""
        self._ending = True
        self._feed(signals.ShuttingDown())

    # Signals.

    def _client_gone(self) -> None:
        self._feed(signals.ClientGone())

    def _set_paused(self, paused: bool) -> None:
        for attempt in self._attempts.values():
            if attempt.handle is not None and not attempt.over:
                if paused:
                    attempt.handle.pause()
                else:
                    self._last_alive = self._loop.time()
                    attempt.handle.resume()

    def _rang(self, timer: Timer, attempt: int, now: float) -> None:
        # In the steady state deadlines are not re-armed for every event; look at the timestamps.
        if timer is Timer.QUIET:
            due = self._last_write + self._job.timing.keep_alive_s
            if due > now + 0.001:
                self._deadlines.set(timer, attempt, due)
                return
        elif timer is Timer.IDLE and attempt in self._attempts:
            due = self._last_alive + self._attempts[attempt].idle_seconds
            if self._sink.paused or due > now + 0.001:
                self._deadlines.set(timer, attempt, max(due, now + 1.0))
                return
        self._feed(signals.Rang(timer, attempt))

    def _steady(self, progress: Progress) -> bool:
        """Relay without the machine, if it is steady and nothing remarkable happened."""
        if (
            not self._machine.steady
            or progress.finished
            or progress.ended
            or progress.fault is not None
        ):
            return False
        now = self._loop.time()
        if progress.alive:
            self._last_alive = now
        if progress.out:
            self._last_write = now
            self._sink.write(progress.out)
        return True

    def _progressed(self, attempt: Attempt, progress: Progress, last: bool) -> None:
        if progress.alive:
            self._last_alive = self._loop.time()
            if attempt.token_at and attempt.record.first_token_ms is None:
                attempt.record.first_token_ms = self._ms(attempt.token_at)
                self._services.health.spoke(attempt.candidate.route, attempt.token_at)
        if progress.out or progress.alive:
            self._feed(
                signals.Arrived(
                    attempt.number,
                    progress.out,
                    token=progress.token,
                    started=progress.started,
                    alive=progress.alive,
                    finished=progress.finished,
                )
            )
        if progress.fault is not None:
            self._attempt_failed(attempt, progress.fault)
        elif progress.ended or (last and attempt.finished):
            self._feed(signals.Ended(attempt.number))

    def _attempt_failed(self, attempt: Attempt, fault: Fault) -> None:
        now = self._loop.time()
        at_once = (
            fault.kind is FaultKind.CONNECT or fault.status in (502, 503)
        ) and now - attempt.started < _AT_ONCE_SECONDS
        # A resting route may be asked once more too, if its wait is short.
        repeat = (at_once or fault.retry_after is not None) and self._services.retries.allows(now)
        if fault.lacks:
            route = attempt.candidate.route.id
            self._services.lacking.setdefault(route, set()).add(fault.lacks)
            at_once = repeat = True
        if attempt.spare:
            self._spare = attempt
        self._note_failure(attempt, fault, now, blame=not (fault.lacks or attempt.spare))
        self._feed(signals.Failed(attempt.number, fault, at_once=at_once, may_repeat=repeat))

    def _note_failure(
        self, attempt: Attempt, fault: Fault, now: float, *, blame: bool = True
    ) -> None:
        candidate = attempt.candidate
        self._end_record(attempt, "failed", fault.kind.value, now)
        said = telling.words(self._job, fault.message)
        attempt.record.detail = telling.kept(self._job, said) or None
        self._job.failed.append(telling.failed(self._job, candidate, fault, said))
        if attempt.finished or not blame:
            self._services.health.neutral(candidate.route)
            return
        self._services.affinity.forget(self._job.affinity_key, candidate.route.id)
        if fault.moves_on:
            self._services.health.failed(candidate.route, fault, now, self._job.record.account)
        else:
            self._services.health.neutral(candidate.route)

    # The loop of signals and actions.

    def _feed(self, signal: Signal | signals.Call) -> None:
        self._pending.append(signal)
        if self._busy:
            return
        self._busy = True
        try:
            while self._pending:
                signal = self._pending.popleft()
                if isinstance(signal, signals.Call):  # what it waited for is there
                    self._call(signal)
                    continue
                for action in self._machine.handle(signal):
                    _PERFORM[type(action)](self, action)
        except Exception:
            log.exception("request_failed", request_id=self._job.record.id)
            self._give_up()
        finally:
            self._busy = False

    def _give_up(self) -> None:
        """A fault of ours: the request ends here, whatever state it was in."""
        self._pending.clear()
        self._machine.over = True
        self._machine.steady = False
        for number in self._attempts:
            self._drop(signals.Drop(number, "cancelled"))
        if self._settled:
            self._sink.abort()
            self._done(self)
            return
        self._problem = problems.internal()
        self._settle(signals.Settle(Outcome.FAILED, None))

    # Actions.

    def _call(self, action: signals.Call) -> None:
        candidate = self._job.plan.candidates[action.candidate]
        if self._inlining is not None and not self._inlining.ready(candidate):
            self._inlining.fetch(candidate, action.attempt, lambda: self._feed(action))
            return
        now = self._loop.time()
        verdict = self._services.health.may_try(
            candidate.route, now, only=candidate.only, forced=candidate.forced
        )
        earlier = self._attempts.values()
        hedges = bool(earlier) and any(each.record.end_ms is None for each in earlier)
        # A hedge must be worth its money: it is bounded, and never a probe.
        probe = verdict.probe_deadline is not None
        if not verdict.go or (hedges and (probe or not self._services.hedges.allows())):
            self._feed(signals.Skipped(action.attempt, verdict.wait))
            return
        record = preparation.record(candidate, self._ms(now))
        self._job.record.attempts.append(record)
        try:
            attempt = self._prepare(action.attempt, candidate, record, now)
        except Refused as refused:
            self._refuse_unwritable(action.attempt, candidate, record, refused.problem)
            return
        if hedges:
            self._services.hedges.spend()
        if earlier and any(each.candidate is candidate for each in earlier):
            self._services.retries.spend(now)
        self._attempts[action.attempt] = attempt
        self._services.health.began(candidate.route, now)
        attempt.handle = self._services.client(candidate.route.provider).send(
            preparation.call(self._job, candidate, attempt.outbound, self._services.wall()), attempt
        )
        if verdict.probe_deadline is not None:
            self._feed(signals.Probing(action.attempt, verdict.probe_deadline))

    def _prepare(
        self, number: int, candidate: Candidate, record: AttemptRecord, now: float
    ) -> Attempt:
        job = self._job
        exchange = self._services.exchange(job.front.name, preparation.back(job, candidate))
        upstream_streams = self.streaming or candidate.high_effort
        lacking = self._services.lacking.get(candidate.route.id, ())
        target = preparation.target(job, candidate, streams=upstream_streams, lacking=lacking)
        inbound = job.inbound if self._inlining is None else self._inlining.inbound(candidate)
        outbound = exchange.write(preparation.capped(inbound, candidate), target)
        return Attempt(
            number=number,
            candidate=candidate,
            exchange=exchange,
            context=preparation.context(job, target, outbound, has_spare=self._spare is not None),
            outbound=outbound,
            record=record,
            streaming=self.streaming,
            upstream_streams=upstream_streams,
            started=now,
            now=self._loop.time,
            wall=self._services.wall,
            on_progress=self._progressed,
            on_steady=self._steady,
        )

    def _refuse_unwritable(
        self, number: int, candidate: Candidate, record: AttemptRecord, problem: Problem
    ) -> None:
        record.status = "failed"
        record.end_ms = record.start_ms
        record.reason = FaultKind.REJECTED.value
        fault = telling.unwritable(problem)
        self._job.failed.append(telling.failed(self._job, candidate, fault, ""))
        self._feed(signals.Failed(number, fault))

    def _drop(self, action: signals.Drop) -> None:
        self._deadlines.forget(action.attempt)
        attempt = self._attempts.get(action.attempt)
        if attempt is None:
            if self._inlining is not None:
                self._inlining.forget(action.attempt)
            return
        attempt.cut()
        if attempt.record.end_ms is not None:
            return
        now = self._loop.time()
        if action.reason != CANCELLED:
            fault = Fault(FaultKind(action.reason), _DROPPED[action.reason])
            self._note_failure(attempt, fault, now, blame=action.blame)
            return
        self._end_record(attempt, CANCELLED, action.reason, now)
        self._services.health.neutral(attempt.candidate.route)

    def _set(self, action: signals.Set) -> None:
        now = self._loop.time()
        if action.timer is Timer.IDLE:
            self._last_alive = now
            self._attempts[action.attempt].idle_seconds = action.seconds
        elif action.timer is Timer.QUIET:
            self._last_write = now
        self._deadlines.set(action.timer, action.attempt, now + action.seconds)

    def _clear(self, action: signals.Clear) -> None:
        self._deadlines.clear(action.timer, action.attempt)

    def _open_stream(self, action: signals.Open) -> None:
        self._open = True
        now = self._loop.time()
        if action.attempt is None:
            self._sent_headers = headers.early_facts(self._job.plan, self._wire)
            upstream_ms = 0.0
        else:
            attempt = self._attempts[action.attempt]
            self._sent_headers = self._facts(attempt)
            upstream_ms = (now - attempt.started) * 1000
        self._services.observer.stream_opened()
        timing = headers.server_timing(max(0.0, self._ms(now) - upstream_ms), upstream_ms)
        self._sink.open(200, [*headers.EVENT_STREAM, *self._sent_headers, timing])
        self._last_write = now

    def _send(self, action: signals.Send) -> None:
        if action.out:
            self._speaker = action.attempt
            self._last_write = self._loop.time()
            self._sink.write(action.out)

    def _keep_alive(self, _action: signals.KeepAlive) -> None:
        self._last_write = self._loop.time()
        if not self._sink.paused:
            front = self._job.front
            inside = self._speaker != signals.REQUEST
            filler = front.keep_alive_inside if inside else front.keep_alive
            self._sink.write(self._comment(filler))

    def _fail(self, action: "signals.Refuse | signals.SendFault") -> None:
        fault = action.fault
        if fault is not None and not fault.moves_on:
            self._problem = problems.of_fault(telling.own_fault(self._job, fault))
            return
        if fault is None and self._ending:
            self._problem = problems.ending()
            return
        failed = self._job.failed
        if fault is not None and not failed:
            failed = [FailedAttempt(1, self._job.plan.asked, fault)]
        self._problem = problems.of_attempts(failed, action.wait)

    def _settle(self, action: signals.Settle) -> None:
        if action.outcome is Outcome.FAILED and self._spare is not None:
            action = signals.Settle(Outcome.ANSWERED, self._spare.number)
            self._problem = None
        self._deadlines.close()
        if self._inlining is not None:
            self._inlining.close()
        now = self._loop.time()
        attempt = None if action.attempt is None else self._attempts.get(action.attempt)
        job = self._job
        if attempt is not None and action.outcome is Outcome.ANSWERED:
            self._end_record(attempt, "ok", None, now)
            if attempt is not self._spare:
                self._succeeded(attempt, now)
        usage = settlement.fill_record(
            job,
            action.outcome,
            attempt,
            self._problem,
            self._ms(now),
            opened=self._open,
            attempts=self._attempts.values(),
            free=self._services.free,
        )
        self._services.observer.finished(job.record)
        self._settled = True
        self._services.ledger.settle(
            job.hold, job.record, lambda: self._finish(action.outcome, attempt, usage)
        )

    # The end.

    def _finish(self, outcome: Outcome, attempt: Attempt | None, usage: Usage | None) -> None:
        """Send what ends the request, now that it is durable."""
        try:
            if outcome is Outcome.ANSWERED and attempt is not None:
                self._finish_answer(attempt, usage)
            elif outcome is not Outcome.CLIENT_GONE:
                self._finish_problem(attempt)
        except Exception:
            log.exception("request_failed", request_id=self._job.record.id)
            self._sink.abort()
        finally:
            if self._open:
                self._services.observer.stream_closed()
            for each in self._attempts.values():
                if not each.over:
                    self._loop.call_later(_LINGER_SECONDS, each.cut)
                each.let_go()
            self._services.observer.left()
            self._done(self)

    def _finish_answer(self, attempt: Attempt, usage: Usage | None) -> None:
        if self.streaming and attempt.stream is not None:
            comment = self._late_comment(attempt)
            self._sink.close(attempt.stream.finale(usage or Usage(), comment))
            return
        answer = attempt.assembled()
        if answer is None:
            raise AssertionError("answered without an answer")
        now = self._loop.time()
        upstream_ms = (now - attempt.started) * 1000
        timing = headers.server_timing(max(0.0, self._ms(now) - upstream_ms), upstream_ms)
        self._sink.answer(200, [headers.JSON, *self._facts(attempt), timing], answer.body)

    def _finish_problem(self, attempt: Attempt | None) -> None:
        job = self._job
        problem = settlement.told(self._problem or problems.internal(), job.record)
        if self._open:
            comment = b"" if attempt is None else self._late_comment(attempt)
            speaker = self._attempts.get(self._speaker)
            self._sink.close(comment + telling.last_event(job, problem, speaker))
            return
        status, body = job.front.problem_body(problem, job.record.id)
        self._sink.answer(status, [headers.JSON, *headers.of_problem(problem)], body)

    # Small things.

    def _late_comment(self, attempt: Attempt) -> bytes:
        return self._comment(headers.late_comment(self._facts(attempt), self._sent_headers))

    def _comment(self, text: bytes) -> bytes:
        """A comment as this caller takes it; what is none stays as it is."""
        once = self._job.comments_end_once and text.startswith(b":")
        return text.removesuffix(b"\n") if once else text

    def _facts(self, attempt: Attempt) -> list[headers.Header]:
        out = attempt.outbound
        return headers.facts(self._job.plan, attempt.candidate, out.dropped, self._wire, out.effort)

    def _succeeded(self, attempt: Attempt, now: float) -> None:
        route = attempt.candidate.route
        first = (attempt.token_at or now) - attempt.started
        self._services.health.succeeded(
            route, now, first, self._job.record.account, self._job.plan.input_estimate
        )
        if self._job.affinity_key is not None:
            self._services.affinity.remember(self._job.affinity_key, route.id, now)

    def _end_record(self, attempt: Attempt, status: str, reason: str | None, now: float) -> None:
        record = attempt.record
        record.status = status
        record.reason = reason
        record.end_ms = self._ms(now)

    def _ms(self, at: float) -> float:
        return int((at - self._job.started) * 100_000 + 0.5) / 100  # `round` takes five times that


_PERFORM: dict[type, Callable[..., None]] = {
    signals.Call: Run._call,  # noqa: SLF001 - a table of its own methods
    signals.Drop: Run._drop,  # noqa: SLF001
    signals.Set: Run._set,  # noqa: SLF001
    signals.Clear: Run._clear,  # noqa: SLF001
    signals.Open: Run._open_stream,  # noqa: SLF001
    signals.Send: Run._send,  # noqa: SLF001
    signals.KeepAlive: Run._keep_alive,  # noqa: SLF001
    signals.Refuse: Run._fail,  # noqa: SLF001
    signals.SendFault: Run._fail,  # noqa: SLF001
    signals.Settle: Run._settle,  # noqa: SLF001
}
