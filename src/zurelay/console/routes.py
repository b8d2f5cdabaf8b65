"""Routes: which providers answer for which model, how each stands, and what is stopped.

Health is what all processes that share the store know together, or one of them alone. What is
stopped, and how often each provider failed by the hour, holds for all nodes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, get_args
from urllib.parse import urlencode

from zurelay.chat.problems import Refused
from zurelay.console.charts import Chart, Drawn, Series
from zurelay.console.languages import N_
from zurelay.console.page import OPERATORS, Form, Html, Page, Redirect, Reply, Visit, read
from zurelay.console.parts import ConsoleParts
from zurelay.office import alerts, stops
from zurelay.office.names import names_of
from zurelay.office.routes import Own, Picture, picture
from zurelay.office.stops import Kind, StopForm
from zurelay.office.trends import ProviderTrend, provider_trend
from zurelay.plan.report import Report, states_of
from zurelay.plan.view import routes_view

HOME: Final = "/console/routes"
STATES: Final = {
    "closed": N_("up"),
    "half_open": N_("being tried"),
    "resting": N_("resting"),
    "open": N_("down"),
}
CAUSES: Final = {
    "route": N_("this route"),
    "connection": N_("the connection to it"),
    "credential": N_("its credential"),
}
_COLOURS: Final = {"closed": "good", "half_open": "warn", "resting": "warn", "open": "bad"}
_KINDS: Final = {"model": N_("model"), "provider": N_("provider"), "route": N_("route")}
_NAMES = 2
"""Processes that are named beside a state that they see."""
_ROWS = 60
_SERIES = 7
"""Providers that have a colour of their own in the chart."""


@dataclass(slots=True)
class ProviderRow:
    """A provider and how its routes stand together; `partly`: up, but not for every process."""

    name: str
    routes: int = 0
    up: int = 0
    partly: int = 0
    in_flight: int = 0
    samples: int = 0
    answered: float = 0.0
    held: int = 0
    trying: int = 0
    tried_day: int = 0
    failed_day: int = 0

    @property
    def success_rate(self) -> float | None:
        """Of the last minute; None without samples."""
        return self.answered / self.samples if self.samples else None


def standing(parts: ConsoleParts) -> Own:
    """What this process knows of every route; to be called on the event loop."""
    states = states_of(parts.table(), parts.health, parts.now())
    return Own(parts.process, parts.name, states, parts.redact)


def index(visit: Visit) -> Reply:
    """All providers, and the routes that pass the filter."""
    desk, query = visit.parts.desk, visit.query
    seen = picture(desk, visit.actor, visit.gathered)
    asked = query.get("process", "")
    alone = next((one for one in seen.reports if one.id == asked), None)
    routes = routes_view(visit.parts.table(), seen.reports if alone is None else (alone,))
    stopped = stops.list_stops(desk, visit.actor)
    times, trends = provider_trend(desk, visit.actor)
    rows = providers(routes, desk.providers() or (), trends)
    chosen = {name: query.get(name, "").strip() for name in ("q", "provider", "state")}
    found = [one for one in routes if _passes(one, chosen)]
    # What needs somebody's eye comes first; else as the table has it.
    found.sort(key=_needs_no_eye)
    first = visit.start
    process = {} if alone is None else {"process": alone.id}
    more = None
    if len(found) > first + _ROWS:
        given = process | {name: value for name, value in chosen.items() if value}
        more = f"{HOME}?{urlencode(given | {'from': first + _ROWS})}"
    return Html(
        "routes.html",
        {
            "form": Form.of(**chosen),
            "providers": rows,
            "routes": found[first : first + _ROWS],
            "count": len(found),
            "served": len(routes),
            "more": more,
            "stopped": stopped,
            "alerts_open": alerts.count_open(desk, visit.actor),
            "off": {(one.kind, one.name): one for one in stopped},
            "kinds": _KINDS,
            "who": names_of(desk, visit.actor, (one.actor for one in stopped)),
            "left": _left(routes),
            "failures": _failures(visit, times, trends),
            "host": visit.parts.host,
            "seen": seen,
            "alone": alone,
            "gone": bool(asked) and alone is None,
            "by": _by(seen, alone),
            "home": f"{HOME}?{urlencode(process)}" if process else HOME,
            "named": _NAMES,
            "states": STATES,
            "causes": CAUSES,
            "colours": _COLOURS,
            "names": [(one.name, one.name) for one in rows],
        },
    )


def stop(visit: Visit) -> Reply:
    """Asks a model, provider or route no more."""
    fields = {name: visit.form.get(name) for name in ("kind", "name", "note")}
    try:
        made = stops.stop(visit.parts.desk, visit.actor, read(StopForm, fields))
    except Refused as refused:
        if refused.problem.status != 400:
            raise
        return Redirect(HOME, visit.gettext("There is nothing of that name."), "bad")
    if made.kind == "route":
        said = visit.gettext("%(name)s is being drained: it gets nothing new.", name=made.name)
        return Redirect(HOME, said)
    return Redirect(HOME, visit.gettext("%(name)s is stopped.", name=made.name))


def resume(visit: Visit) -> Reply:
    """Asks it again."""
    name, wanted = visit.form.get("name"), visit.form.get("kind")
    kind: Kind = next((one for one in get_args(Kind) if one == wanted), "model")
    stops.resume(visit.parts.desk, visit.actor, kind, name)
    return Redirect(HOME, visit.gettext("%(name)s works again.", name=name))


def providers(
    routes: Iterable[dict[str, Any]],
    configured: Iterable[str],
    trends: Iterable[ProviderTrend] = (),
) -> list[ProviderRow]:
    """How each provider's routes stand; those without any route too."""
    rows = {name: ProviderRow(name) for name in configured}
    counted: set[str] = set()
    for one in routes:
        row = rows.setdefault(one["provider"], ProviderRow(one["provider"]))
        row.routes += 1
        row.held += one["stopped"] is not None
        if one["stopped"] is None:
            row.up += one["up_in"] > 0
            row.partly += 0 < one["up_in"] < one["processes"]
            row.trying += one["state"] == "half_open"
        if one["id"] in counted:
            continue  # another model has this route too
        counted.add(one["id"])
        row.in_flight += one["in_flight"]
        row.samples += one["samples"]
        row.answered += (one["success_rate"] or 0) * one["samples"]
    for trend in trends:
        if trend.provider in rows:
            row = rows[trend.provider]
            row.failed_day = sum(trend.failed)
            row.tried_day = row.failed_day + sum(trend.answered)
    return list(rows.values())


