"""Endpoints for what is served: models, how every route stands, and what is stopped."""

from typing import Any

from msgspec import Struct

from zurelay.admin.endpoint import Call, Endpoint, ListView, Nothing
from zurelay.catalogue.view import model_view
from zurelay.office import stops
from zurelay.office.stops import StopForm, StopView
from zurelay.office.values import ModelName, Name
from zurelay.plan.view import routes_view


class RoutesQuery(Struct, forbid_unknown_fields=True):
    """Which routes."""

    model: ModelName | None = None


class RouteErrorView(Struct):
    """A failure of a route, with the provider's own words."""

    reason: str
    http_status: int | None
    message: str
    age_s: float


class RouteView(Struct):
    """A route and its health, as this node sees it; `stopped`: the kind of what holds it back."""

    model: str
    route: int
    id: str
    provider: str
    label: str | None
    priority: int
    weight: float
    stopped: stops.Kind | None
    state: str
    cause: str | None
    wait_s: float | None
    samples: int | None
    success_rate: float | None
    first_token_p50_ms: float | None
    first_token_p95_ms: float | None
    in_flight: int | None
    attempts_1h: int | None
    failed_1h: int | None
    last_errors: list[RouteErrorView]


class ModelView(Struct):
    """A model that is served, as `GET /v1/models` tells it."""

    id: str
    object: str
    created: int
    owned_by: str
    name: str
    context: int | None
    max_output: int | None
    input_modalities: list[str]
    reasoning: dict[str, Any] | None
    price: dict[str, Any] | None
    routes_up: int


def list_routes(call: Call) -> object:
    """All routes, or those of one model."""
    parts = call.parts
    return ListView(
        routes_view(parts.table(), parts.health, parts.now(), parts.redact, call.query.model)
    )


def list_models(call: Call) -> object:
    """All models."""
    parts = call.parts
    now = parts.now()
    return ListView(
        [
            model_view(
                served.model,
                sum(1 for route in served.routes if parts.health.is_up(route, now)),
                parts.wall(),
                parts.owner(),
            )
            for served in parts.table().models.values()
        ]
    )


class StopQuery(Struct, forbid_unknown_fields=True):
    """What to resume."""

    kind: stops.Kind
    name: Name


def _list_stops(call: Call) -> object:
    return ListView(stops.list_stops(call.parts.desk, call.actor))


def _stop(call: Call) -> object:
    return stops.stop(call.parts.desk, call.actor, call.body)


def _resume(call: Call) -> object:
    stops.resume(call.parts.desk, call.actor, call.query.kind, call.query.name)
    return Nothing()


ENDPOINTS = (
    Endpoint(
        "GET",
        "/stops",
        "listStops",
        "List the models, providers and routes that are stopped.",
        "stops.read",
        _list_stops,
        ListView[StopView],
    ),
    Endpoint(
        "POST",
        "/stops",
        "stop",
        "Ask a model, provider or route no more, on every node within a second.",
        "stops.change",
        _stop,
        StopView,
        body=StopForm,
    ),
    Endpoint(
        "DELETE",
        "/stops",
        "resume",
        "Ask a stopped model, provider or route again.",
        "stops.change",
        _resume,
        query=StopQuery,
    ),
    Endpoint(
        "GET",
        "/routes",
        "listRoutes",
        "List every route and how it stands.",
        "providers.read",
        list_routes,
        ListView[RouteView],
        RoutesQuery,
        on_loop=True,
    ),
    Endpoint(
        "GET",
        "/models",
        "listModels",
        "List the models that are served.",
        "providers.read",
        list_models,
        ListView[ModelView],
        on_loop=True,
    ),
)
