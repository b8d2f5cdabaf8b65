"""The models that can do requests of one shape, grouped by how well, and what each costs there.

A shape is what requests share that ask for the same: parts, effort, tier, about the same size.
Worked out once per shape and kept until a price changes. It does not know health.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from zurelay.access.auto import Ceiling
from zurelay.catalogue.model import Model, Price
from zurelay.catalogue.price import price_at
from zurelay.formats.base import Ability
from zurelay.meter.charge import at_size
from zurelay.plan.abilities import burden, lacking, named, serves
from zurelay.plan.auto.cost import Rates, rates, sized_for
from zurelay.plan.auto.features import Features
from zurelay.plan.auto.pool import NO_PRICE, Barred, Entry, Pool
from zurelay.plan.route import Route

SHORTLIST: Final = 8
"""The cheapest of a group, among which health decides."""

_MOST_SHAPES: Final = 256
"""Kept for one pool; beyond that all are worked out anew."""

DEARER: Final = "dearer than the ceiling"
RETIRED: Final = "retired"
SMALL: Final = "its window is too small"
NO_ROUTE: Final = "no route can take it"


class Row(Struct, frozen=True, eq=False):
    """A model that can do it.

    Attributes:
        entry: the model.
        routes: those of its routes that can do it, within the ceiling, by priority.
        rates: of the dearest of its routes of the first priority; None without a known price.
        lacks: how much of the request is made up for or left out on it; see `_lacks`.
        shortfall: how many tiers it is below the one asked for.
    """

    entry: Entry
    routes: tuple[Route, ...]
    rates: Rates | None
    lacks: int
    shortfall: int


Terms = tuple[float, float, int, float, float, int, Row]
"""Of one model: input, output, thinking, longest answer and fee as in `Rates`, place, model."""


class Group(Struct, frozen=True, eq=False):
    """Models that do a request equally well: inside a group cost decides.

    Attributes:
        lacks, shortfall: of all of them.
        terms: what the cost of each is made of.
    """

    lacks: int
    shortfall: int
    terms: tuple[Terms, ...]


class Shape(Struct, frozen=True, eq=False):
    """All models for requests of one shape.

    Attributes:
        groups: in the order in which they are to be chosen from.
        leading: as much of `groups` as the cheapest `SHORTLIST` are sure to be in; `groups` itself
            where that is all.
        barred: which models cannot do it, and why.
        until: Unix time at which it must be worked out anew.
        rows: by public id; `by_route` by the ids of their routes.
    """

    groups: tuple[Group, ...]
    leading: tuple[Group, ...]
    barred: tuple[Barred, ...]
    until: float
    rows: Mapping[str, Row]
    by_route: Mapping[str, Row]


def shape_of(
    pool: Pool, features: Features, needs: Mapping[Ability, str], tier: int, at: float
) -> Shape:
    """The models of the pool for requests like this one, at Unix time `at`."""
    total = features.tokens + (features.output or 0)
    key = (
        tuple(needs),
        features.effort,
        tier,
        bisect_left(pool.windows, total),
        bisect_left(pool.windows, features.tokens * 5 / 6),
        bisect_left(pool.outputs, features.output or 0),
        bisect_left(pool.steps, sized_for(features.tokens)),
    )
    known = pool.made.get(key)
    if isinstance(known, Shape) and at < known.until:
        return known
    if len(pool.made) >= _MOST_SHAPES:
        pool.made.clear()
    made = _made(pool, features, needs, tier, at)
    pool.made[key] = made
    return made


def _made(
    pool: Pool, features: Features, needs: Mapping[Ability, str], tier: int, at: float
) -> Shape:
    rows, barred = _rows(pool, features, needs, tier, at, slack=False)
    if not rows and any(one.why == SMALL for one in barred):
        # An estimate may be wrong: the nearest are asked before the request is refused.
        rows, barred = _rows(pool, features, needs, tier, at, slack=True)
    sorted_rows: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        sorted_rows.setdefault((row.lacks, row.shortfall), []).append(row)
    groups = tuple(Group(*key, tuple(map(_terms, sorted_rows[key]))) for key in sorted(sorted_rows))
    return Shape(
        groups=groups,
        leading=_leading(groups),
        barred=(*pool.barred, *barred),
        until=_next_change(pool, at),
        rows={row.entry.id: row for row in rows},
        by_route={route.id: row for row in rows for route in row.routes},
    )


def _rows(
    pool: Pool,
    features: Features,
    needs: Mapping[Ability, str],
    tier: int,
    at: float,
    *,
    slack: bool,
) -> tuple[list[Row], list[Barred]]:
    rows: list[Row] = []
    barred: list[Barred] = []
    today = datetime.fromtimestamp(at, UTC).date().isoformat()
    for entry in pool.entries:
        able: list[tuple[Route, Model, Price | None]] = []
        why = ""
        for route in entry.served.routes:
            model = route.model or entry.served.model
            found = _unable(entry, route, model, features, needs, slack=slack)
            price = price_at(model, at)
            if not found:
                found = _unaffordable(entry, price, pool.rules.ceiling, features)
            if not found and model.retires and model.retires < today:
                found = RETIRED
            if found:
                why = why or found
            else:
                able.append((route, model, price))
        able.sort(key=lambda one: one[0].priority)
        if not able:
            barred.append(Barred(entry.id, why or NO_ROUTE))
            continue
        rows.append(
            Row(
                entry=entry,
                routes=tuple(route for route, _, _ in able),
                rates=_dearest(able, features),
                lacks=min(_lacks(entry, *one[:2], features, needs) for one in able),
                shortfall=max(0, tier - entry.tier),
            )
        )
    return rows, barred


def _unable(
    entry: Entry,
    route: Route,
    model: Model,
    features: Features,
    needs: Mapping[Ability, str],
    *,
    slack: bool,
) -> str:
    """What the route lacks that it must not; empty for nothing."""
    if not serves(route, "chat"):
        return NO_ROUTE
    missing = lacking(entry.served, route, needs)
    if missing is not None:
        return f"takes no {named(missing)}"
    window = model.context or entry.served.model.context
    if window is None:
        return ""
    fits = (
        features.tokens * 5 <= window * 6
        if slack
        else features.tokens + (features.output or 0) <= window
    )
    return "" if fits else SMALL


def _unaffordable(entry: Entry, price: Price | None, ceiling: Ceiling, features: Features) -> str:
    """Why its price keeps it out; empty if it does not."""
    bounded = ceiling.input is not None or ceiling.output is not None
    if price is None:
        return "" if entry.unpriced and not bounded else NO_PRICE
    if not bounded:
        return ""
    sized = at_size(price, sized_for(features.tokens))
    for most, rate in ((ceiling.input, sized.rates[0]), (ceiling.output, sized.rates[6])):
        if most is not None and rate > most:
            return DEARER
    return ""


def _lacks(
    entry: Entry, route: Route, model: Model, features: Features, needs: Mapping[Ability, str]
) -> int:
    """What is made up for or left out.

    One for each: structure or a call that the gateway must make up for, no thinking where some was
    asked for, an answer that cannot be as long as asked.
    """
    reasoning = model.reasoning
    unthinking = reasoning is not None and set(reasoning.levels) <= {"none"}
    return (
        (burden(entry.served, route, needs) > 0)
        + (unthinking and features.effort not in (None, "none"))
        + (model.max_output is not None and (features.output or 0) > model.max_output)
    )


def _dearest(able: Sequence[tuple[Route, Model, Price | None]], features: Features) -> Rates | None:
    first = able[0][0].priority
    found = [
        rates(model, price, features.tokens, features.effort)
        for route, model, price in able
        if route.priority == first and price is not None
    ]
    return max(found, key=lambda one: 3 * one.input + one.output, default=None)


def _terms(row: Row) -> Terms:
    of = row.rates
    if of is None:  # comes last
        return (0.0, 0.0, 0, float("inf"), float("inf"), row.entry.place, row)
    return (of.input, of.output, of.thinking, of.most, of.fee, row.entry.place, row)


def _leading(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Groups until there are `SHORTLIST` models, without those that as many undercut in all."""
    found: list[Group] = []
    count = 0
    for group in groups:
        found.append(group if len(group.terms) <= 2 * SHORTLIST else _undercut(group))
        count += len(group.terms)
        if count >= SHORTLIST:
            break
    return groups if found == list(groups) else tuple(found)


