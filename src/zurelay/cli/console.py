"""`zurelay console`: a link that signs an owner in to the web console."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from zurelay.cli.desk import at_desk
from zurelay.cli.options import DATA, HOME, Config, Data, example
from zurelay.cli.terminal import Failed, note

app = typer.Typer(
    name="console",
    help="Get into the web console.",
    epilog=example("console link"),
    no_args_is_help=True,
    rich_markup_mode=None,
)

LINK = "/console/link/"


@app.callback()
def _group() -> None:
    pass  # keeps `link` a word of its own while it is the only one


@app.command("link", epilog=example("console link"))
def link(
    config: Config = None,
    data: Data = DATA,
    email: Annotated[
        str | None,
        typer.Argument(
            metavar="EMAIL", help="Which owner, where there are several.", show_default=False
        ),
    ] = None,
) -> None:
    """Make a link that signs an owner in, once and within an hour: alone on the last line."""
    from zurelay.chat.problems import Refused
    from zurelay.office.links import owner_link

    with at_desk(config, data) as (desk, actor):
        try:
            text = owner_link(desk, actor, email)
        except Refused as refused:
            raise Failed(refused.problem.message) from refused
    note("signs an owner in, once and within an hour; whoever has it is let in:")
    sys.stdout.write(f"{_address(config, data)}{LINK}{text}\n")


def _address(config: Path | None, data: Path) -> str:
    """Where the console is: as configured, else where the gateway of this folder listens."""
    from zurelay.app.local_token import read
    from zurelay.config.load import load_server

    public = load_server(config, os.environ).public_url.rstrip("/")
    if public:
        return public
    running = read(data)
    return HOME if running is None else running[1]
