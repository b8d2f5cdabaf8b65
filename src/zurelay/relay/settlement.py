"""What a request used and costs, and its log row, once it is over.

Arithmetic on what is known; the ledger makes it durable.
"""

from zurelay.catalogue.model import FREE
from zurelay.catalogue.price import price_at
from zurelay.chat.estimate import tokens
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


def usage_of(attempt: Attempt | None, outcome: Outcome, job: Job) -> Usage | None:
    """What is billed: the provider's own count, else input plus what was delivered, estimated.

    None where no token came: nothing is billed then.
    """
    if attempt is None or (not attempt.token_at and outcome is not Outcome.ANSWERED):
        return None
    answer = attempt.assembled() if outcome is Outcome.ANSWERED and not attempt.streaming else None
    if answer is not None and answer.usage is not None:
        return answer.usage
    stream = attempt.stream
    if stream is not None and stream.usage is not None:
        return stream.usage
    delivered = stream.delivered_length if stream is not None else 0
    return Usage(input=job.plan.input_estimate, output=tokens(delivered), estimated=True)


def fill_record(
    job: Job,
    outcome: Outcome,
    attempt: Attempt | None,
    problem: Problem | None,
    duration_ms: float,
    *,
    opened: bool,
) -> Usage | None:
    """Complete the request's log row; returns the usage that is billed."""
    record = job.record
    record.status = _STATUS[outcome]
    record.duration_ms = duration_ms
    usage = usage_of(attempt, outcome, job)
    record.usage = usage
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
