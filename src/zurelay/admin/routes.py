"""Endpoints for what is served: models, how every route stands, and what is stopped."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from zurelay.admin.endpoint import Call, Endpoint, ListView, Nothing
from zurelay.admin.parts import AdminParts
from zurelay.catalogue.view import model_view
from zurelay.office import stops
from zurelay.office.routes import Own, Picture, picture
from zurelay.office.stops import StopForm, StopView
from zurelay.office.values import ModelName, Name
from zurelay.plan.report import states_of
from zurelay.plan.view import routes_view


class RoutesQuery(Struct, forbid_unknown_fields=True):
    """Which routes, and whose view of them."""

    model: ModelName | None = None
    process: (
        Annotated[
            str, Meta(min_length=1, max_length=40, description="As one process sees it, by its id.")
        ]
        | None
    ) = None


class RouteErrorView(Struct):
    """A failure of a route, with the provider's own words, and the process that met it."""

    reason: str
    http_status: int | None
    message: str
    age_s: float
    process: str


class RouteView(Struct):
    """A route and its health, as the counted processes see it together.

    `stopped`: the kind of what holds it back. `state` is the worst that any process sees;
    `state_at` names those that see it. `processes`: how many there are; `up_in`: in how many of
    them the route is in use.
    """

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
    state_at: list[str]
    processes: int
    up_in: int | None


class ProcessView(Struct):
    """A process that works on this store. `age_s`: how long ago it was heard of.

    `asked`: it gives this answer. `counted`: it was heard of lately enough.
    """

    id: str
    name: str
    age_s: float
    asked: bool
    counted: bool


class RoutesView(Struct):
    """Every route, and whom that speaks for.

    `store_away`: the store does not answer, so that only the process that was asked is known.
    """

    data: list[RouteView]
    processes: list[ProcessView]
    store_away: bool
    next_cursor: str | None = None
    object: Literal["list"] = "list"


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
    """All routes, or those of one model, as all processes see them or one."""
    seen = picture(call.parts.desk, call.actor, call.gathered)
    return {
        "data": routes_view(call.parts.table(), seen.of(call.query.process), call.query.model),
        "processes": _processes(seen),
        "store_away": seen.store_away,
        "next_cursor": None,
        "object": "list",
    }


def _known(parts: AdminParts) -> Own:
    states = states_of(parts.table(), parts.health, parts.now())
    return Own(parts.process, parts.name, states, parts.redact)


def _processes(seen: Picture) -> list[ProcessView]:
    counted = [
        ProcessView(one.id, one.name, one.age_s, asked=not number, counted=True)
        for number, one in enumerate(seen.reports)
    ]
    silent = [ProcessView(one.id, one.name, one.age_s, False, False) for one in seen.silent]
    return counted + silent


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
        "List every route and how it stands for all processes.",
        "providers.read",
        list_routes,
        RoutesView,
        RoutesQuery,
        gather=_known,
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
