"""`zurelay move`: from SQLite to PostgreSQL."""

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from zurelay.cli.desk import shell
from zurelay.cli.options import DATA, Config, Data, example
from zurelay.cli.terminal import Failed, clean, counted, progress


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command(
        "move", epilog=example("move --to postgresql://zurelay:...@db.example.com/zurelay")
    )(move)


def move(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL",
            envvar="ZURELAY_MOVE_TO",
            help="An empty PostgreSQL database; in ZURELAY_MOVE_TO nobody sees its password.",
        ),
    ],
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Copy the whole store of a data folder to an empty PostgreSQL. Stop the server first.

    All of it arrives, or nothing: rows and sums of every table are compared. The data folder
    stays as it is, and goes on serving the node: what its journal still holds is delivered at the
    next start.
    """
    from zurelay.config.load import load_storage
    from zurelay.office.desk import Desk
    from zurelay.store.engine import FILE, open_store
    from zurelay.store.lock import FolderLock
    from zurelay.store.move import move as copy

    if load_storage(config, os.environ).url:
        raise Failed("storage.url names a database already: what is moved is the SQLite of --data")
    if not (data / FILE).exists():
        raise Failed(f"there is no store in {data}; name the folder with --data")
    if not to.startswith(("postgresql://", "postgres://")):
        raise Failed("--to names a PostgreSQL database: postgresql://USER:PASSWORD@HOST/DATABASE")
    lock = FolderLock(data)
    try:
        with closing(open_store(data)) as source, closing(open_store(data, to)) as target:
            name = target.name
            with progress(f"moving {data} to {name}"):
                moved = copy(source, target)
            with Desk(target).change(shell(), "accounts.change") as change:
                rows = {table: sums.rows for table, sums in moved.items()}
                change.did("store.move", str(data / FILE), None, {"rows": rows})
    finally:
        lock.release()
    for table, sums in moved.items():
        if sums.rows:
            sys.stdout.write(f"{table}: {counted(sums.rows, 'row')}\n")
    sys.stdout.write(
        f"all of {clean(str(Path(data / FILE)))} is in {clean(name)}; now set url in [storage]\n"
    )
