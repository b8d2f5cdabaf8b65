"""What a request used and costs, and its log row, once it is over.

Arithmetic on what is known; the ledger makes it durable.
"""

from collections.abc import Collection
from dataclasses import replace as changed

from msgspec.structs import replace

from zurelay.catalogue.model import FREE
from zurelay.catalogue.price import price_at
from zurelay.chat.estimate import estimated, tokens
from zurelay.chat.faults import FaultKind
from zurelay.chat.problems import Problem
from zurelay.chat.usage import Usage
from zurelay.meter.asked import tier_sent
from zurelay.meter.charge import Charge, charge
from zurelay.meter.free_answers import LEAST, SHARE, FreeAnswers
from zurelay.meter.plausible import believed
from zurelay.meter.record import RequestRecord
from zurelay.relay.attempt import Attempt
from zurelay.relay.job import Job
from zurelay.relay.signals import Outcome

UNPRICED = "model"
"""Stands among the unpriced classes where the whole model has no price."""

_STATUS = {
    Outcome.ANSWERED: "ok",
    Outcome.FAILED: "error",
    Outcome.BROKEN: "error",
    Outcome.CLIENT_GONE: "client_closed",
}


_EMPTY = FaultKind.EMPTY.value
_WORKED = frozenset(
    {
        "cancelled",
        FaultKind.TIMEOUT.value,
        FaultKind.BROKE_OFF.value,
        FaultKind.BAD_ANSWER.value,
        _EMPTY,
    }
)
"""Ends of attempts at which a provider may have worked, and may want its money."""


def usage_of(attempt: Attempt | None, outcome: Outcome, job: Job) -> Usage | None:
    """What is billed: the provider's own count, else input plus what was delivered, estimated.

    A count that cannot be is replaced by the estimate, in the answer too where that is still to be
    sent. None where no token came: nothing is billed then.
    """
    if attempt is None or (not attempt.token_at and outcome is not Outcome.ANSWERED):
        return None
    answer = attempt.assembled() if outcome is Outcome.ANSWERED and not attempt.streaming else None
    if answer is None or answer.usage is None:
        return _believed(_streamed(attempt, job), attempt, job, _delivered(attempt))
    usage = _believed(answer.usage, attempt, job, answer.delivered_length)
    if usage is not answer.usage:
        attempt.restate(usage)
    return usage


def fill_record(
    job: Job,
    outcome: Outcome,
    attempt: Attempt | None,
    problem: Problem | None,
    duration_ms: float,
    *,
    opened: bool,
    attempts: Collection[Attempt] = (),
    free: FreeAnswers | None = None,
) -> Usage | None:
    """Complete the request's log row; returns the usage that is billed.

    Args:
        job: the request.
        outcome: how it ended.
        attempt: the one that answered, or began to.
        problem: what the caller is told.
        duration_ms: since it began.
        opened: whether a stream's head was sent.
        attempts: all there were, for what those nobody pays for may have cost.
        free: how many empty answers are free; None for all.
    """
    record = job.record
    record.status = _STATUS[outcome]
    record.duration_ms = duration_ms
    usage = usage_of(attempt, outcome, job)
    record.usage = usage
    for each in attempts:
        if each is not attempt or usage is None:
            each.record.cost = _lost(each, job)
    if free is not None:
        free.asked(record.account, record.created)
        _charge_empty(job, attempts, free)
    if problem is not None:
        record.error = problem.code or problem.type
    if outcome is Outcome.CLIENT_GONE:
        record.http_status = 200 if opened else 499
    else:
        record.http_status = 200 if opened or problem is None else problem.status
    if attempt is None:
        return usage
    candidate = attempt.candidate
    if usage is not None:
        record.answered_by = candidate.public_model
        if candidate.public_model != job.plan.asked:
            record.routed_from = job.plan.asked
        _charge(job, attempt, usage)
    record.effort = attempt.outbound.effort or candidate.effort_shown
    record.dropped = attempt.outbound.dropped
    record.first_token_ms = attempt.record.first_token_ms
    stream = attempt.stream
    if stream is not None:
        record.finish_reason = stream.finish_reason
    elif attempt.answer is not None:
        record.finish_reason = attempt.answer.finish_reason
    return usage


