"""Options that every command has, and what they lead to. Knows no command."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zurelay.cli.terminal import Failed

if TYPE_CHECKING:  # commands import late, so that --help stays fast
    from sqlalchemy import Connection

    from zurelay.config.settings import Settings
    from zurelay.store.engine import Store
    from zurelay.upstream.client import HttpClient

DATA = Path("zurelay-data")

HOME = "http://127.0.0.1:8000"
"""The gateway that is asked where none is named: one on this machine with the usual port."""

FIRST_KEY_FILE = "first-key"
"""Where a start without a terminal leaves the first key; `chat` looks for it there."""

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The configuration; without it zurelay.toml in this folder, if there is one.",
        show_default=False,
    ),
]
Data = Annotated[Path, typer.Option("--data", metavar="DIR", help="The data folder.")]
Json = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]


def example(command: str) -> str:
    """The last line of a command's help."""
    return f"\b\nExample: zurelay {command}"


def settings(config: Path | None, data: Path) -> "Settings":
    """The whole checked configuration. Raises ConfigError."""
    from zurelay.config import load

    return load(config, os.environ, data)


def http_client() -> "HttpClient":
    """A client that goes through the proxies of the environment; to be closed."""
    from zurelay.upstream.client import HttpClient
    from zurelay.upstream.proxies import Proxies

    return HttpClient(proxies=Proxies(dict(os.environ)))


@contextmanager
def opened(config: Path | None, data: Path, *, make: bool = False) -> Iterator["Store"]:
    """The store of the data folder.

    Of the configuration only `[storage]` counts, so that keys can be managed from a shell that
    does not have the providers' secrets.

    Args:
        config: the file.
        data: the folder.
        make: make the store if there is none.

    Raises:
        ConfigError: `[storage]` has a fault.
        StoreError: the store cannot be used.
        Failed: there is none.
    """
    from zurelay.config.load import load_storage
    from zurelay.store.engine import FILE, open_store

    storage = load_storage(config, os.environ)
    if not make and not storage.url and not (data / FILE).exists():
        raise Failed(
            f"there is no store in {data}: start the gateway, make a key, or name the folder with"
            " --data"
        )
    store = open_store(data, storage.url)
    try:
        yield store
    finally:
        store.close()


def account_id(connection: "Connection", wanted: str) -> str:
    """The id of the account of that name or id. Raises Failed."""
    from zurelay.store.accounts import find_account

    found = find_account(connection, wanted)
    if found is None:
        raise Failed(f"no account is called {wanted!r}")
    return found.id
