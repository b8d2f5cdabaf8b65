"""What an attempt is asked and what its answer must say, from the job and the candidate.

Pure; knows no socket and no time.
"""

from collections.abc import Collection

from zurelay.formats.base import AnswerContext, Outbound, Target
from zurelay.formats.choose import back_format
from zurelay.plan.planner import Candidate
from zurelay.relay.candidates import CandidateView
from zurelay.relay.job import Job


def target(
    job: Job, candidate: Candidate, *, streams: bool, lacking: Collection[str] = ()
) -> Target:
    """Which model the request is written for.

    `streams`: the upstream is asked to stream. `lacking`: quirks that the route turned out to
    lack.
    """
    model = candidate.model
    profile = model.profile(candidate.route.provider.kind.profile)
    if lacking:
        profile = profile.but(**dict.fromkeys(lacking, False))
    reasoning = model.reasoning or candidate.served.model.reasoning
    return Target(
        public_model=candidate.public_model,
        upstream_model=candidate.upstream_model,
        profile=profile,
        effort=candidate.effort,
        effort_default=candidate.effort_shown,
        reasons=reasoning is not None and bool(reasoning.levels),
        max_output=model.max_output,
        stream=streams,
        cache_key=job.cache_key,
    )


def back(job: Job, candidate: Candidate) -> str:
    """The name of the format that the upstream is asked in."""
    model = candidate.model
    kind = candidate.route.provider.kind
    profile = model.profile(kind.profile)
    return back_format(
        kind.format,
        kind.also,
        only=model.format,
        lacks=profile.chat_lacks,
        files=profile.file_parts,
        needs=job.inbound.needs,
        effort=candidate.effort_shown,
    )


def context(job: Job, target: Target, outbound: Outbound) -> AnswerContext:
    """What the answer must say about itself."""
    inbound = job.inbound
    return AnswerContext(
        answer_id=job.answer_id,
        created=job.created,
        model=target.public_model,
        include_usage=inbound.include_usage,
        prompt_estimate=job.plan.input_estimate,
        profile=target.profile,
        stop=outbound.stop,
        choices=inbound.choices,
        may_be_empty=bool(inbound.stop),
        tool_names=outbound.tool_names,
        json_text=outbound.json_text,
    )


def view(candidate: Candidate) -> CandidateView:
    """What the relay's rules may know of a candidate."""
    return CandidateView(
        model=candidate.public_model,
        listed=candidate.listed,
        high_effort=candidate.high_effort,
        hedge_after=candidate.hedge_after,
    )
