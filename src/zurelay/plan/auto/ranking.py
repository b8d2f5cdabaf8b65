"""The order of the models for one request: by group, then cost, corrected by what is measured.

A conversation stays with its model while that is among the best and not much dearer. Knows no time
and draws no chance of its own.
"""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from zurelay.access.auto import Weights
from zurelay.plan.auto.cost import ANSWERS, expected
from zurelay.plan.auto.features import Features
from zurelay.plan.auto.shapes import SHORTLIST, Group, Row, Shape
from zurelay.plan.health import Health
from zurelay.plan.route import Route

MOST_MODELS: Final = 6
"""Models of a ranking: the first and those to fall back to."""

MOST_CORRECTION: Final = 2.0
"""Speed and success make a model at most so many times dearer each."""

_UNKNOWN: Final = float("inf")
"""What a model without a known price is expected to cost."""

Why = Literal["cheapest", "corrected", "stays", "stands in"]


class Ranked(Struct, frozen=True, eq=False):
    """A model in its place. `cost` in nano-dollars, infinite if unknown."""

    row: Row
    cost: float


class Ranking(Struct, frozen=True):
    """The models to ask, in order; empty if there is none.

    Attributes:
        why: the first one is first.
        met: how many models are in its group.
    """

    models: tuple[Ranked, ...]
    why: Why = "cheapest"
    met: int = 0


def rank(
    shape: Shape,
    features: Features,
    health: Health,
    now: float,
    weights: Weights,
    warm: str | None = None,
) -> Ranking:
    """The ranking for one request.

    Args:
        shape: the models that can do it.
        features: of the request.
        health: what is known of the routes.
        now: the clock of `health`.
        weights: what counts how much.
        warm: id of the route that served the conversation last.
    """
    up, down = _shortlist(shape.leading, features, health, now)
    if len(up) < MOST_MODELS and shape.leading is not shape.groups:
        up, down = _shortlist(shape.groups, features, health, now)
    ordered = _corrected(up, health, now, weights)
    why: Why = "cheapest"
    if up and ordered[0].row is not up[0][1].row:
        why = "corrected"
    if warm is not None and ordered:
        staying = _staying(ordered[0], shape.by_route.get(warm), features, health, now, weights)
        if staying is not None:
            if ordered[0].row is not staying.row:
                why = "stays"
            ordered = [staying, *(one for one in ordered if one.row is not staying.row)]
    models = (ordered + down)[:MOST_MODELS]
    return Ranking(tuple(models), why, _met(shape, models[0].row) if models else 0)


def stand_ins(
    shape: Shape, features: Features, order: Sequence[str], health: Health, now: float
) -> Ranking:
    """The ranking where only sandbox models are configured: as `order` has them, if any."""
    rows = [shape.rows[name] for name in order if name in shape.rows]
    rows += [row for row in shape.rows.values() if row not in rows]
    rows.sort(key=lambda row: _up(row, health, now) is None)
    found = (Ranked(row, _cost(row, features)) for row in rows[:MOST_MODELS])
    return Ranking(tuple(found), "stands in", len(rows))


_Candidate = tuple[int, Ranked, Route]
"""The place of its group, the model, and the route that is up."""


def _shortlist(
    groups: Sequence[Group], features: Features, health: Health, now: float
) -> tuple[list[_Candidate], list[Ranked]]:
    """The cheapest by group: `SHORTLIST` that are up, and those before them that are not."""
    up: list[_Candidate] = []
    down: list[Ranked] = []
    for place, group in enumerate(groups):
        for cost, _, row in _priced(group, features):
            route = _up(row, health, now)
            if route is None:
                down.append(Ranked(row, cost))
                continue
            up.append((place, Ranked(row, cost), route))
            if len(up) >= SHORTLIST:
                return up, down
    return up, down


def _priced(group: Group, features: Features) -> list[tuple[float, int, Row]]:
    """The models of a group by expected cost; as `cost.expected` has it, in one go."""
    tokens, choices, limit = features.tokens, features.choices, features.output
    answer = ANSWERS[features.kind]
    longest = _UNKNOWN if limit is None else limit
    priced = [
        (fresh * tokens + out * min(answer + thinking, most, longest) * choices + fee, place, row)
        for fresh, out, thinking, most, fee, place, row in group.terms
    ]
    priced.sort()
    return priced


def _corrected(
    models: Sequence[_Candidate], health: Health, now: float, weights: Weights
) -> list[Ranked]:
    """By group, then by cost with speed and success in it."""
    times = [health.first_token(route) for _, _, route in models]
    fastest = min((time for time in times if time is not None), default=None)
    scored: list[tuple[int, float, int, Ranked]] = []
    for (group, one, route), time in zip(models, times, strict=True):
        # One nano-dollar more, so that free models differ too.
        score: float = (one.cost + 1) ** weights.cost
        if time is not None and fastest:
            score *= min(MOST_CORRECTION, time / fastest) ** weights.speed
        rate = health.success_rate(route, now)
        if rate is not None:
            score *= (1 / max(1 / MOST_CORRECTION, rate)) ** weights.success
        scored.append((group, score, len(scored), one))
    scored.sort()
    return [one for _, _, _, one in scored]


def _staying(
    best: Ranked,
    row: Row | None,
    features: Features,
    health: Health,
    now: float,
    weights: Weights,
) -> Ranked | None:
    """The conversation's model, if it is to stay: no worse than the best, and not much dearer."""
    if row is None or (row.lacks, row.shortfall) > (best.row.lacks, best.row.shortfall):
        return None
    if _up(row, health, now) is None:
        return None
    cost = _UNKNOWN if row.rates is None else expected(row.rates, features, cached=True)
    if row is not best.row and cost > weights.stay * best.cost:
        return None
    return Ranked(row, cost)


def _met(shape: Shape, row: Row) -> int:
    """How many models are in the row's group."""
    return next(
        len(group.terms)
        for group in shape.groups
        if (group.lacks, group.shortfall) == (row.lacks, row.shortfall)
    )


def _cost(row: Row, features: Features) -> float:
    return _UNKNOWN if row.rates is None else expected(row.rates, features)


def _up(row: Row, health: Health, now: float) -> Route | None:
    """The first of its routes that may be tried now."""
    only = len(row.entry.served.routes) == 1
    for route in row.routes:
        if health.may_try(route, now, only=only).go:
            return route
    return None
