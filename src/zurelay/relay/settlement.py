"""What a request used and costs, and its log row, once it is over.

Arithmetic on what is known; the ledger makes it durable.
"""

from collections.abc import Iterable

from zurelay.catalogue.model import FREE
from zurelay.catalogue.price import price_at
from zurelay.chat.estimate import estimated
from zurelay.chat.faults import FaultKind
from zurelay.chat.problems import Problem
from zurelay.chat.usage import Usage
from zurelay.meter.charge import charge
from zurelay.relay.attempt import Attempt
from zurelay.relay.job import Job
from zurelay.relay.signals import Outcome

_STATUS = {
    Outcome.ANSWERED: "ok",
    Outcome.FAILED: "error",
    Outcome.BROKEN: "error",
    Outcome.CLIENT_GONE: "client_closed",
}


_WORKED = frozenset(
    {
        "cancelled",
        FaultKind.TIMEOUT.value,
        FaultKind.BROKE_OFF.value,
        FaultKind.BAD_ANSWER.value,
        FaultKind.EMPTY.value,
    }
)
"""Ends of attempts at which a provider may have worked, and may want its money."""


def usage_of(attempt: Attempt | None, outcome: Outcome, job: Job) -> Usage | None:
    """What is billed: the provider's own count, else input plus what was delivered, estimated.

    None where no token came: nothing is billed then.
    """
    if attempt is None or (not attempt.token_at and outcome is not Outcome.ANSWERED):
        return None
    answer = attempt.assembled() if outcome is Outcome.ANSWERED and not attempt.streaming else None
    if answer is not None and answer.usage is not None:
        return answer.usage
    return _streamed(attempt, job)


def fill_record(
    job: Job,
    outcome: Outcome,
    attempt: Attempt | None,
    problem: Problem | None,
    duration_ms: float,
    *,
    opened: bool,
    attempts: Iterable[Attempt] = (),
) -> Usage | None:
    """Complete the request's log row; returns the usage that is billed.

    `attempts`: all there were, for what those nobody pays for may have cost.
    """
    record = job.record
    record.status = _STATUS[outcome]
    record.duration_ms = duration_ms
    usage = usage_of(attempt, outcome, job)
    record.usage = usage
    for each in attempts:
        if each is not attempt or usage is None:
            each.record.cost = _lost(each, job)
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
        price = price_at(candidate.model, record.created) or FREE
        charged = charge(price, usage)
        record.cost = charged.cost
        record.unpriced = charged.unpriced
        record.cost_estimated = usage.estimated
    record.effort = attempt.outbound.effort or candidate.effort_shown
    record.dropped = attempt.outbound.dropped
    record.first_token_ms = attempt.record.first_token_ms
    stream = attempt.stream
    if stream is not None:
        record.finish_reason = stream.finish_reason
    elif attempt.answer is not None:
        record.finish_reason = attempt.answer.finish_reason
    return usage


def _lost(attempt: Attempt, job: Job) -> int:
    """Nano-dollars that an attempt nobody pays for may have cost the operator."""
    told = attempt.record
    if told.reason not in _WORKED or told.http_status not in (None, 200):
        return 0
    price = price_at(attempt.candidate.model, job.record.created)
    return 0 if price is None else charge(price, _streamed(attempt, job)).cost


def _streamed(attempt: Attempt, job: Job) -> Usage:
    """What the attempt's stream counted, else what was read of it, estimated."""
    stream = attempt.stream
    if stream is not None and stream.usage is not None:
        return stream.usage
    delivered = stream.delivered_length if stream is not None else 0
    return estimated(job.plan.input_estimate, delivered)
