"""Routes: which providers answer for which model, how each stands, and what is stopped.

Health is what the process that answers knows; each process learns by itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, get_args
from urllib.parse import urlencode

from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import OPERATORS, Form, Html, Page, Redirect, Reply, Visit, read
from zurelay.console.parts import ConsoleParts
from zurelay.office import stops
from zurelay.office.stops import Kind, StopForm
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
_ROWS = 60


@dataclass(slots=True)
class ProviderRow:
    """A provider and how its routes stand together."""

    name: str
    routes: int = 0
    up: int = 0
    in_flight: int = 0
    samples: int = 0
    answered: float = 0.0

    @property
    def success_rate(self) -> float | None:
        """Of the last minute; None without samples."""
        return self.answered / self.samples if self.samples else None


def standing(parts: ConsoleParts) -> list[dict[str, Any]]:
    """Every route and how it stands; to be called on the event loop."""
    return routes_view(parts.table(), parts.health, parts.now(), parts.redact)


def index(visit: Visit) -> Reply:
    """All providers, and the routes that pass the filter."""
    desk, query = visit.parts.desk, visit.query
    stopped = stops.list_stops(desk, visit.actor)
    rows = providers(visit.gathered, desk.providers() or ())
    chosen = {name: query.get(name, "").strip() for name in ("q", "provider", "state")}
    found = [one for one in visit.gathered if _passes(one, chosen)]
    # What needs somebody's eye comes first; else as the table has it.
    found.sort(key=lambda one: one["state"] == "closed" and not one["last_errors"])
    first = int(query["from"]) if query.get("from", "").isdecimal() else 0
    more = None
    if len(found) > first + _ROWS:
        given = {name: value for name, value in chosen.items() if value}
        more = f"{HOME}?{urlencode(given | {'from': first + _ROWS})}"
    return Html(
        "routes.html",
        {
            "form": Form.of(**chosen),
            "providers": rows,
            "routes": found[first : first + _ROWS],
            "count": len(found),
            "served": len(visit.gathered),
            "more": more,
            "stopped": stopped,
            "off": {(one.kind, one.name) for one in stopped},
            "states": STATES,
            "causes": CAUSES,
            "colours": _COLOURS,
            "names": [(one.name, one.name) for one in rows],
        },
    )


def stop(visit: Visit) -> Reply:
    """Asks a model or provider no more."""
    fields = {name: visit.form.get(name) for name in ("kind", "name", "note")}
    try:
        made = stops.stop(visit.parts.desk, visit.actor, read(StopForm, fields))
    except Refused as refused:
        if refused.problem.status != 400:
            raise
        return Redirect(HOME, visit.gettext("There is nothing of that name."), "bad")
    return Redirect(HOME, visit.gettext("%(name)s is stopped.", name=made.name))


def resume(visit: Visit) -> Reply:
    """Asks it again."""
    name, wanted = visit.form.get("name"), visit.form.get("kind")
    kind: Kind = next((one for one in get_args(Kind) if one == wanted), "model")
    stops.resume(visit.parts.desk, visit.actor, kind, name)
    return Redirect(HOME, visit.gettext("%(name)s works again.", name=name))


def providers(routes: Iterable[dict[str, Any]], configured: Iterable[str]) -> list[ProviderRow]:
    """How each provider's routes stand; those without any route too."""
    rows = {name: ProviderRow(name) for name in configured}
    for one in routes:
        row = rows.setdefault(one["provider"], ProviderRow(one["provider"]))
        row.routes += 1
        row.up += one["state"] in ("closed", "half_open")
        row.in_flight += one["in_flight"] or 0
        row.samples += one["samples"] or 0
        row.answered += (one["success_rate"] or 0) * (one["samples"] or 0)
    return list(rows.values())


# Our own.


def _passes(one: dict[str, Any], chosen: dict[str, str]) -> bool:
    state = chosen["state"]
    found = bool(one["last_errors"]) if state == "failed" else state in ("", one["state"])
    named = chosen["q"].lower() in one["model"].lower()
    return found and named and chosen["provider"] in ("", one["provider"])


PAGES = (
    Page("GET", HOME, OPERATORS, index, standing),
    Page("POST", f"{HOME}/stop", OPERATORS, stop),
    Page("POST", f"{HOME}/resume", OPERATORS, resume),
)
