"""`zurelay serve`: starts the gateway and says what a person needs to use it."""

import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated

import typer

from zurelay import __version__
from zurelay.cli.banner import Banner, Provider, banner
from zurelay.cli.console import LINK
from zurelay.cli.options import DATA, Config, Data, example
from zurelay.cli.terminal import Failed

if TYPE_CHECKING:
    from zurelay.app import Started
    from zurelay.config.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("serve", epilog=example("serve --config zurelay.toml --port 9000"))(serve)


def serve(
    config: Config = None,
    data: Data = DATA,
    host: Annotated[
        str | None, typer.Option(metavar="H", help="Address to listen on.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="P", min=0, max=65535, help="Port to listen on.", show_default=False),
    ] = None,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Processes.")] = 1,
) -> None:
    """Start the gateway.

    Without --config: zurelay.toml in this folder if there is one, else providers found in the
    environment (OPENAI_API_KEY, GROQ_API_KEY, ...), else the sandbox models alone.

    Several workers need PostgreSQL (storage.url) and Valkey (storage.valkey_url).
    """
    from zurelay.app import CannotListenError, ServeOptions, WorkersError, run, supervise

    options = ServeOptions(data_dir=data, config_path=config, host=host, port=port)
    try:
        if workers > 1:
            supervise(options, workers, lambda started: _announce(started, config, data))
        else:
            run(options, lambda started: _announce(started, config, data))
    except (CannotListenError, WorkersError) as error:
        raise Failed(str(error)) from error


def _announce(started: "Started", config: Path | None, data: Path) -> None:
    """The first key goes to a terminal, else into a file that only its owner can read.

    A link into the console goes to a terminal alone, as long as nobody owns the gateway.
    """
    from zurelay.app.first_start import FIRST_KEY_FILE, write_first_key

    key, key_file = started.first_key, data / FIRST_KEY_FILE
    if key is not None and not sys.stdout.isatty():
        key_file = write_first_key(data, key)
        key = None
    text = banner(
        Banner(
            product=started.settings.brand.name,
            version=__version__,
            base_url=started.base_url,
            origin=origin(started.settings),
            example_model=started.example_model,
            providers=_providers(started),
            workers=started.workers,
            key=key,
            link=_link(started, config, data) if sys.stdout.isatty() else None,
            command=_command(sys.argv[0]),
            key_file=str(key_file.resolve()) if key is None and key_file.exists() else None,
        )
    )
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _command(called: str) -> str:
    """How to call the command line from the same folder: by its name, or as this process was."""
    installed = which("zurelay") is not None or Path(called).name != "zurelay"
    return "zurelay" if installed else called


def _link(started: "Started", config: Path | None, data: Path) -> str | None:
    """Where the first owner signs in; None once there is one."""
    from zurelay.cli.desk import at_desk
    from zurelay.office.links import first_link

    with at_desk(config, data) as (desk, _):
        text = first_link(desk)
    return None if text is None else f"{started.base_url}{LINK}{text}"


def origin(settings: "Settings") -> str:
    """Where the settings came from, for people."""
    match settings.origin:
        case "file":
            return str(settings.path)
        case "environment":
            return "no file; providers found in the environment"
        case "sandbox":
            return "no file and no provider keys in the environment; the sandbox alone"


def _providers(started: "Started") -> list[Provider]:
    kinds = {name: one.kind for name, one in started.settings.providers.items()}
    return [
        Provider(name, kinds.get(name, name), reach) for name, reach in started.providers.items()
    ]
