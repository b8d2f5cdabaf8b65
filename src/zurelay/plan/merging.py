"""What several processes know of one route, put together as if one had seen it all.

Pure. The order in which processes are given decides nothing but the order of names.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from zurelay.plan.report import IDLE, ErrorShown, Report, Standing

_SEVERITY: Final = {"closed": 0, "half_open": 1, "resting": 2, "open": 3}
_IN_USE: Final = ("closed", "half_open")
_ERRORS: Final = 5


@dataclass(frozen=True, slots=True)
class Together:
    """A route as some processes see it together.

    Attributes:
        standing: sums, means and the worst state. `wait_s` and `cause` are those of who waits
            longest in that state.
        state_at: names of the processes that see that state.
        processes: how many there are.
        up_in: in how many of them it is in use: closed, or half-open.
    """

    standing: Standing
    state_at: tuple[str, ...]
    processes: int
    up_in: int


def together(reports: Sequence[Report], route_id: str) -> Together:
    """One route by at least one report."""
    if not reports:
        raise ValueError("no process, nothing known")
    seen = [(report.name, report.routes.get(route_id, IDLE)) for report in reports]
    each = [one for _, one in seen]
    worst = max(each, key=lambda one: (_SEVERITY[one.state], one.wait_s, one.cause or ""))
    samples = sum(one.samples for one in each)
    return Together(
        standing=Standing(
            state=worst.state,
            cause=worst.cause,
            wait_s=worst.wait_s,
            samples=samples,
            success_rate=_success(each, samples),
            first_token_p50_ms=_mean((one.first_token_p50_ms, one) for one in each),
            first_token_p95_ms=_mean((one.first_token_p95_ms, one) for one in each),
            in_flight=sum(one.in_flight for one in each),
            attempts_1h=sum(one.attempts_1h for one in each),
            failed_1h=sum(one.failed_1h for one in each),
            last_errors=_newest(seen),
        ),
        state_at=tuple(name for name, one in seen if one.state == worst.state),
        processes=len(each),
        up_in=sum(one.state in _IN_USE for one in each),
    )


# Our own.


def _success(each: Iterable[Standing], samples: int) -> float | None:
    if not samples:
        return None
    answered = math.fsum((one.success_rate or 0.0) * one.samples for one in each)
    return min(1.0, round(answered / samples, 4))


def _mean(figures: Iterable[tuple[float | None, Standing]]) -> float | None:
    """The mean by samples; without any by the attempts of the hour; without these the plain one."""
    known = [(value, one) for value, one in figures if value is not None]
    for weights in ([one.samples for _, one in known], [one.attempts_1h for _, one in known]):
        if total := sum(weights):
            pairs = zip(known, weights, strict=True)
            return round(math.fsum(value * weight for (value, _), weight in pairs) / total, 1)
    return round(math.fsum(value for value, _ in known) / len(known), 1) if known else None


def _newest(seen: Iterable[tuple[str, Standing]]) -> tuple[ErrorShown, ...]:
    errors = [replace(error, process=name) for name, one in seen for error in one.last_errors]
    errors.sort(key=lambda error: (error.age_s, error.process, error.reason, error.message))
    return tuple(errors[:_ERRORS])
