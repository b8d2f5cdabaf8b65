"""The overview: what was spent, asked and answered over a chosen time, and by what or whom."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, get_args

from zurelay.catalogue.money import format_usd
from zurelay.console.charts import NARROW, Chart, Drawn, Series, Unit
from zurelay.console.languages import N_
from zurelay.console.page import SIGNED_IN, Html, Page, Reply, Visit
from zurelay.console.snippets import samples
from zurelay.office import alerts
from zurelay.office.trends import Group, GroupTrend, Span, Totals, Trend, trend
from zurelay.office.usage import UserUsageView, usage_of_users

LOOKED_AT: Final = 20_000
"""How many requests users are summed over: those are read from the log itself."""

_NANO: Final = Decimal(10**9)

SPAN_NAMES: Final[dict[Span, str]] = {
    "24h": N_("24 hours"),
    "7d": N_("7 days"),
    "30d": N_("30 days"),
    "90d": N_("90 days"),
}
GROUPS: Final = {
    "model": N_("Model"),
    "key": N_("Key"),
    "user": N_("User"),
    "account": N_("Account"),
}
_GROUPS: Final[dict[str, Group]] = {"model": "model", "key": "key", "account": "account"}
MEASURES: Final[dict[str, tuple[str, Unit, Callable[[Totals], float]]]] = {
    "spend": (N_("Spend"), "usd", lambda one: float(Decimal(one.cost) / _NANO)),
    "requests": (N_("Requests"), "count", lambda one: one.requests),
    "tokens": (N_("Tokens"), "count", lambda one: one.tokens_in + one.tokens_out),
    "errors": (N_("Errors"), "count", lambda one: one.errors),
}
CLASSES: Final[tuple[tuple[str, Callable[[dict[str, int]], int]], ...]] = (
    (N_("Input"), lambda one: one["input"] + one["audio_input"]),
    (N_("Cache written"), lambda one: one["cache_write"] + one["cache_write_long"]),
    (N_("Cached input"), lambda one: one["cached_input"]),
    (N_("Output"), lambda one: one["output"] + one["audio_output"] - one["reasoning"]),
    (N_("Thinking"), lambda one: one["reasoning"]),
)


def overview(visit: Visit) -> Reply:
    """The page."""
    query, desk = visit.query, visit.parts.desk
    span: Span = next((one for one in get_args(Span) if one == query.get("span")), "7d")
    everywhere = visit.operates and visit.account is None
    groups = {name: label for name, label in GROUPS.items() if name != "account" or everywhere}
    by = query.get("by", "")
    by = by if by in groups else "model"
    found = trend(
        desk,
        visit.actor,
        span,
        _GROUPS.get(by, "none"),
        account=visit.account,
    )
    measure = query.get("show", "")
    if measure not in MEASURES:  # where nothing costs anything, there is more to see in requests
        measure = "spend" if found.totals.cost else "requests"
    users: list[UserUsageView] = []
    if by == "user":
        since = float(found.times[0])
        users = usage_of_users(
            desk, visit.actor, since=since, account=visit.account, newest=LOOKED_AT
        )
    values: dict[str, Any] = {
        "span": span,
        "spans": SPAN_NAMES,
        "by": by,
        "groups": groups,
        "measure": measure,
        "measures": {name: label for name, (label, _, _) in MEASURES.items()},
        "found": found,
        "alerts_open": alerts.count_open(desk, visit.actor) if visit.operates else 0,
        "users": users,
        "looked_at": LOOKED_AT if found.totals.requests > LOOKED_AT else 0,
        "link": lambda **changed: _link(span, by, measure, changed),
        "usd": format_usd,
        "name_of": lambda one: _name(visit, one),
        "samples": samples(visit.parts.base_url(), visit.parts.example_model()),
    }
    if found.totals.requests:
        values |= {
            "main": _main(visit, found, measure).draw(visit.language),
            "tokens": _tokens(visit, found),
            "speed": _speed(visit, found),
            "failures": _failures(visit, found),
        }
    return Html("overview.html", values)


def _link(span: str, by: str, measure: str, changed: dict[str, str]) -> str:
    """This page with another choice."""
    chosen = {"span": span, "by": by, "show": measure} | changed
    return "/console?" + "&".join(f"{name}={value}" for name, value in chosen.items())


def _name(visit: Visit, group: GroupTrend) -> str:
    if group.rest:
        return visit.gettext("Others")
    return group.name or visit.gettext("No such model")


def _main(visit: Visit, found: Trend, measure: str) -> Chart:
    label, unit, value = MEASURES[measure]
    series = [
        Series(_name(visit, group), [value(step) for step in group.steps]) for group in found.groups
    ]
    if not series:
        series = [Series(visit.gettext(label), [value(step) for step in found.steps])]
    return Chart(found.times, series, unit)


def _tokens(visit: Visit, found: Trend) -> Drawn:
    series = [
        Series(visit.gettext(label), [count(step.tokens) for step in found.steps])
        for label, count in CLASSES
        if any(count(step.tokens) for step in found.steps)
    ]
    return Chart(found.times, series, "count").draw(visit.language, NARROW)


def _speed(visit: Visit, found: Trend) -> Drawn:
    values: Sequence[float | None] = [step.first_token_ms for step in found.steps]
    series = [Series(visit.gettext("First token"), values)]
    return Chart(found.times, series, "ms", "line").draw(visit.language, NARROW)


def _failures(visit: Visit, found: Trend) -> Drawn:
    values = [step.error_rate if step.requests else None for step in found.steps]
    series = [Series(visit.gettext("Error rate"), values)]
    return Chart(found.times, series, "share", "line").draw(visit.language, NARROW)


PAGES = (Page("GET", "/console", SIGNED_IN, overview),)
