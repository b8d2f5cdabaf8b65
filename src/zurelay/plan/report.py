"""How routes stand for one process, fit to be shown to people and told to other processes.

Pure. It does not know how a report travels, nor what several of them come to.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from zurelay.plan.health import Health
from zurelay.plan.route import Route, RoutingTable
from zurelay.plan.standing import RouteState

_MESSAGE_TOLD: Final = 300


class ErrorShown(Struct, frozen=True, omit_defaults=True):
    """A failure of a route; `message` holds no secret. `process`: the name of who met it."""

    reason: str
    http_status: int | None
    message: str
    age_s: float
    process: str = ""


class Standing(Struct, frozen=True, omit_defaults=True):
    """A `RouteState` in the units of the admin API."""

    state: Literal["closed", "half_open", "resting", "open"] = "closed"
    cause: Literal["route", "connection", "credential"] | None = None
    wait_s: float = 0.0
    samples: int = 0
    success_rate: float | None = None
    first_token_p50_ms: float | None = None
    first_token_p95_ms: float | None = None
    in_flight: int = 0
    attempts_1h: int = 0
    failed_1h: int = 0
    last_errors: tuple[ErrorShown, ...] = ()


IDLE: Final = Standing()
"""Of a route that is well and was not used lately."""

_Routes = dict[str, Standing]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Routes).decode


@dataclass(frozen=True, slots=True)
class Report:
    """What one process knows of its routes.

    Attributes:
        id: tells it from all others; `name` is for people.
        routes: by id; those that are not here are `IDLE`.
        age_s: seconds since it was last heard of.
    """

    id: str
    name: str
    routes: Mapping[str, Standing] = field(default_factory=dict)
    age_s: float = 0.0


def routes_of(table: RoutingTable) -> Iterator[Route]:
    """Every route once, also those that are stopped."""
    seen: set[str] = set()
    for served in table.models.values():
        for route in (*served.routes, *(route for route, _ in served.held)):
            if route.id not in seen:
                seen.add(route.id)
                yield route


def states_of(table: RoutingTable, health: Health, now: float) -> dict[str, RouteState]:
    """How each route stands, by its id.

    Args:
        table: what is served.
        health: to be read on the event loop.
        now: its clock.
    """
    return {route.id: health.snapshot(route, now) for route in routes_of(table)}


def is_idle(known: RouteState) -> bool:
    """Whether it is well, and there is nothing to tell of the last hour."""
    return (
        known.state == "closed"
        and not known.in_flight
        and not known.tried
        and not known.samples
        and not known.errors
    )


def marks(seen: Mapping[str, tuple[RouteState, float]]) -> list[tuple[Any, ...]]:
    """Equal to those of another time as long as nothing happened but that time passed.

    Args:
        seen: by id how a route stands, and when it was looked at.
    """
    return [
        (
            id_,
            one.state,
            one.cause,
            round(now + one.wait) if one.wait else 0,
            one.samples,
            one.success_rate,
            one.first_token_p50,
            one.in_flight,
            one.tried,
            one.failed,
            tuple((round(now - error.ago), error.fault.kind) for error in one.errors),
        )
        for id_, (one, now) in seen.items()
    ]


def shown(states: Mapping[str, RouteState], redact: Callable[[str], str]) -> dict[str, Standing]:
    """Them as they may be shown and told.

    Args:
        states: by id.
        redact: makes a provider's own words fit to be shown.
    """
    said: dict[str, str] = {}  # what is away says the same on many routes

    def fit(message: str) -> str:
        if message not in said:
            said[message] = redact(message)
        return said[message]

    return {id_: _standing(one, fit) for id_, one in states.items()}


def encoded(routes: Mapping[str, Standing]) -> str:
    """As JSON for other processes, the longest messages cut."""
    return _encode({id_: _shortened(one) for id_, one in routes.items()}).decode()


def decoded(text: str, later_s: float = 0.0) -> dict[str, Standing] | None:
    """What another process told `later_s` seconds ago, as it is now; None if it says nothing to us.

    That is what another release may have written.
    """
    try:
        told = _decode(text)
    except msgspec.DecodeError:
        return None
    return {id_: _aged(one, later_s) for id_, one in told.items()}


# Our own.


def _standing(known: RouteState, fit: Callable[[str], str]) -> Standing:
    return Standing(
        state=known.state,
        cause=known.cause,
        wait_s=round(known.wait, 1),
        samples=known.samples,
        success_rate=None if known.success_rate is None else round(known.success_rate, 4),
        first_token_p50_ms=_ms(known.first_token_p50),
        first_token_p95_ms=_ms(known.first_token_p95),
        in_flight=known.in_flight,
        attempts_1h=known.tried,
        failed_1h=known.failed,
        last_errors=tuple(
            ErrorShown(
                reason=error.fault.kind.value,
                http_status=error.fault.status or None,
                message=fit(error.fault.message),
                age_s=round(error.ago, 1),
            )
            for error in known.errors
        ),
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)


def _shortened(one: Standing) -> Standing:
    if all(len(error.message) <= _MESSAGE_TOLD for error in one.last_errors):
        return one
    cut = (replace(e, message=e.message[:_MESSAGE_TOLD]) for e in one.last_errors)
    return replace(one, last_errors=tuple(cut))


def _aged(one: Standing, seconds: float) -> Standing:
    if not one.wait_s and not one.last_errors:
        return one
    older = (replace(e, age_s=round(e.age_s + seconds, 1)) for e in one.last_errors)
    left = max(0.0, round(one.wait_s - seconds, 1))
    return replace(one, wait_s=left, last_errors=tuple(older))
