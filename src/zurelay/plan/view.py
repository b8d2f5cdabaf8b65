"""Routes and their health as operators are shown them, in the admin API and on the command line.

Pure; providers' words are shown as the given function leaves them.
"""

from collections.abc import Callable
from typing import Any

from zurelay.plan.health import Health
from zurelay.plan.route import Route, RoutingTable, ServedModel, StopKind
from zurelay.plan.standing import ErrorSeen, RouteState

UNKNOWN = "unknown"
"""The state of routes that no running gateway tells of."""


def routes_view(
    table: RoutingTable,
    health: Health | None,
    now: float,
    redact: Callable[[str], str],
    model: str | None = None,
) -> list[dict[str, Any]]:
    """One object per model and route, in the order of the table; also for what is stopped.

    Args:
        table: what is served.
        health: what is known of the routes; None if nothing can be.
        now: the clock of `health`.
        redact: makes a provider's own words fit to be shown.
        model: only the routes of this public id.
    """
    return [
        _route(served.model.id, route, by, health, now, redact)
        for served in table.models.values()
        if model is None or served.model.id == model
        for route, by in _all_routes(served)
    ]


def _all_routes(served: ServedModel) -> list[tuple[Route, StopKind | None]]:
    """Its routes by number, with what was stopped to hold them back."""
    found: list[tuple[Route, StopKind | None]] = [(route, None) for route in served.routes]
    found += served.held
    return sorted(found, key=lambda one: one[0].number) if served.held else found


def _route(
    model: str,
    route: Route,
    by: StopKind | None,
    health: Health | None,
    now: float,
    redact: Callable[[str], str],
) -> dict[str, Any]:
    view: dict[str, Any] = {
        "model": model,
        "route": route.number,
        "id": route.id,
        "provider": route.provider.name,
        "label": route.provider.label or None,
        "priority": route.priority,
        "weight": route.weight,
        "stopped": by,
    }
    if health is None:
        return view | _NOTHING_KNOWN
    return view | _state(health.snapshot(route, now), redact)


def _state(known: RouteState, redact: Callable[[str], str]) -> dict[str, Any]:
    return {
        "state": known.state,
        "cause": known.cause,
        "wait_s": round(known.wait, 1),
        "samples": known.samples,
        "success_rate": None if known.success_rate is None else round(known.success_rate, 4),
        "first_token_p50_ms": _ms(known.first_token_p50),
        "first_token_p95_ms": _ms(known.first_token_p95),
        "in_flight": known.in_flight,
        "attempts_1h": known.tried,
        "failed_1h": known.failed,
        "last_errors": [_error(error, redact) for error in known.errors],
    }


_NOTHING_KNOWN: dict[str, Any] = {
    "state": UNKNOWN,
    "cause": None,
    "wait_s": None,
    "samples": None,
    "success_rate": None,
    "first_token_p50_ms": None,
    "first_token_p95_ms": None,
    "in_flight": None,
    "attempts_1h": None,
    "failed_1h": None,
    "last_errors": [],
}


def _error(error: ErrorSeen, redact: Callable[[str], str]) -> dict[str, Any]:
    return {
        "reason": error.fault.kind.value,
        "http_status": error.fault.status or None,
        "message": redact(error.fault.message),
        "age_s": round(error.ago, 1),
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)
