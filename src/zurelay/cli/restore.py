"""`zurelay restore`: the store becomes what it was when a backup was made."""

import os
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zurelay.cli.desk import shell
from zurelay.cli.options import DATA, Config, Data, example
from zurelay.cli.terminal import clean, progress

if TYPE_CHECKING:
    from zurelay.store.archive import Restored


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("restore", epilog=example("restore /var/backups/zurelay-2026-12-01"))(restore)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace a store that holds something."),
    ] = False,
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Restore a backup, into SQLite or PostgreSQL as the configuration says. Stop servers first.

    What nodes had leased of balances and budgets is theirs no more. Keys that were made, changed
    or revoked since the backup are named: what was done to them is undone.
    """
    from zurelay.config.load import load_storage
    from zurelay.office.desk import Desk
    from zurelay.store.archive import restore as read
    from zurelay.store.engine import open_store
    from zurelay.store.lock import FolderLock

    storage = load_storage(config, os.environ)
    lock = FolderLock(data)
    try:
        with progress(f"restoring {file}"):
            restored = read(data, storage.url, file, replace=replace)
        with (
            closing(open_store(data, storage.url)) as store,
            Desk(store).change(shell(), "accounts.change") as change,
        ):
            keys = [f"{each.id} {each.what}" for each in restored.changes or ()]
            change.did("store.restore", str(file), None, {"made": restored.made, "keys": keys})
    finally:
        lock.release()
    _tell(file, restored)


def _tell(file: Path, restored: "Restored") -> None:
    made = datetime.fromtimestamp(restored.made, UTC)
    sys.stdout.write(f"restored {clean(str(file))}, made {made:%Y-%m-%d %H:%M:%S} UTC\n")
    if restored.kept is not None:
        sys.stdout.write(f"the file that was in use is kept as {clean(str(restored.kept))}\n")
    if restored.changes is None:
        sys.stdout.write("which keys changed since then is not known: the store was damaged\n")
        return
    for change in restored.changes:
        sys.stdout.write(f"{change.what}: {change.id} {clean(change.name)}\n")
    if any(change.what == "revoked since" for change in restored.changes):
        sys.stderr.write("keys that were revoked since then work again: revoke them anew\n")
