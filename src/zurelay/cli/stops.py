"""`zurelay stop`, `resume` and `stops`: an account, model, provider or route, on all servers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zurelay.cli.desk import at_desk
from zurelay.cli.options import DATA, Config, Data, Json, example, settings
from zurelay.cli.terminal import minute, note, print_json, print_table, say

if TYPE_CHECKING:
    from zurelay.office.stops import Kind

_What = Annotated[str, typer.Argument(metavar="KIND", help="account, model, provider or route.")]
_Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Its id or name; of a route provider:model, as 'zurelay routes' has it.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Make the commands part of the program."""
    app.command("stop", epilog=example("stop provider openai --note 'billing dispute'"))(stop)
    app.command("resume", epilog=example("resume provider openai"))(resume)
    app.command("stops", epilog=example("stops"))(stops)


def stop(
    kind: _What,
    name: _Name,
    config: Config = None,
    data: Data = DATA,
    why: Annotated[str, typer.Option("--note", metavar="TEXT", help="For people.")] = "",
) -> None:
    """Stop an account, model, provider or route within a second; requests under way go on."""
    from zurelay.office.accounts import stop_account
    from zurelay.office.stops import StopForm
    from zurelay.office.stops import stop as ask_no_more

    which = _kind(kind)
    with at_desk(config, data) as (desk, actor):
        if which is None:
            stopped = stop_account(desk, actor, name)
            say(f"stopped account {stopped.id} ({stopped.name})")
            return
        _warn(config, data, which, name)
        done = ask_no_more(desk, actor, StopForm(which, name, why))
    say(f"stopped {done.kind} {done.name}; see 'zurelay stops'")


def resume(kind: _What, name: _Name, config: Config = None, data: Data = DATA) -> None:
    """Resume what was stopped."""
    from zurelay.office.accounts import resume_account
    from zurelay.office.stops import resume as ask_again

    which = _kind(kind)
    with at_desk(config, data) as (desk, actor):
        if which is None:
            resumed = resume_account(desk, actor, name)
            say(f"resumed account {resumed.id} ({resumed.name})")
            return
        ask_again(desk, actor, which, name)
    say(f"resumed {which} {name}")


def stops(config: Config = None, data: Data = DATA, as_json: Json = False) -> None:
    """List the models, providers and routes that are stopped; accounts are in 'accounts list'."""
    from msgspec import to_builtins

    from zurelay.office.stops import list_stops

    with at_desk(config, data) as (desk, actor):
        rows = list_stops(desk, actor)
    if as_json:
        print_json(to_builtins(rows))
        return
    print_table(
        ("kind", "name", "since", "by", "note"),
        [(row.kind, row.name, minute(row.since), row.actor, row.note) for row in rows],
        spare=("by",),
        whole=("name",),
        empty="nothing is stopped",
    )


def _kind(text: str) -> "Kind | None":
    """None for an account."""
    kinds: dict[str, Kind | None] = {
        "account": None,
        "model": "model",
        "provider": "provider",
        "route": "route",
    }
    if text not in kinds:
        raise typer.BadParameter("write account, model, provider or route", param_hint="'KIND'")
    return kinds[text]


def _warn(config: Path | None, data: Path, kind: "Kind", name: str) -> None:
    """Tell of a name that this configuration does not know: another node's may."""
    from zurelay.chat.nearest import did_you_mean
    from zurelay.config import build_table, load_catalogue, providers
    from zurelay.config.faults import ConfigError

    try:
        found = settings(config, data)
        known = {one.name for one in providers(found)}
        if kind != "provider":
            table = build_table(found, load_catalogue(found), {})
            known = set(table.models) if kind == "model" else table.route_ids
    except ConfigError:
        return  # it needs secrets that this shell does not have
    if name not in known:
        note(f"note: this configuration has no {kind} {name!r}.{did_you_mean(name, known)}")
