"""`zurelay sandbox`: the sandbox upstream alone, for tests of other programs."""

import sys
from typing import Annotated

import typer

from zurelay.cli.options import DATA, Config, Data, example
from zurelay.cli.terminal import Failed


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("sandbox", epilog=example("sandbox --port 8001"))(sandbox)


def sandbox(
    config: Config = None,  # noqa: ARG001 - every command takes it; this one needs nothing of it
    data: Data = DATA,  # noqa: ARG001
    host: Annotated[str, typer.Option(metavar="H", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="P", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 8001,
) -> None:
    """Run the sandbox models as a server of their own. It takes any key, or none."""
    from zurelay.sandbox.server import run

    try:
        run(host, port, _announce)
    except OSError as error:
        raise Failed(f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def _announce(base_url: str) -> None:
    sys.stdout.write(
        f"Sandbox models at {base_url}\n\n"
        "  Try it:\n\n"
        f"  curl {base_url}/chat/completions \\\n"
        '  -H "Content-Type: application/json" \\\n'
        '  -d \'{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}\'\n\n'
    )
    sys.stdout.flush()
