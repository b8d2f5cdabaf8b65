"""`zurelay audit`: who changed what."""

import json
from typing import Annotated

import typer

from zurelay.cli.desk import at_desk
from zurelay.cli.options import DATA, Config, Data, Json, example
from zurelay.cli.terminal import print_json, print_table


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("audit", epilog=example("audit --account team --action key"))(audit)


def audit(
    config: Config = None,
    data: Data = DATA,
    account: Annotated[
        str | None,
        typer.Option(metavar="A", help="Only of this account: id or name.", show_default=False),
    ] = None,
    actor: Annotated[
        str | None,
        typer.Option(metavar="WHO", help="Only by this one, such as cli:ann.", show_default=False),
    ] = None,
    action: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Only this, such as key.create, or key for all of a kind.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only changes of this.", show_default=False),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=500, help="How many.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """Show what was changed by whom, newest first."""
    from msgspec import to_builtins

    from zurelay.office.audit import list_audit
    from zurelay.office.pages import Page

    with at_desk(config, data) as (desk, who):
        rows = list_audit(
            desk, who, Page(limit), account=account, by=actor, action=action, target=target
        ).data
    if as_json:
        print_json(to_builtins(rows))
        return
    print_table(
        ("time", "who", "what", "of", "detail"),
        [
            (
                row.created.replace("T", " ").removesuffix("Z"),
                row.actor,
                row.action,
                row.target,
                json.dumps(row.detail, ensure_ascii=False),
            )
            for row in rows
        ],
        spare=("detail",),
        whole=("time",),
        empty="nothing was changed",
    )
