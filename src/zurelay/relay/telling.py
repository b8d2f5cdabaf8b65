"""What a caller is told of attempts that failed: our names, the provider's words where it may be.

Text work on what the job knows; decides nothing about routes.
"""

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from zurelay.chat.echoes import ECHO, without_echoes
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.problems import FailedAttempt, Problem
from zurelay.formats.base import FailingFront, FailingStream
from zurelay.plan.planner import Candidate
from zurelay.relay import preparation
from zurelay.relay.attempt import Attempt
from zurelay.relay.job import Job

_MOST_COMPARED = 4 * 1024 * 1024
"""Bytes of a request body beyond which it is not looked through for what a provider repeats."""

_QUOTED = 4096
_NAMES = frozenset({"model", "models"})
"""Fields with names of ours, which words may be about."""


def words(job: Job, text: str) -> str:
    """A provider's words with our names for what it names, and no secrets."""
    if not text:
        return ""
    for candidate in job.plan.candidates:
        if candidate.upstream_model != candidate.public_model:
            text = text.replace(candidate.upstream_model, candidate.public_model)
    return job.redact(text)


def kept(job: Job, said: str) -> str:
    """Of a provider's words what may be kept: nothing that the caller wrote."""
    if not said:
        return ""
    fields = [value for name, value in job.inbound.body.items() if name not in _NAMES]
    if sum(map(len, fields)) > _MOST_COMPARED:
        return ECHO
    return without_echoes(said, _strings([msgspec.json.decode(field) for field in fields]))


def _strings(value: object) -> Iterator[str]:
    """Every text in a JSON value; of attachments the beginning, which is what is quoted."""
    if isinstance(value, str):
        yield value[:_QUOTED] if value.startswith("data:") else value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)


def own_fault(job: Job, fault: Fault) -> Fault:
    """The request's own fault, fit to be passed on."""
    return replace(fault, message=words(job, fault.message))


def unwritable(problem: Problem) -> Fault:
    """A request that cannot be written for a route: its own fault."""
    return Fault(
        FaultKind.REJECTED,
        problem.message,
        param=problem.param,
        code=problem.code,
        type=problem.type,
        status=problem.status,
    )


def failed(job: Job, candidate: Candidate, fault: Fault, said: str) -> FailedAttempt:
    """A failure for the answer in which every attempt is named; `said` is fit to be shown."""
    provider = candidate.route.provider
    exposed = job.expose_routes
    return FailedAttempt(
        candidate.route.number,
        candidate.public_model,
        fault,
        provider.label or (provider.name if exposed else ""),
        said if exposed else "",
    )


def last_event(job: Job, problem: Problem, speaker: Attempt | None) -> bytes:
    """What ends an open stream badly; `speaker`: the attempt that has told part of an answer."""
    front = job.front
    if not isinstance(front, FailingFront):
        return front.problem_event(problem, job.record.id)
    stream = None if speaker is None else speaker.stream
    told = stream.failure(problem) if isinstance(stream, FailingStream) else None
    return front.failure(problem, preparation.unanswered(job)) if told is None else told
