"""`zurelay tokens`: makes, lists and revokes admin tokens."""

import secrets
import sys
import time
from typing import Annotated

import typer

from zurelay.access.keys import RANDOM_BYTES, hash_key, last4
from zurelay.access.tokens import ROLES, AdminToken, Role, make_token
from zurelay.cli.options import DATA, Config, Data, Json, example, opened
from zurelay.cli.terminal import minute, note, print_json, print_table, say

app = typer.Typer(
    name="tokens",
    help="Make, list and revoke admin tokens: for /api/v1 and /metrics, never for models.",
    epilog=example("tokens create monitoring --role read-only"),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("create", epilog=example("tokens create monitoring --role read-only"))
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose token it is, for people.")],
    config: Config = None,
    data: Data = DATA,
    role: Annotated[
        str, typer.Option(metavar="ROLE", help=f"What it may do: {', '.join(ROLES)}.")
    ] = "admin",
) -> None:
    """Make a token and print it, once: alone on the last line of the output."""
    text = make_token(secrets.token_bytes(RANDOM_BYTES))
    token = AdminToken(
        id=f"tok_{secrets.token_hex(8)}",
        name=name,
        role=_role(role),
        hash=hash_key(text),
        last4=last4(text),
        created=int(time.time()),
    )
    from zurelay.store.tokens import add_token

    with opened(config, data, make=True) as store, store.write() as connection:
        add_token(connection, token)
    note(f"{token.id}, role {token.role}; this is the only time it is shown:")
    sys.stdout.write(f"{text}\n")


@app.command("list", epilog=example("tokens list"))
def list_(config: Config = None, data: Data = DATA, as_json: Json = False) -> None:
    """List admin tokens, oldest first."""
    from zurelay.access.view import token_row
    from zurelay.store.tokens import list_tokens

    with opened(config, data) as store, store.read() as connection:
        rows = [token_row(token) for token in list_tokens(connection)]
    if as_json:
        print_json(rows)
        return
    print_table(
        ("id", "name", "role", "ends in", "state", "created"),
        [
            (
                row["id"],
                row["name"],
                row["role"],
                row["last4"],
                row["state"],
                minute(row["created"]),
            )
            for row in rows
        ],
        spare=("created",),
        whole=("id",),
        empty="no admin tokens yet; make one: zurelay tokens create NAME",
    )


@app.command("revoke", epilog=example("tokens revoke tok_0123456789abcdef"))
def revoke(
    wanted: Annotated[
        str, typer.Argument(metavar="ID", help="The token's id, the beginning of it, or its name.")
    ],
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Revoke a token, for ever. Servers refuse it at once."""
    from zurelay.store.tokens import revoke_token

    with opened(config, data) as store, store.write() as connection:
        token = revoke_token(connection, wanted, time.time())
    say(f"revoked {token.id} ({token.name}, ends in {token.last4})")


def _role(text: str) -> Role:
    for role in ROLES:
        if role == text:
            return role
    raise typer.BadParameter(f"write one of {', '.join(ROLES)}", param_hint="'--role'")
