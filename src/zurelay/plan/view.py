"""Routes and their health as operators are shown them, in the admin API and on the command line.

Pure; providers' words are shown as the reports have them.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from zurelay.plan.merging import Together, together
from zurelay.plan.report import Report
from zurelay.plan.route import Route, RoutingTable, ServedModel, StopKind

UNKNOWN = "unknown"
"""The state of routes that no running gateway tells of."""


def routes_view(
    table: RoutingTable, reports: Sequence[Report], model: str | None = None
) -> list[dict[str, Any]]:
    """One object per model and route, in the order of the table; also for what is stopped.

    Args:
        table: what is served.
        reports: of the processes that it is to speak for; none if nothing is known.
        model: only the routes of this public id.
    """
    known: dict[str, dict[str, Any]] = {}  # a route that several models share

    def of(route: Route) -> dict[str, Any]:
        if route.id not in known:
            known[route.id] = _seen(together(reports, route.id)) if reports else _NOTHING_KNOWN
        return known[route.id]

    return [
        _route(served.model.id, route, by) | of(route)
        for served in table.models.values()
        if model is None or served.model.id == model
        for route, by in _all_routes(served)
    ]


def _all_routes(served: ServedModel) -> list[tuple[Route, StopKind | None]]:
    """Its routes by number, with what was stopped to hold them back."""
    found: list[tuple[Route, StopKind | None]] = [(route, None) for route in served.routes]
    found += served.held
    return sorted(found, key=lambda one: one[0].number) if served.held else found


def _route(model: str, route: Route, by: StopKind | None) -> dict[str, Any]:
    return {
        "model": model,
        "route": route.number,
        "id": route.id,
        "provider": route.provider.name,
        "label": route.provider.label or None,
        "priority": route.priority,
        "weight": route.weight,
        "stopped": by,
    }


def _seen(one: Together) -> dict[str, Any]:
    return {
        **asdict(one.standing),
        "last_errors": [asdict(error) for error in one.standing.last_errors],
        "state_at": list(one.state_at),
        "processes": one.processes,
        "up_in": one.up_in,
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
    "state_at": [],
    "processes": 0,
    "up_in": None,
}
