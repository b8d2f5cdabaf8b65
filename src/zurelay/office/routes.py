"""How routes stand for all processes that work on one store, as far as they told.

Knows no process's inside: what each knows was written down by itself, and comes in for the one that
is asked.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from zurelay.office.desk import Desk, Unavailable, no_such
from zurelay.office.rights import Actor
from zurelay.plan.report import Report, decoded, shown
from zurelay.plan.standing import RouteState
from zurelay.store.route_reports import FORGOTTEN_S, RouteReport, list_reports

SILENT_S: Final = 30
"""Whose word is older than this counts no more: some rounds of its own."""


@dataclass(frozen=True, slots=True)
class Silent:
    """A process that was heard of lately, but not just now. `age_s`: how long ago."""

    id: str
    name: str
    age_s: float


@dataclass(frozen=True, slots=True)
class Picture:
    """What processes know together.

    Attributes:
        reports: of those that count; the first is of the process that was asked.
        silent: those that do not count any more: stuck, cut off from the store, or gone.
        store_away: the others could not be asked for.
    """

    reports: tuple[Report, ...]
    silent: tuple[Silent, ...] = ()
    store_away: bool = False

    @property
    def oldest_s(self) -> float:
        """How old the oldest word is that counts."""
        return max(one.age_s for one in self.reports)

    def of(self, process: str | None) -> tuple[Report, ...]:
        """All that count, or the one with that id. Raises Refused: 404."""
        if process is None:
            return self.reports
        found = tuple(one for one in self.reports if one.id == process)
        if not found:
            raise no_such("process", process)
        return found


@dataclass(frozen=True, slots=True)
class Own:
    """The process that is asked, and what it knows.

    Attributes:
        id: tells it from all others; `name` is for people.
        states: of every route, by id.
        redact: makes a provider's own words fit to be shown.
    """

    id: str
    name: str
    states: dict[str, RouteState]
    redact: Callable[[str], str]


def picture(desk: Desk, actor: Actor, own: Own) -> Picture:
    """What all know; what the asked one knows alone if the store does not answer.

    Raises:
        Refused: 403.
    """
    actor.needs("providers.read")
    mine = Report(own.id, own.name, shown(own.states, own.redact))
    if desk.store.kind == "sqlite":
        return Picture((mine,))
    try:
        with desk.read(actor, "providers.read") as connection:
            rows = list_reports(connection)
    except Unavailable:
        return Picture((mine,), store_away=True)
    reports, silent = [mine], []
    for row in rows:
        if row.node == own.id:
            continue
        report = _read(row)
        if report is not None:
            reports.append(report)
        elif row.silent_s < FORGOTTEN_S:
            silent.append(Silent(row.node, row.name, round(row.silent_s, 1)))
    return Picture(_told_apart(reports), tuple(silent))


def _told_apart(reports: list[Report]) -> tuple[Report, ...]:
    """With a bit of the id in names that come twice: of folders called the same on one machine."""
    often = Counter(one.name for one in reports)
    return tuple(
        replace(one, name=f"{one.name} ({one.id[:6]})") if often[one.name] > 1 else one
        for one in reports
    )


def _read(row: RouteReport) -> Report | None:
    if row.silent_s > SILENT_S:
        return None
    routes = decoded(row.routes, row.told_s)
    if routes is None:
        return None
    return Report(row.node, row.name, routes, round(row.silent_s, 1))
