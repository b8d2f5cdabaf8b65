"""`zurelay keys`: makes, lists and revokes API keys. A running server sees changes in a second."""

import secrets
import sys
import time
from datetime import date
from typing import Annotated, get_args

import typer

from zurelay.access.accounts import Budget, Period
from zurelay.access.keys import (
    RANDOM_BYTES,
    Key,
    end_of_day,
    hash_key,
    last4,
    make_key,
)
from zurelay.cli.options import DATA, Config, Data, Json, account_id, example, opened
from zurelay.cli.terminal import minute, note, print_json, print_table, say

app = typer.Typer(
    name="keys",
    help="Make, list and revoke API keys.",
    epilog=example("keys create alice"),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command(
    "create", epilog=example("keys create alice --models gpt-6,sandbox/* --budget 20/month")
)
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is, for people.")],
    config: Config = None,
    data: Data = DATA,
    account: Annotated[
        str, typer.Option(metavar="A", help="The account it spends for; made if there is none.")
    ] = "default",
    models: Annotated[
        str | None,
        typer.Option(
            metavar="M1,M2",
            help="Models it may use; prefix/* for all that begin so. Without it: every model.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="USD/PERIOD",
            help="The most it may spend per day, week, month or in total.",
            show_default=False,
        ),
    ] = None,
    rpm: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Requests a minute.", show_default=False)
    ] = None,
    tpm: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Tokens a minute.", show_default=False)
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Requests at once.", show_default=False)
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="DATE", help="Last day it works, YYYY-MM-DD, UTC.", show_default=False
        ),
    ] = None,
) -> None:
    """Make a key and print it, once: alone on the last line of the output."""
    now = time.time()
    text = make_key(secrets.token_bytes(RANDOM_BYTES))
    allowed = None if models is None else _models(models)
    most = None if budget is None else _budget(budget)
    end = None if expires is None else _expires(expires, now)
    from zurelay.store.accounts import ensure_account
    from zurelay.store.keys import add_key

    with opened(config, data, make=True) as store, store.write() as connection:
        owner = ensure_account(connection, account, f"acct_{secrets.token_hex(8)}", now)
        key = Key(
            id=f"key_{secrets.token_hex(8)}",
            name=name,
            account=owner.id,
            account_name=owner.name,
            hash=hash_key(text),
            last4=last4(text),
            created=int(now),
            models=allowed,
            expires=end,
            budget=most,
            rpm=rpm,
            tpm=tpm,
            concurrency=concurrency,
        )
        add_key(connection, key)
    note(f"{key.id} for account {key.account_name}; this is the only time it is shown:")
    sys.stdout.write(f"{text}\n")


@app.command("list", epilog=example("keys list --account default"))
def list_(
    config: Config = None,
    data: Data = DATA,
    account: Annotated[
        str | None, typer.Option(metavar="A", help="Only of this account.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List keys, oldest first, with what they have spent."""
    from zurelay.access.view import key_row
    from zurelay.live.spending import Spending
    from zurelay.store.keys import list_keys
    from zurelay.store.usage import spent_by_day

    with opened(config, data) as store, store.read() as connection:
        wanted = None if account is None else account_id(connection, account)
        found = list_keys(connection, wanted)
        spending = Spending()
        spending.load(spent_by_day(connection))
    now = time.time()
    rows = [
        key_row(key, spending.of(key.id, key.budget.period if key.budget else "total", now), now)
        for key in found
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        ("id", "name", "account", "ends in", "state", "models", "limits", "spent USD", "last used"),
        [
            (
                key.id,
                key.name,
                key.account_name,
                key.last4,
                key.state(now),
                "all" if key.models is None else ", ".join(key.models),
                _limits(row["limits"]),
                row["spent_usd"],
                minute(row["last_used"]),
            )
            for key, row in zip(found, rows, strict=True)
        ],
        right=("spent USD",),
        spare=("last used", "limits", "account", "models"),
        whole=("id",),
        empty="no keys yet; make one: zurelay keys create NAME",
    )


@app.command("revoke", epilog=example("keys revoke key_0123456789abcdef"))
def revoke(
    wanted: Annotated[
        str, typer.Argument(metavar="ID", help="The key's id, the beginning of it, or its name.")
    ],
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Revoke a key, for ever. Servers refuse it within a second."""
    from zurelay.store.keys import revoke_key

    with opened(config, data) as store, store.write() as connection:
        key = revoke_key(connection, wanted, time.time())
    say(f"revoked {key.id} ({key.name}, ends in {key.last4})")


def _models(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))
    if not found:
        raise typer.BadParameter("name at least one model, such as gpt-6", param_hint="'--models'")
    return found


def _budget(text: str) -> Budget:
    from zurelay.catalogue.money import parse_usd

    amount, _, period = text.partition("/")
    periods: dict[str, Period] = {name: name for name in get_args(Period)}
    try:
        return Budget(parse_usd(amount), periods[period])
    except (ValueError, KeyError):
        raise typer.BadParameter(
            "write dollars and a period: 20/day, 20/week, 20/month or 20/total",
            param_hint="'--budget'",
        ) from None


def _expires(text: str, now: float) -> int:
    try:
        end = end_of_day(date.fromisoformat(text))
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            "write the last day as YYYY-MM-DD, such as 2030-12-31", param_hint="'--expires'"
        ) from None
    if end <= now:
        raise typer.BadParameter("that day is over", param_hint="'--expires'")
    return end


def _limits(limits: dict[str, object]) -> str:
    parts = []
    if limits["budget_usd"] is not None:
        parts.append(f"{limits['budget_usd']} USD/{limits['budget_period']}")
    parts += [f"{limits[name]} {name}" for name in ("rpm", "tpm") if limits[name] is not None]
    if limits["concurrency"] is not None:
        parts.append(f"{limits['concurrency']} at once")
    if limits["expires"] is not None:
        parts.append(f"ends {minute(limits['expires'])}")
    return ", ".join(parts) or "none"
