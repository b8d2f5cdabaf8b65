"""Response headers of answers, and the comment that says what they could not.

Values are our own known names and ids; caller text never gets here.
"""

from collections.abc import Sequence
from functools import lru_cache

from zurelay.chat.problems import Problem
from zurelay.plan.planner import Candidate, Plan

Header = tuple[bytes, bytes]

JSON = (b"content-type", b"application/json")
EVENT_STREAM = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
_MOST_DROPPED = 20


def dropped_value(dropped: Sequence[str]) -> str:
    """At most 20 names, the rest as `+N`."""
    shown = list(dropped[:_MOST_DROPPED])
    if len(dropped) > _MOST_DROPPED:
        shown.append(f"+{len(dropped) - _MOST_DROPPED}")
    return ",".join(shown)


def facts(
    plan: Plan,
    candidate: Candidate,
    dropped: Sequence[str],
    wire: str,
    effort: str | None = None,
) -> list[Header]:
    """The headers that name who answered and how; `effort` where it is not the planned one."""
    shown = effort or candidate.effort_shown
    return list(_facts(candidate.public_model, plan.asked, shown, tuple(dropped), wire))


@lru_cache(maxsize=512)
def _facts(
    model: str, asked: str, effort: str | None, dropped: tuple[str, ...], wire: str
) -> tuple[Header, ...]:
    """They are the same for most answers of a model."""
    prefix = f"x-{wire}-"
    out = [(f"{prefix}model".encode(), model.encode("ascii", "replace"))]
    if model != asked:
        out.append((f"{prefix}routed-from".encode(), asked.encode("ascii", "replace")))
    if effort is not None:
        out.append((f"{prefix}reasoning-effort".encode(), effort.encode("ascii")))
    if dropped:
        value = dropped_value(dropped).encode("ascii", "replace")
        out.append((f"{prefix}dropped-params".encode(), value))
    return tuple(out)


def early_facts(plan: Plan, wire: str) -> list[Header]:
    """What a stream that opens before any token can already say: only what cannot change."""
    candidates = plan.candidates
    out: list[Header] = []
    if len({c.public_model for c in candidates}) == 1:
        first = facts(plan, candidates[0], (), wire)
        sure = len({c.effort_shown for c in candidates}) == 1 and not any(
            map(_by_budget, candidates)
        )
        out = [h for h in first if sure or not h[0].endswith(b"reasoning-effort")]
    return out


def _by_budget(candidate: Candidate) -> bool:
    """Whether it thinks by a budget, which may turn out to have no room."""
    profile = candidate.model.profile(candidate.route.provider.kind.profile)
    return profile.effort_form in ("claude_budget", "cohere_thinking")


def late_comment(headers: Sequence[Header], sent: Sequence[Header]) -> bytes:
    """A comment with what the head could not say; empty if it said all."""
    missing = [h for h in headers if h not in sent]
    if not missing:
        return b""
    told = b" ".join(name + b"=" + value for name, value in missing)
    return b": " + told + b"\n\n"


def server_timing(gateway_ms: float, upstream_ms: float) -> Header:
    """Where the time went until the head was sent."""
    return (
        b"server-timing",
        b"gateway;dur=%.1f, upstream;dur=%.1f" % (gateway_ms, upstream_ms),
    )


def of_problem(problem: Problem) -> list[Header]:
    """`retry-after`, `x-should-retry`, `allow` and its own, where the problem has them."""
    out: list[Header] = []
    if problem.retry_after is not None:
        out.append((b"retry-after", b"%d" % problem.retry_after))
    elif problem.should_retry is False:
        out.append((b"x-should-retry", b"false"))
    if problem.allow is not None:
        out.append((b"allow", problem.allow.encode("ascii")))
    out += problem.headers
    return out
