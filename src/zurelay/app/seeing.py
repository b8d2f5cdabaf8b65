"""What a node sees that operators should know: of its routes, its models and itself.

Looks at facts that it is given, keeps how long a route has been down, and writes nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from zurelay.chat.faults import FaultKind
from zurelay.config.alerts import Alerts
from zurelay.office.watching import Sighting
from zurelay.plan.health import Health
from zurelay.plan.route import RoutingTable
from zurelay.plan.standing import ErrorSeen
from zurelay.telemetry.metrics import StoreHealth

MOST_MODELS: Final = 20
"""Models named in one alert."""

_CREDENTIAL: Final = {
    FaultKind.REFUSED_CREDENTIAL: "credential_refused",
    FaultKind.OUT_OF_CREDIT: "out_of_credit",
}


class Routes:
    """Remembers since when each route is down."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def see(self, table: RoutingTable, health: Health, now: float, down_s: float) -> list[Sighting]:
        """What is wrong with routes.

        A provider that cannot be reached, or that refuses our credential, is one thing to know
        and not one for each of its routes. What somebody stopped is not down.

        Args:
            table: what is served.
            health: to be read on the event loop.
            now: its clock.
            down_s: how long a route must be down.
        """
        refused: dict[str, tuple[float, str]] = {}
        down: dict[str, tuple[str, str]] = {}
        apart = set()
        for model, served in table.models.items():
            for route in served.routes:
                if health.is_closed(route, now):
                    continue
                known, name = health.snapshot(route, now), route.provider.name
                if known.cause == "credential":
                    _learn(refused, name, known.errors)
                    continue
                down[route.id] = (model, name)
                if known.cause == "connection":
                    apart.add(route.id)
        self._since = {id_: self._since.get(id_, now) for id_ in down}
        long = [id_ for id_ in down if now - self._since[id_] >= down_s]
        away = sorted({down[id_][1] for id_ in long if id_ in apart})
        seen = [
            Sighting(kind, name, {"provider": name}) for name, (_, kind) in sorted(refused.items())
        ]
        seen += [Sighting("unreachable", name, {"provider": name}) for name in away]
        return seen + [
            Sighting("route_down", id_, {"route": id_, "model": down[id_][0]})
            for id_ in long
            if id_ not in apart
        ]


def models(table: RoutingTable, now: float, alerts: Alerts, *, prepaid: bool) -> list[Sighting]:
    """Models that retire soon; those without a price, where every request must be paid.

    Args:
        table: what is served.
        now: Unix time.
        alerts: how soon is soon.
        prepaid: whether accounts need a balance: then models without a price are refused.
    """
    seen = []
    days: dict[str, list[str]] = defaultdict(list)
    unpriced = []
    today = datetime.fromtimestamp(now, UTC).date()
    last = today + timedelta(days=alerts.retiring_days)
    for id_, served in table.models.items():
        day = _day(served.model.retires)
        if alerts.retiring_days and day is not None and today <= day <= last:
            days[served.model.retires].append(id_)
        if served.model.price is None:
            unpriced.append(id_)
    for text, names in sorted(days.items()):
        seen.append(Sighting("retiring", text, {"day": text, "models": _some(names)}))
    if prepaid and unpriced:
        seen.append(Sighting("unpriced", "models", {"models": _some(unpriced)}))
    return seen


def node(
    name: str, ready: Mapping[str, object], store: StoreHealth, alerts: Alerts
) -> list[Sighting]:
    """What the process knows of itself: whether it takes requests, and what it cannot deliver."""
    seen = []
    if ready["status"] == "unavailable":
        seen.append(Sighting("not_ready", name, {"node": name}))
    if store.spooled and store.lag_s >= alerts.spool_s:
        detail = {"node": name, "rows": store.spooled, "age_s": round(store.lag_s)}
        seen.append(Sighting("spool", name, detail))
    return seen


def machine(name: str, disk: tuple[int, int], ahead: float, alerts: Alerts) -> list[Sighting]:
    """What its machine lacks.

    Args:
        name: the machine's.
        disk: bytes used and free where the data folder is.
        ahead: seconds that the database's clock is ahead of its own.
        alerts: the bounds.
    """
    seen = []
    used, free = disk
    percent = used * 100 // max(1, used + free)
    if percent >= alerts.disk_percent:
        detail = {"node": name, "percent": percent, "free": free}
        seen.append(Sighting("disk", name, detail))
    if abs(ahead) >= alerts.clock_s:
        seen.append(Sighting("clock", name, {"node": name, "seconds": round(-ahead, 1)}))
    return seen


# Our own.


def _learn(
    refused: dict[str, tuple[float, str]], provider: str, errors: Iterable[ErrorSeen]
) -> None:
    """Keep a provider's latest word about our credential, as far as this node has heard one."""
    for error in errors:
        kind = _CREDENTIAL.get(error.fault.kind)
        if kind is not None:
            before = refused.get(provider, (float("inf"), ""))
            refused[provider] = min(before, (error.ago, kind))
            return


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def _some(names: Sequence[str]) -> list[str]:
    """The first of many."""
    shown = sorted(names)[:MOST_MODELS]
    return [*shown, "…"] if len(names) > MOST_MODELS else shown
