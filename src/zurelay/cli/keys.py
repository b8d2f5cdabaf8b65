"""`zurelay keys`: makes, lists, changes, renews and revokes API keys.

A running server sees changes in a second.
"""

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from zurelay.cli.desk import (
    NONE,
    at_desk,
    auto_change,
    auto_form,
    budget_change,
    budget_form,
    days_change,
    last_day,
    models_of,
    number_change,
    text_change,
)
from zurelay.cli.moments import span
from zurelay.cli.options import DATA, Config, Data, Json, account_id, example
from zurelay.cli.terminal import counted, minute, note, print_json, print_table, say

if TYPE_CHECKING:
    from msgspec import UnsetType

app = typer.Typer(
    name="keys",
    help="Make, list, change, renew and revoke API keys.",
    epilog=example("keys create alice"),
    no_args_is_help=True,
    rich_markup_mode=None,
)


_Wanted = Annotated[
    str, typer.Argument(metavar="ID", help="The key's id, the beginning of it, or its name.")
]


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
    markup: Annotated[
        str | None,
        typer.Option(
            metavar="FACTOR",
            help="A factor on prices, instead of its account's.",
            show_default=False,
        ),
    ] = None,
    auto: Annotated[
        str | None,
        typer.Option(
            metavar="TERMS",
            help="For the smart choice: allow=claude-*;exclude=*-astra;ceiling=5.00/25.00.",
            show_default=False,
        ),
    ] = None,
    store_days: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=365,
            help="Store its messages and answers, encrypted, for so many days.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a key and print it, once: alone on the last line of the output."""
    from zurelay.office.keys import NewKey, create_key

    form = NewKey(
        name,
        account=account,
        models=None if models is None else models_of(models),
        budget=None if budget is None else budget_form(budget),
        rpm=rpm,
        tpm=tpm,
        concurrency=concurrency,
        expires=None if expires is None else last_day(expires, time.time()),
        markup=markup,
        auto=None if auto is None else auto_form(auto),
        store_days=store_days,
    )
    with at_desk(config, data, make=True) as (desk, actor):
        made = create_key(desk, actor, form, make_account=True)
    told = made.details
    note(f"{told.id} for account {told.account_name}; this is the only time it is shown:")
    sys.stdout.write(f"{made.key}\n")


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
    from zurelay.office.keys import spent_of
    from zurelay.store.keys import list_keys

    with at_desk(config, data) as (desk, actor), desk.read(actor, "keys.read") as connection:
        wanted = None if account is None else account_id(connection, account)
        found = list_keys(connection, wanted)
        spent = [spent_of(desk, connection, key) for key in found]
    now = time.time()
    rows = [key_row(key, amount, now) for key, amount in zip(found, spent, strict=True)]
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
                _limits(row["limits"], key.store_days),
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
    wanted: _Wanted,
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Revoke a key, for ever. Servers refuse it within a second."""
    from zurelay.office.keys import revoke_key

    with at_desk(config, data) as (desk, actor):
        key = revoke_key(desk, actor, wanted)
    say(f"revoked {key.id} ({key.name}, ends in {key.last4})")


@app.command("set", epilog=example("keys set alice --budget 20/month --rpm none"))
def set_(
    wanted: _Wanted,
    config: Config = None,
    data: Data = DATA,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="A new name.", show_default=False)
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(metavar="M1,M2", help="Models it may use, or all.", show_default=False),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="USD/PERIOD", help="The most it may spend, or none.", show_default=False
        ),
    ] = None,
    rpm: Annotated[
        str | None, typer.Option(metavar="N", help="Requests a minute, or none.")
    ] = None,
    tpm: Annotated[str | None, typer.Option(metavar="N", help="Tokens a minute, or none.")] = None,
    concurrency: Annotated[
        str | None, typer.Option(metavar="N", help="Requests at once, or none.")
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Last day it works, or none.", show_default=False),
    ] = None,
    markup: Annotated[
        str | None,
        typer.Option(metavar="FACTOR", help="A factor on prices, or none.", show_default=False),
    ] = None,
    auto: Annotated[
        str | None,
        typer.Option(
            metavar="TERMS",
            help="For the smart choice, all of them anew, or none; as for create.",
            show_default=False,
        ),
    ] = None,
    store_days: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Days that its messages are stored, or off; what is stored stays till its day.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Change a key's limits; 'none' takes one away, what is not named stays."""
    from msgspec import UNSET

    from zurelay.office.keys import KeyChange, change_key

    form = KeyChange(
        name=UNSET if name is None else name,
        models=_models_change(models),
        budget=budget_change(budget),
        rpm=number_change(rpm, "--rpm"),
        tpm=number_change(tpm, "--tpm"),
        concurrency=number_change(concurrency, "--concurrency"),
        expires=_expires_change(expires),
        markup=text_change(markup),
        auto=auto_change(auto),
        store_days=days_change(store_days),
    )
    with at_desk(config, data) as (desk, actor):
        key = change_key(desk, actor, wanted, form)
    say(f"changed {key.id} ({key.name}); see 'zurelay keys list'")


@app.command("forget", epilog=example("keys forget alice"))
def forget(
    wanted: _Wanted,
    config: Config = None,
    data: Data = DATA,
) -> None:
    """Delete all messages that are stored of a key's requests, for ever."""
    from zurelay.office.contents import forget as forget_contents

    with at_desk(config, data) as (desk, actor):
        done = forget_contents(desk, actor, wanted)
    say(f"deleted the messages of {counted(done.deleted, 'request')}")


@app.command("rotate", epilog=example("keys rotate alice --overlap 7d"))
def rotate(
    wanted: _Wanted,
    config: Config = None,
    data: Data = DATA,
    overlap: Annotated[
        str,
        typer.Option(metavar="TIME", help="How long the old text works too: 24h, 7d, or 0."),
    ] = "24h",
) -> None:
    """Give a key a new text and print it, once; the key stays: id, limits, what it spent."""
    from zurelay.office.keys import rotate_key

    seconds = span(overlap, "--overlap")
    with at_desk(config, data) as (desk, actor):
        made = rotate_key(desk, actor, wanted, seconds)
    told = made.details
    until = told.old_text_until
    ends = "does not work any more" if until is None else f"works until {minute(until)} UTC"
    note(f"{told.id} ({told.name}); the old text {ends}. The new one is shown this once:")
    sys.stdout.write(f"{made.key}\n")


def _models_change(text: str | None) -> "list[str] | UnsetType | None":
    from msgspec import UNSET

    if text is None:
        return UNSET
    return None if text in ("all", NONE) else models_of(text)


def _expires_change(text: str | None) -> "str | UnsetType | None":
    from msgspec import UNSET

    if text is None:
        return UNSET
    return None if text == NONE else last_day(text, time.time())


def _limits(limits: dict[str, object], store_days: int | None) -> str:
    parts = []
    if limits["budget_usd"] is not None:
        parts.append(f"{limits['budget_usd']} USD/{limits['budget_period']}")
    parts += [f"{limits[name]} {name}" for name in ("rpm", "tpm") if limits[name] is not None]
    if limits["concurrency"] is not None:
        parts.append(f"{limits['concurrency']} at once")
    if limits["expires"] is not None:
        parts.append(f"ends {minute(limits['expires'])}")
    if store_days is not None:
        parts.append(f"messages stored {counted(store_days, 'day')}")
    return ", ".join(parts) or "none"
