"""The order of a model's routes for one request.

First those that can be asked now and make the least of the request up; then priority; inside one
priority the route whose prompt cache is warm, then chance by weight, corrected by what is known
of health, speed and price. It knows no time and draws no chance of its own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from zurelay.formats.base import Ability
from zurelay.plan.abilities import burden
from zurelay.plan.health import Health
from zurelay.plan.route import Route, ServedModel

_MOST_CORRECTION = 2.0
"""Speed and price change a weight by at most this factor each."""

_LEAST_HEALTH = 0.05
_WARM_LOAD = 0.8
"""A provider busier than this gets no conversation for the sake of its cache."""


class Order:
    """Sorts routes for one request."""

    __slots__ = ("_draw", "_health", "_needs", "_now", "_warm")

    def __init__(
        self,
        health: Health,
        now: float,
        draw: Callable[[], float],
        warm: str | None,
        needs: Mapping[Ability, str],
    ) -> None:
        """Take what all models of a request share.

        Args:
            health: what is known of the routes.
            now: the clock that `health` is told.
            draw: uniform numbers from 0 to 1.
            warm: id of the route that served the conversation last.
            needs: what the request has.
        """
        self._health = health
        self._now = now
        self._draw = draw
        self._warm = warm
        self._needs = needs

    def sort(self, served: ServedModel, routes: Sequence[Route]) -> list[Route]:
        """`routes` of one model, the first to try first."""
        if len(routes) < 2:
            return list(routes)
        fastest = _least(self._health.first_token(route) for route in routes)
        cheapest = _least(_cost(served, route) for route in routes)
        return sorted(routes, key=lambda route: self._place(served, route, fastest, cheapest))

    def _place(
        self, served: ServedModel, route: Route, fastest: float | None, cheapest: float | None
    ) -> tuple[bool, bool, int, int, bool, float]:
        health = self._health
        blocked = not health.may_try(route, self._now).go
        share = health.share(route, self._now)
        recovering = share < 1.0 and self._draw() >= share
        warm = route.id == self._warm and health.load(route) <= _WARM_LOAD
        weight = route.weight * self._health_of(route)
        weight *= _correction(fastest, health.first_token(route))
        weight *= _correction(cheapest, _cost(served, route))
        # The larger of uniform draws to the power 1/weight wins in proportion to the weights.
        chance = self._draw() ** (1 / weight) if weight > 0 else -1.0
        lost = burden(served, route, self._needs)
        return (blocked, recovering, lost, route.priority, not warm, -chance)

    def _health_of(self, route: Route) -> float:
        rate = self._health.success_rate(route, self._now)
        return 1.0 if rate is None else max(_LEAST_HEALTH, rate)


def _least(figures: Iterable[float | None]) -> float | None:
    return min((figure for figure in figures if figure is not None), default=None)


def _correction(best: float | None, own: float | None) -> float:
    """What is left of a weight for a figure worse than the best; 1 where one is unknown."""
    if best is None or own is None or own <= best:
        return 1.0
    return max(1 / _MOST_CORRECTION, best / own)


def _cost(served: ServedModel, route: Route) -> float | None:
    """One figure to compare prices by: three input tokens to one of output. None if unknown."""
    price = (route.model or served.model).price
    if price is None:
        return None
    return 3 * price.classes.get("input", 0) + price.classes.get("output", 0)
