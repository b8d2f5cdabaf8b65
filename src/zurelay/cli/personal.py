"""`zurelay export` and `zurelay erase`: usage as a file; personal data, given and erased."""

import sys
import time
from collections.abc import Iterable
from typing import Annotated

import typer

from zurelay.cli.desk import at_desk
from zurelay.cli.moments import moment
from zurelay.cli.options import DATA, Config, Data, Json, example
from zurelay.cli.terminal import counted, note, print_json, progress, say

_Account = Annotated[
    str | None,
    typer.Option("--account", metavar="A", help="An account: id or name.", show_default=False),
]
_User = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="U",
        help="An end user, as callers name it in 'user'; with --account in that one only.",
        show_default=False,
    ),
]


def add_to(app: typer.Typer) -> None:
    """Make the commands part of the program."""
    app.command("export", epilog=example("export usage --since 7d"))(export)
    app.command("erase", epilog=example("erase --user ann@example.com"))(erase)


def export(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[usage]",
            help="Usage by hour, account, key and model; without it personal data.",
            show_default=False,
        ),
    ] = None,
    config: Config = None,
    data: Data = DATA,
    account: _Account = None,
    user: _User = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="A date (YYYY-MM-DD, UTC) or 24h, 7d, 4w ago.", show_default=False
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="The same, not included.", show_default=False),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="F", help="Of usage: csv or jsonl.")
    ] = "csv",
) -> None:
    """Write usage as CSV or JSON lines, or all that is kept of an account or end user."""
    from zurelay.office.exports import Format, export_usage
    from zurelay.office.personal import SubjectForm
    from zurelay.office.personal import export as export_personal

    if what not in (None, "usage"):
        raise typer.BadParameter("write usage, or leave it out", param_hint="'[usage]'")
    if form not in ("csv", "jsonl"):
        raise typer.BadParameter("write csv or jsonl", param_hint="'--format'")
    if what is None and account is None and user is None:
        raise typer.BadParameter(
            "name --account or --user, or write: export usage", param_hint="'--account'"
        )
    if what == "usage" and user is not None:
        raise typer.BadParameter(
            "usage is kept by account, key and model; see usage --by user", param_hint="'--user'"
        )
    now = time.time()
    start, end = moment(since, now, "--since"), moment(until, now, "--until")
    with at_desk(config, data) as (desk, actor):
        if what is None:
            pieces: Iterable[str] = export_personal(desk, actor, SubjectForm(account, user))
        else:
            kind: Format = "csv" if form == "csv" else "jsonl"
            pieces = export_usage(desk, actor, kind, since=start, until=end, account=account)
        for piece in pieces:
            sys.stdout.write(piece)


def erase(
    config: Config = None,
    data: Data = DATA,
    account: _Account = None,
    user: _User = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal.")] = False,
    as_json: Json = False,
) -> None:
    """Erase what is known of an account's people or of an end user, for ever. Amounts stay."""
    from msgspec import to_builtins

    from zurelay.office.personal import SubjectForm
    from zurelay.office.personal import erase as erase_all

    if account is None and user is None:
        raise typer.BadParameter("name --account or --user", param_hint="'--account'")
    if not yes and sys.stdin.isatty():
        typer.confirm("This cannot be undone. Erase?", abort=True, err=True)
    with at_desk(config, data) as (desk, actor), progress("erasing"):
        done = erase_all(desk, actor, SubjectForm(account, user))
    if as_json:
        print_json(to_builtins(done))
    else:
        say(
            f"erased from {counted(done.requests, 'request')}, {counted(done.members, 'member')},"
            f" {counted(done.keys, 'key')}; messages of {counted(done.contents, 'request')} deleted"
        )
    if done.undelivered:
        note(
            f"{counted(done.undelivered, 'request')} still on nodes that could not reach the"
            " store: erase again when they have"
        )
