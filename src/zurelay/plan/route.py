"""Ways to reach models: what this gateway serves, as one immutable table.

A reload makes a new table; requests under way keep the old one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zurelay.access.auto import AutoRules
from zurelay.catalogue.model import Model
from zurelay.meter.limits import Bound
from zurelay.providers.base import Provider


@dataclass(frozen=True, slots=True)
class Route:
    """One way to reach a model: a provider and its own name for the model.

    Attributes:
        id: `provider:upstream_model`, unique; for operators.
        number: place among the routes of its model from 1; what callers see.
        priority: lower is tried first.
        weight: share inside one priority.
        model: the catalogue's entry of this model at this provider (its own price and quirks);
            None where it is the served model itself.
    """

    id: str
    number: int
    provider: Provider
    upstream_model: str
    priority: int = 1
    weight: float = 1.0
    model: Model | None = None


StopKind = Literal["model", "provider", "route"]
"""What an operator stops."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model and the routes that reach it, in file order; `bound`: what all callers may use.

    A model that was stopped has no routes. `held`: those that a stop holds back, and its kind.
    """

    model: Model
    routes: tuple[Route, ...]
    fallbacks: tuple[str, ...] = ()
    bound: Bound | None = None
    held: tuple[tuple[Route, StopKind], ...] = ()


@dataclass(frozen=True, slots=True)
class Auto:
    """The smart choice: the id by which it is asked for, and its rules for all callers."""

    id: str
    rules: AutoRules = field(default_factory=AutoRules)


def auto_id(wire: str) -> str:
    """The id by which the smart choice is asked for, by the word of the brand."""
    return f"{wire}-auto"


@dataclass(frozen=True, slots=True)
class Stops:
    """What an operator stopped: ids of models, names of providers, ids of routes."""

    models: frozenset[str] = frozenset()
    providers: frozenset[str] = frozenset()
    routes: frozenset[str] = frozenset()

    def of(self, model: str, route: Route) -> StopKind | None:
        """What holds a model's route back; None for nothing."""
        if model in self.models:
            return "model"
        if route.provider.name in self.providers:
            return "provider"
        return "route" if route.id in self.routes else None


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """Everything this gateway serves, by public id; `auto`: the smart choice among it."""

    models: Mapping[str, ServedModel] = field(default_factory=dict)
    auto: Auto | None = None
    made: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)
    """What the planner made of it for the commonest requests, kept for the next ones."""

    @property
    def route_ids(self) -> set[str]:
        """Ids of all routes, also of those that are stopped."""
        return {
            route.id
            for one in self.models.values()
            for route in (*one.routes, *(route for route, _ in one.held))
        }

    def find(self, model_id: str) -> ServedModel | None:
        """The served model, or None. Parameters of sandbox ids (`?first=30`) are no part of it."""
        served = self.models.get(model_id)
        if served is None and "?" in model_id:
            served = self.models.get(model_id.partition("?")[0])
            if served is not None and served.model.vendor != "sandbox":
                return None
        return served
