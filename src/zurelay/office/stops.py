"""Stopping models, providers and routes at once, on all nodes, and resuming them.

What is stopped stays listed: its requests are answered that no route is available, or go to what
else was named. Accounts are stopped in `accounts`.
"""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from zurelay.chat.nearest import did_you_mean
from zurelay.office import values as v
from zurelay.office.desk import Desk, no_such, wrong
from zurelay.office.rights import Actor
from zurelay.store.stops import StopRow, add_stop, find_stop, remove_stop
from zurelay.store.stops import list_stops as read_stops

Kind = Literal["model", "provider", "route"]


class StopForm(Struct, forbid_unknown_fields=True):
    """What to stop: a model by its public id, a provider by its name, a route by its id.

    A provider's name is that of the configuration; a route's id is `provider:model`.
    """

    kind: Kind
    name: v.Name
    note: v.Note = ""


class StopView(Struct):
    """What is stopped, since when, by whom and why."""

    kind: str
    name: str
    since: str
    actor: str
    note: str


def stop(desk: Desk, actor: Actor, form: StopForm) -> StopView:
    """Ask it no more, on any node within a second. Requests under way go on.

    Raises:
        Refused: 400, 403.
    """
    with desk.change(actor, "stops.change") as change:
        known: Collection[str] | None
        known = {"model": desk.models, "provider": desk.providers, "route": desk.routes}[
            form.kind
        ]()
        v.name_of(form.name)
        v.note_of(form.note)
        if known is not None and form.name not in known:
            hint = did_you_mean(form.name, known)
            raise wrong("name", f"name: there is no {form.kind} '{v.shown(form.name)}'.{hint}")
        row = StopRow(form.kind, form.name, int(change.now), change.actor.name[:200], form.note)
        if add_stop(change.connection, row):
            detail = {"kind": form.kind, "note": form.note}
            change.did(f"{form.kind}.stop", form.name, None, detail)
            return view(row)
        change.did_nothing()
        return view(find_stop(change.connection, form.kind, form.name) or row)


def resume(desk: Desk, actor: Actor, kind: Kind, name: str) -> None:
    """Ask it again. Raises Refused: 403; 404 for what is not stopped."""
    with desk.change(actor, "stops.change") as change:
        if not remove_stop(change.connection, kind, name):
            raise no_such(f"stopped {kind}", name)
        change.did(f"{kind}.resume", name, None, {"kind": kind})


def list_stops(desk: Desk, actor: Actor) -> list[StopView]:
    """Everything that is stopped, but accounts. Raises Refused: 403."""
    with desk.read(actor, "stops.read") as connection:
        return [view(row) for row in read_stops(connection)]


def view(row: StopRow) -> StopView:
    """What is stopped, as it is shown."""
    return StopView(row.kind, row.name, v.iso_of(row.since), row.actor, row.note)
