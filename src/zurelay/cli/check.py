"""`zurelay check`: everything about a configuration that can be known without starting."""

import os
from typing import TYPE_CHECKING

import typer

from zurelay.cli.options import DATA, Config, Data, Json, example
from zurelay.cli.terminal import note, print_json, say

if TYPE_CHECKING:
    from zurelay.config.faults import Fault
    from zurelay.config.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("check", epilog=example("check --config zurelay.toml"))(check)


def check(config: Config = None, data: Data = DATA, as_json: Json = False) -> None:
    """Check the configuration without starting.

    Each fault stands on a line with the file, the key and what to write instead. Exit code 1 if
    there is one.
    """
    from zurelay.config import ConfigError, load

    try:
        settings = load(config, os.environ, data)
    except ConfigError as error:
        _tell(error.faults, as_json=as_json)
        raise typer.Exit(1) from None
    if as_json:
        print_json({"ok": True, "faults": []})
        return
    say(_summary(settings))


def _tell(faults: "tuple[Fault, ...]", *, as_json: bool) -> None:
    if as_json:
        told = [{"file": f.file, "key": f.key, "message": f.message} for f in faults]
        print_json({"ok": False, "faults": told})
        return
    for fault in faults:
        note(str(fault))


def _summary(settings: "Settings") -> str:
    from zurelay.config import build_table, load_catalogue, providers

    served = len(build_table(settings, load_catalogue(settings), {}).models)
    names = ", ".join(one.name for one in providers(settings)) or "none"
    own = [one.name for one in providers(settings) if one.kind.lists_models]
    more = f", and what {', '.join(own)} will tell" if own else ""
    place = str(settings.path) if settings.path is not None else "no file"
    return f"ok: {place}; providers: {names}; models: {served}{more}"
