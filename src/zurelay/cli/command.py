"""The command line as a whole: all commands, and how every one of them fails.

A command that cannot do its work leaves one line on stderr and exit code 1; one that was called
wrongly, exit code 2. No traceback for what an operator can put right.
"""

import errno
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from zurelay import __version__
from zurelay.cli import (
    accounts,
    alerts,
    audit,
    auto,
    backup,
    chat,
    check,
    console,
    doctor,
    keys,
    log,
    mail,
    models,
    money,
    move,
    personal,
    restore,
    routes,
    sandbox,
    serve,
    spool,
    stops,
    tokens,
    usage,
)
from zurelay.cli.terminal import Failed, complain

app = typer.Typer(
    name="zurelay",
    help="A self-hosted gateway for language models: one base URL and one key for every model.",
    epilog="Example: zurelay serve --port 9000",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"zurelay {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    _version_asked: Annotated[
        bool,
        typer.Option("--version", help="Say the version.", is_eager=True, callback=_version),
    ] = False,
) -> None:
    pass


for _module in (serve, check, chat, models, routes, log, usage, money, personal, audit, alerts,
                backup, restore, move, stops, doctor, sandbox):  # fmt: skip
    _module.add_to(app)
app.add_typer(accounts.app)
app.add_typer(auto.app)
app.add_typer(keys.app)
app.add_typer(tokens.app)
app.add_typer(console.app)
app.add_typer(mail.app)
app.add_typer(spool.app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives its exit code: 0 done, 1 failed, 2 called wrongly."""
    try:
        code = app(
            args=None if arguments is None else list(arguments),
            prog_name="zurelay",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except typer.TyperException as error:
        return _called_wrongly(error)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except Failed as error:
        complain(str(error))
        return 1
    except OSError as error:
        if error.errno == errno.EPIPE:
            # Whoever read our output went away; nothing more can be said there.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        complain(_described(error))
        return 1
    except Exception as error:
        told = _known(error)
        if told is None:
            raise
        for line in told:
            complain(line)
        return 1
    return code if isinstance(code, int) else 0


def _called_wrongly(error: typer.TyperException) -> int:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if context is not None and message == context.get_help():
        sys.stderr.write(f"{message}\n")
        return 2
    path = context.command_path if context is not None else "zurelay"
    first = " ".join(message.split())
    complain(f"{first.removesuffix('.')}; see: {path} --help")
    return error.exit_code


def _known(error: Exception) -> list[str] | None:
    """The lines for an error an operator can put right; None for a bug of ours."""
    from zurelay.chat.problems import Refused
    from zurelay.config.faults import ConfigError
    from zurelay.live.journal import JournalError
    from zurelay.live.valkey import SharedStateError
    from zurelay.store.errors import StoreError

    if isinstance(error, Refused):
        return [error.problem.message]
    if isinstance(error, ConfigError):
        return [str(fault) for fault in error.faults]
    if isinstance(error, StoreError | JournalError | SharedStateError):
        return [str(error)]
    return None


def _described(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"