def _charge(job: Job, attempt: Attempt, usage: Usage) -> None:
    """Write down what an answer costs, and what the provider asks for it."""
    record = job.record
    charged = _charged(job, attempt, usage)
    record.cost += charged.cost
    record.upstream_cost += charged.upstream
    record.tariff = charged.tariff
    record.unpriced += charged.unpriced
    record.cost_estimated = record.cost_estimated or usage.estimated


def _charged(job: Job, attempt: Attempt, usage: Usage) -> Charge:
    model = attempt.candidate.model
    price = price_at(model, job.record.created)
    if price is None:
        return Charge(0, (UNPRICED, *charge(FREE, usage).unpriced))
    if usage.tier is None and (tier := tier_sent(job.inbound, price, attempt.outbound.dropped)):
        usage = replace(usage, tier=tier)
    return charge(price, usage, model.markup if job.markup is None else job.markup)


def _charge_empty(job: Job, attempts: Collection[Attempt], free: FreeAnswers) -> None:
    """Charge an empty answer beyond those that are free; of several of one request the dearest."""
    record = job.record
    beyond = []
    for each in attempts:
        if each.record.reason == _EMPTY:
            usage = usage_of(each, Outcome.ANSWERED, job) or Usage()
            charged = _charged(job, each, usage)
            if charged.cost and not free.take(record.account, record.created):
                beyond.append((charged, each, usage))
    if not beyond:
        return
    charged, dearest, usage = max(beyond, key=lambda one: one[0].cost)
    dearest.record.charged, dearest.record.cost = charged.cost, charged.upstream
    _charge(job, dearest, usage)
    if record.usage is None:
        record.usage = usage


def told(problem: Problem, record: RequestRecord) -> Problem:
    """What the caller is told of a problem: also if it has to pay for it."""
    if not any(attempt.charged for attempt in record.attempts):
        return problem
    why = f" Empty answers are charged beyond {LEAST} an hour and one in {SHARE}."
    return changed(problem, message=problem.message + why)


def _believed(usage: Usage, attempt: Attempt, job: Job, delivered: int) -> Usage:
    """The count, or the estimate in place of what cannot be; that is marked in the log row."""
    if usage.estimated or job.inbound.mode != "chat":  # texts to embed have a window each
        return usage
    model, inbound = attempt.candidate.model, job.inbound
    limit = attempt.candidate.cap if inbound.max_output is None else inbound.max_output
    if limit is not None:
        most = limit if model.max_output is None else min(limit, model.max_output)
        limit = most * inbound.choices
    context = model.context
    found = believed(
        usage,
        prompt=job.plan.input_estimate,
        delivered=delivered,
        window=None if context is None else context * inbound.choices,
        limit=limit,
        thinking_apart=attempt.context.profile.usage_excludes_reasoning,
    )
    if found is not usage:
        job.record.implausible = True
    return found


def _delivered(attempt: Attempt) -> int:
    return attempt.stream.delivered_length if attempt.stream is not None else 0


def _lost(attempt: Attempt, job: Job) -> int:
    """Nano-dollars that an attempt nobody pays for may have cost the operator."""
    told = attempt.record
    if told.reason not in _WORKED or told.http_status not in (None, 200):
        return 0
    price = price_at(attempt.candidate.model, job.record.created)
    return 0 if price is None else charge(price, _streamed(attempt, job)).upstream


def _streamed(attempt: Attempt, job: Job) -> Usage:
    """What the attempt's stream counted, else what was read of it, estimated.

    A count of an answer that is not whole may be its beginning's: Claude's first event tells the
    input and one token of output. It is at least what was read.
    """
    stream = attempt.stream
    usage = None if stream is None else stream.usage
    if usage is not None:
        more = 0 if attempt.finished else tokens(_delivered(attempt)) - usage.completion
        return usage if more <= 0 else replace(usage, output=usage.output + more, estimated=True)
    return estimated(job.plan.input_estimate, _delivered(attempt))
