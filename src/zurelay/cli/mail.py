"""`zurelay mail`: tries out the server of mail."""

import os
import time
from typing import Annotated

import typer

from zurelay.cli.options import DATA, Config, Data, example, settings
from zurelay.cli.terminal import Failed, say

app = typer.Typer(
    name="mail",
    help="Try out the server of mail.",
    epilog=example("mail test ops@example.com"),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    pass  # keeps `test` a word of its own while it is the only one


@app.command("test", epilog=example("mail test ops@example.com"))
def send_test(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Who gets it.")],
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Send a mail now, in English, by the server that `[smtp]` names."""
    from zurelay.app import mail
    from zurelay.letters.texts import TRIAL, write

    found = settings(config, data)
    smtp = found.smtp
    if not smtp.host:
        raise Failed('no server of mail is configured; write [smtp] with host = "..."')
    base_url = found.server.public_url or f"http://{found.server.host}:{found.server.port}"
    subject, body = write("en", TRIAL, brand=found.brand.name, base_url=base_url)
    now = time.time()
    try:
        written = mail.message(smtp, f"test_{os.urandom(8).hex()}", address, subject, body, now)
        with mail.session(smtp) as opened:
            mail.send(opened, written)
    except mail.MailError as error:
        raise Failed(f"{smtp.host}:{smtp.port}: {error}") from error
    say(f"{smtp.host}:{smtp.port} took a mail for {address}")
