"""`zurelay tokens`: makes, lists and revokes admin tokens."""

import sys
from typing import Annotated

import typer

from zurelay.access.tokens import ROLES, Role
from zurelay.cli.desk import at_desk
from zurelay.cli.options import DATA, Config, Data, Json, example
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
    account: Annotated[
        str | None,
        typer.Option(
            metavar="A",
            help="The one account it sees, id or name; a member needs one.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a token and print it, once: alone on the last line of the output."""
    from zurelay.office.tokens import NewToken, create_token

    form = NewToken(name, _role(role), account)
    with at_desk(config, data, make=True) as (desk, actor):
        made = create_token(desk, actor, form)
    note(f"{made.details.id}, role {form.role}; this is the only time it is shown:")
    sys.stdout.write(f"{made.token}\n")


@app.command("list", epilog=example("tokens list"))
def list_(config: Config = None, data: Data = DATA, as_json: Json = False) -> None:
    """List admin tokens, oldest first."""
    from msgspec import to_builtins

    from zurelay.office.tokens import list_tokens

    with at_desk(config, data) as (desk, actor):
        rows = to_builtins(list_tokens(desk, actor))
    if as_json:
        print_json(rows)
        return
    print_table(
        ("id", "name", "role", "account", "ends in", "state", "created"),
        [
            (
                row["id"],
                row["name"],
                row["role"],
                row["account"] or "all",
                row["last4"],
                row["state"],
                minute(row["created"]),
            )
            for row in rows
        ],
        spare=("created", "account"),
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
    from zurelay.office.tokens import revoke_token

    with at_desk(config, data) as (desk, actor):
        token = revoke_token(desk, actor, wanted)
    say(f"revoked {token.id} ({token.name}, ends in {token.last4})")


def _role(text: str) -> Role:
    for role in ROLES:
        if role == text:
            return role
    raise typer.BadParameter(f"write one of {', '.join(ROLES)}", param_hint="'--role'")