def _undercut(group: Group) -> Group:
    """The models that fewer than `SHORTLIST` others beat in every part of their cost.

    Whatever a request's size, the `SHORTLIST` cheapest are among them.
    """
    kept: list[Terms] = []
    for terms in sorted(group.terms, key=lambda one: (sum(one[:3]), one[4], one[5])):
        fresh, out, thinking, most, fee = terms[:5]
        beaten = 0
        for other in kept:
            if (
                other[0] <= fresh
                and other[1] <= out
                and other[2] <= thinking
                and other[3] <= most
                and other[4] <= fee
            ):
                beaten += 1
                if beaten >= SHORTLIST:
                    break
        else:
            kept.append(terms)
    return Group(group.lacks, group.shortfall, tuple(kept))


def _next_change(pool: Pool, at: float) -> float:
    """When a price changes or a model retires: at midnight in UTC, or sooner."""
    moment = datetime.fromtimestamp(at, UTC)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    until = (midnight + timedelta(days=1)).timestamp()
    for price in _hourly(pool):
        for stretches, _ in price.hours:
            for stretch in stretches:
                for minute in (stretch.start, stretch.end):
                    change = (midnight + timedelta(minutes=minute)).timestamp()
                    if at < change < until:
                        until = change
    return until


def _hourly(pool: Pool) -> Iterator[Price]:
    """Prices that depend on the hour."""
    for entry in pool.entries:
        for route in entry.served.routes:
            model = route.model or entry.served.model
            for price in (model.price, *model.later):
                if price is not None and price.hours:
                    yield price
