"""`zurelay alerts`: what people were told of budgets, and operators of their gateway."""

from typing import Annotated

import typer

from zurelay.cli.desk import at_desk
from zurelay.cli.options import DATA, Config, Data, Json, example
from zurelay.cli.terminal import minute, print_json, print_table


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("alerts", epilog=example("alerts --open"))(alerts)


def alerts(
    config: Config = None,
    data: Data = DATA,
    account: Annotated[
        str | None,
        typer.Option(metavar="A", help="Only of this account: id or name.", show_default=False),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Only of this kind, such as disk.", show_default=False),
    ] = None,
    only_open: Annotated[bool, typer.Option("--open", help="Only what holds now.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=500, help="How many.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """Show alerts, newest first: of budgets and balances, and the operators' own."""
    from msgspec import to_builtins

    from zurelay.office.alerts import list_alerts
    from zurelay.office.pages import Page

    with at_desk(config, data) as (desk, who):
        holds = True if only_open else None
        rows = list_alerts(desk, who, Page(limit), account, kind=kind, holds=holds).data
    if as_json:
        print_json(to_builtins(rows))
        return
    print_table(
        ("since", "state", "what"),
        [
            (
                minute(row.created),
                "open" if row.open else "over",
                row.says,
            )
            for row in rows
        ],
        whole=("since",),
        empty="no alerts",
    )
