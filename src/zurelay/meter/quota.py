"""What a caller is told of its limits: header lines, and the refusal when one is reached.

Of several bounds the headers speak of the tightest: the one with the least left. Written as OpenAI
does (`x-ratelimit-remaining-requests: 59`, a reset as `6m0s`) or as Anthropic does
(`anthropic-ratelimit-requests-remaining: 59`, a reset in RFC 3339), as both stood in November 2026.
Knows no clock: the time is given.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil
from typing import Literal, NamedTuple

from zurelay.chat.problems import Problem, Refused, rate_limited
from zurelay.meter.limits import NEVER, Bound, Standing

Header = tuple[bytes, bytes]
Kind = Literal["requests", "tokens"]

FULL_RETRY_MS = 1000
"""When to come again while too many requests are under way: nobody knows when one ends."""

_WHOSE = {"key": "this key", "account": "this account", "model": "this model, all callers together"}


class Rest(NamedTuple):
    """One limit: what it allows in a minute, what is left, and milliseconds until all is."""

    kind: Kind
    limit: int
    remaining: int
    reset: int


def rests(bounds: Sequence[Bound], standings: Sequence[Standing]) -> list[Rest]:
    """The tightest limit on requests, and the tightest on tokens; without those that are none."""
    pairs = list(zip(bounds, standings, strict=True))
    requests = [
        Rest("requests", bound.rpm, max(0, bound.rpm - at.requests), at.requests_reset)
        for bound, at in pairs
        if bound.rpm is not None
    ]
    tokens = [
        Rest("tokens", bound.tpm, max(0, bound.tpm - at.tokens), at.tokens_reset)
        for bound, at in pairs
        if bound.tpm is not None
    ]
    return [min(kind, key=_tightness) for kind in (requests, tokens) if kind]


def _tightness(rest: Rest) -> tuple[int, int, int]:
    return rest.remaining, -rest.reset, rest.limit


def headers(found: Iterable[Rest], at: float, now: float, *, anthropic: bool) -> list[Header]:
    """The header lines of what `rests` found at Unix time `at`, sent at `now`."""
    out: list[Header] = []
    for rest in found:
        kind = rest.kind.encode()
        limit, remaining = b"%d" % rest.limit, b"%d" % rest.remaining
        if anthropic:
            name = b"anthropic-ratelimit-" + kind
            out += (
                (name + b"-limit", limit),
                (name + b"-remaining", remaining),
                (name + b"-reset", moment(at + rest.reset / 1000).encode()),
            )
        else:
            name = b"x-ratelimit-"
            left = max(0, rest.reset - round((now - at) * 1000))
            out += (
                (name + b"limit-" + kind, limit),
                (name + b"remaining-" + kind, remaining),
                (name + b"reset-" + kind, duration(left).encode()),
            )
    return out


def duration(milliseconds: int) -> str:
    """A time as OpenAI writes it: `6m0s`, `12.5s`, `350ms`, `0s`."""
    if 0 < milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest // 1000}.{rest % 1000:03}".rstrip("0").rstrip(".")
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def moment(unix: float) -> str:
    """The first whole second not before that time, in RFC 3339."""
    return datetime.fromtimestamp(ceil(unix), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def refusal(
    bounds: Sequence[Bound],
    standings: Sequence[Standing],
    least: int,
    at: float,
    *,
    anthropic: bool,
) -> Refused:
    """Why a request was not let in: the bound that keeps it out the longest.

    Args:
        bounds: what it was to count against.
        standings: how each of them stands.
        least: tokens it needs in any case.
        at: Unix time.
        anthropic: headers are written as Anthropic does.
    """
    kept_out: list[tuple[int, str]] = []
    for bound, standing in zip(bounds, standings, strict=True):
        whose = _WHOSE[bound.scope]
        if bound.tpm is not None and least > bound.tpm:
            kept_out.append((NEVER, _too_large(whose, bound.tpm, least)))
        elif standing.wait:
            kept_out.append((standing.wait, _used_up(whose, bound, standing)))
        elif bound.concurrency is not None and standing.held >= bound.concurrency:
            text = f"Too many requests at once for {whose}: the limit is {bound.concurrency}."
            kept_out.append((FULL_RETRY_MS, text))
    wait, message = max(kept_out, key=lambda one: (one[0] == NEVER, one[0]))
    told = tuple(headers(rests(bounds, standings), at, at, anthropic=anthropic))
    if wait == NEVER:
        problem = _never(message)
        return Refused(replace(problem, headers=told))
    problem = rate_limited(f"{message} Try again in {duration(wait)}.", wait / 1000)
    return Refused(replace(problem, headers=(*told, (b"retry-after-ms", b"%d" % wait))))


def _too_large(whose: str, limit: int, least: int) -> str:
    return (
        f"Request too large for {whose}: its input is about {least} tokens, and the limit is "
        f"{limit} tokens per minute. Make it shorter."
    )


def _used_up(whose: str, bound: Bound, standing: Standing) -> str:
    over = bound.rpm is not None and standing.requests >= bound.rpm
    limit, kind = (bound.rpm, "requests") if over else (bound.tpm, "tokens")
    return f"Rate limit reached for {whose}: {limit} {kind} per minute."


def _never(message: str) -> Problem:
    return Problem(429, "rate_limit_error", "rate_limit_exceeded", message, should_retry=False)
