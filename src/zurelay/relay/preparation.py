"""What an attempt is asked and what its answer must say, from the job and the candidate.

Pure; knows no socket and no time.
"""

from collections.abc import Collection

from msgspec.structs import replace

from zurelay.catalogue.price import price_at
from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext, Inbound, Outbound, Target
from zurelay.formats.choose import back_format
from zurelay.meter.asked import asked
from zurelay.meter.record import Attempt as AttemptRecord
from zurelay.plan.planner import Candidate
from zurelay.relay.candidates import CandidateView
from zurelay.relay.job import Job
from zurelay.upstream.base import Call as UpstreamCall
from zurelay.upstream.sigv4 import signed

_MOST_PLAIN = 64 * 1024 * 1024
"""Bytes of an answer that is kept until it is whole."""


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
        allows=asked(job.inbound, price_at(model, job.record.created)).allows,
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
        front=job.front.name,
        only=job.front.name if job.inbound.mode == "embeddings" else model.format,
        lacks=profile.chat_lacks,
        files=profile.file_parts,
        needs=job.inbound.needs,
        effort=candidate.effort_shown,
    )


def capped(inbound: Inbound, candidate: Candidate) -> Inbound:
    """The request with the token limit that this candidate gets where the caller set none."""
    if candidate.cap is None or inbound.max_output is not None:
        return inbound
    return replace(inbound, max_output=candidate.cap)


def context(
    job: Job, target: Target, outbound: Outbound, *, has_spare: bool = False
) -> AnswerContext:
    """What the answer must say about itself.

    `has_spare`: an answer without the call that was asked for in words is kept already.
    """
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
        json_call=outbound.json_call,
        must_call=outbound.must_call and not has_spare,
        asked=inbound.body,
    )


def unanswered(job: Job) -> AnswerContext:
    """What an answer says about itself that never began."""
    return AnswerContext(
        answer_id=job.answer_id,
        created=job.created,
        model=job.plan.asked,
        include_usage=job.inbound.include_usage,
        prompt_estimate=job.plan.input_estimate,
        profile=Profile(),
        asked=job.inbound.body,
    )


def call(job: Job, candidate: Candidate, outbound: Outbound, now: float) -> UpstreamCall:
    """The HTTP request of an attempt; `now` is Unix time, for signatures, which last minutes."""
    provider = candidate.route.provider
    unsigned = UpstreamCall(
        method="POST",
        url=provider.base_url + outbound.path,
        headers=(
            ("content-type", "application/json"),
            *provider.auth_headers(),
            *outbound.headers,
        ),
        body=outbound.body,
        connect_deadline=job.connect_deadline,
        limit=None if job.inbound.stream else _MOST_PLAIN,
    )
    if provider.aws is None:
        return unsigned
    return signed(unsigned, provider.aws, provider.kind.aws_service, now)


def record(candidate: Candidate, start_ms: float) -> AttemptRecord:
    """The log's entry of an attempt that starts."""
    route = candidate.route
    return AttemptRecord(
        route=route.id,
        number=route.number,
        model=candidate.public_model,
        status="running",
        start_ms=start_ms,
        label=route.provider.label or None,
    )


def view(candidate: Candidate) -> CandidateView:
    """What the relay's rules may know of a candidate."""
    return CandidateView(
        model=candidate.public_model,
        listed=candidate.listed,
        high_effort=candidate.high_effort,
        hedge_after=candidate.hedge_after,
        ranked=candidate.ranked,
    )
