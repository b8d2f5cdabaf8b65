"""How many tokens a Messages request has: the provider's own count, else an estimate.

Costs nothing and calls no model. The provider is asked only where it has an endpoint for it; its
failures are no matter, as there is always the estimate.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from zurelay.access.keys import Key
from zurelay.api import answers, offload
from zurelay.api.core import Core
from zurelay.api.exchange import HttpExchange
from zurelay.chat.problems import Refused
from zurelay.formats import counters, remote_media
from zurelay.formats.base import Front, Inbound, Target
from zurelay.formats.counters import Counter
from zurelay.meter.limits import Bound, Grant
from zurelay.plan.planner import Candidate, Plan
from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.reading import fetch

_SECONDS = 5.0
"""How long the provider's count is waited for."""
_MOST = 64 * 1024


def count_tokens(core: Core, exchange: HttpExchange, front: Front) -> None:
    """Answer `{"input_tokens": n}`; `x-...-estimated` marks a count that is none."""
    key = core.authenticate(exchange)
    body = exchange.take_body()
    encoding = (exchange.header(b"content-encoding") or b"").decode("latin-1")
    plain = offload.open_here(body, encoding, core.snapshot.max_body)
    if plain is None:
        exchange.spawn(_heavy(core, exchange, front, key, body, encoding))
    else:
        _count(core, exchange, front, key, front.read(plain))


async def _heavy(
    core: Core, exchange: HttpExchange, front: Front, key: Key, body: bytes, encoding: str
) -> None:
    """As `count_tokens`, with the body read in another process."""
    limit = core.snapshot.max_body
    try:
        inbound = await core.parts.reader.read(front.name, body, encoding, limit)
        _count(core, exchange, front, key, inbound)
    except Refused as refused:
        answers.send_problem(exchange, front, refused.problem)


def _count(core: Core, exchange: HttpExchange, front: Front, key: Key, inbound: Inbound) -> None:
    plan = core.plan(inbound, key)
    parts = core.parts
    bounds = parts.bounds.counting(key, core.snapshot.key_limits)
    grant = parts.limits.admit_now(bounds, 0, anthropic=True)
    if grant is None:
        exchange.spawn(_count_later(core, exchange, front, inbound, plan, bounds))
    else:
        _count_granted(core, exchange, front, inbound, plan, grant)


async def _count_later(
    core: Core,
    exchange: HttpExchange,
    front: Front,
    inbound: Inbound,
    plan: Plan,
    bounds: Sequence[Bound],
) -> None:
    """As `_count`, asking those who share the limits."""
    try:
        grant = await core.parts.limits.admit(bounds, 0, anthropic=True)
        _count_granted(core, exchange, front, inbound, plan, grant)
    except Refused as refused:
        answers.send_problem(exchange, front, refused.problem)


def _count_granted(
    core: Core, exchange: HttpExchange, front: Front, inbound: Inbound, plan: Plan, grant: Grant
) -> None:
    exchange.at_head = lambda: grant.headers(core.parts.wall())
    grant.end(None)  # only how many there are in a minute matters
    candidate = plan.candidates[0]
    provider = candidate.route.provider
    counter = counters.counter(candidate.model.format or provider.kind.format)
    # A server inside would fetch what is named by URL; a count is not worth a download.
    fetches = counter is not None and provider.hosted and counter.fetches
    if counter is None or (not fetches and remote_media.marked(inbound)):
        _answer(core, exchange, plan.input_estimate, estimated=True)
        return
    headers = answers.kept_headers(exchange, front)
    inbound = msgspec.structs.replace(inbound, headers=headers)
    exchange.spawn(_ask(core, exchange, inbound, candidate, plan, counter))


async def _ask(
    core: Core,
    exchange: HttpExchange,
    inbound: Inbound,
    candidate: Candidate,
    plan: Plan,
    counter: Counter,
) -> None:
    found = await _own_count(core, inbound, candidate, counter)
    if found is None:
        _answer(core, exchange, plan.input_estimate, estimated=True)
    else:
        _answer(core, exchange, found, estimated=False)


async def _own_count(
    core: Core, inbound: Inbound, candidate: Candidate, counter: Counter
) -> int | None:
    """The provider's count, None if it gave none."""
    provider = candidate.route.provider
    try:
        outbound = counter.write(inbound, _target(candidate))
        call = Call(
            method="POST",
            url=provider.base_url + outbound.path,
            headers=(
                ("content-type", "application/json"),
                *provider.auth_headers(),
                *outbound.headers,
            ),
            body=outbound.body,
            connect_deadline=core.snapshot.connect_deadline_s,
            limit=_MOST,
        )
        async with asyncio.timeout(_SECONDS):
            response = await fetch(core.parts.services.client(provider), call)
        if response.status != 200:
            return None
        return counter.read(response.body)
    except (UpstreamError, TimeoutError, Refused):
        return None


def _target(candidate: Candidate) -> Target:
    model = candidate.model
    return Target(
        public_model=candidate.public_model,
        upstream_model=candidate.upstream_model,
        profile=model.profile(candidate.route.provider.kind.profile),
        effort=candidate.effort,
        effort_default=candidate.effort_shown,
        max_output=model.max_output,
    )


def _answer(core: Core, exchange: HttpExchange, tokens: int, *, estimated: bool) -> None:
    body = msgspec.json.encode({"input_tokens": tokens})
    mark = (f"x-{core.snapshot.wire}-estimated".encode("ascii"), b"true")
    exchange.answer(200, [answers.JSON, *([mark] if estimated else [])], body)
