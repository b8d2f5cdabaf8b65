"""`zurelay spool`: records that a node could not deliver before it went."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from zurelay.cli.options import DATA, Config, Data, example, opened
from zurelay.cli.terminal import Failed, clean, counted

app = typer.Typer(
    name="spool",
    help="Records of a node that is gone and that are not in the log yet.",
    epilog=example("spool deliver /mnt/old-node/zurelay-data"),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command(epilog=example("spool deliver /mnt/old-node/zurelay-data"))
def deliver(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The data folder of the node that is gone."),
    ],
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Bring a node's records into the log of its PostgreSQL; each counts once, however often.

    What the node had leased of balances and budgets returns. With SQLite the next start of the
    gateway on that folder does it.
    """
    from zurelay.app.spool import deliver as bring
    from zurelay.config.load import load_storage
    from zurelay.store.lock import FolderLock

    if not load_storage(config, os.environ).url:
        raise Failed("storage.url names no PostgreSQL; a start on that folder delivers it")
    if not folder.is_dir():
        raise Failed(f"there is no folder {folder}")
    with opened(config, data) as store:
        lock = FolderLock(folder)
        try:
            brought = bring(folder, store)
        finally:
            lock.release()
    sys.stdout.write(f"{counted(brought, 'record')} delivered from {clean(str(folder))}\n")
