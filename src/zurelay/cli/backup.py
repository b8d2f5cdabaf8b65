"""`zurelay backup`: one file that holds the whole store at one moment."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from zurelay.cli.options import DATA, Config, Data, example, opened
from zurelay.cli.terminal import clean, progress


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("backup", epilog=example("backup /var/backups/zurelay-2026-12-01"))(backup)


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup; it must not exist.")],
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Write a backup of the store while servers run: keys, balances, ledger, request log.

    It can be restored into SQLite and into PostgreSQL. Only its owner can read it.
    """
    from zurelay.store.archive import backup as write

    with opened(config, data) as store, progress(f"backing up {store.name}"):
        size = write(store, file, time.time())
        name = store.name
    sys.stdout.write(f"{clean(name)} is in {clean(str(file))}, {size / 1e6:.1f} MB\n")