# Our own.


def _by(seen: Picture, alone: Report | None) -> Report | None:
    """The one process that the page speaks for; None where it is several, or one without others."""
    if alone is None and len(seen.reports) == 1 and (seen.silent or seen.store_away):
        return seen.reports[0]
    return alone


def _needs_no_eye(one: dict[str, Any]) -> bool:
    calm = one["state"] == "closed" and one["stopped"] is None
    return calm and not one["last_errors"]


def _left(routes: Iterable[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """What is still under way at what is stopped, by kind and name; a route counts once."""
    under_way: dict[tuple[str, str], dict[str, int]] = {}
    for one in routes:
        of = {"model": one["model"], "provider": one["provider"], "route": one["id"]}
        for kind, name in of.items():
            under_way.setdefault((kind, name), {})[one["id"]] = one["in_flight"]
    return {which: sum(found.values()) for which, found in under_way.items()}


def _failures(visit: Visit, times: list[int], trends: list[ProviderTrend]) -> Drawn | None:
    """Failed attempts by hour and provider; None where none failed."""
    bad = [one for one in trends if any(one.failed)]
    if not bad:
        return None
    series = [Series(one.provider, one.failed) for one in bad[:_SERIES]]
    if rest := bad[_SERIES:]:
        sums = [sum(values) for values in zip(*(one.failed for one in rest), strict=True)]
        series.append(Series(visit.gettext("Others"), sums))
    return Chart(times, series, "count").draw(visit.language)


def _passes(one: dict[str, Any], chosen: dict[str, str]) -> bool:
    state = chosen["state"]
    if state == "failed":
        found = bool(one["last_errors"] or one["failed_1h"])
    elif state == "stopped":
        found = one["stopped"] is not None
    else:
        found = state in ("", one["state"])
    wanted = chosen["q"].lower()
    named = wanted in one["model"].lower() or wanted in one["id"].lower()
    return found and named and chosen["provider"] in ("", one["provider"])


PAGES = (
    Page("GET", HOME, OPERATORS, index, standing),
    Page("POST", f"{HOME}/stop", OPERATORS, stop),
    Page("POST", f"{HOME}/resume", OPERATORS, resume),
)
