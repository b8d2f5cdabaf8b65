"""`zurelay credit`, `debit`, `refund` and `statement`: money of accounts.

They work on the store, also while servers run: these hear of it within a second.
"""

import secrets
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from zurelay.cli.desk import at_desk, dollars
from zurelay.cli.options import DATA, Config, Data, Json, example
from zurelay.cli.terminal import minute, print_json, print_pairs, print_table, progress, say

if TYPE_CHECKING:
    from zurelay.office.money import TransferView
    from zurelay.office.statements import Statement

_Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account's id or name.")]
_Amount = Annotated[str, typer.Argument(metavar="USD", help="Dollars, such as 12.50.")]
_Note = Annotated[str, typer.Option(metavar="TEXT", help="For people, at most 500 characters.")]
_Ref = Annotated[
    str | None,
    typer.Option(
        metavar="REF",
        help="Yours, such as an invoice number: a repeat with the same one moves nothing again.",
        show_default=False,
    ),
]


def add_to(app: typer.Typer) -> None:
    """Make the commands part of the program."""
    app.command("credit", epilog=example("credit team 100 --note 'invoice 2026-17' --ref 2026-17"))(
        credit
    )
    app.command("debit", epilog=example("debit team 12.50 --note 'set-up fee'"))(debit)
    app.command("refund", epilog=example("refund req_01a228a967cd70008e57044ec26eac3e"))(refund)
    app.command("statement", epilog=example("statement team 2026-12 --csv"))(statement)


def credit(
    account: _Account,
    amount: _Amount,
    config: Config = None,
    data: Data = DATA,
    note: _Note = "",
    ref: _Ref = None,
    as_json: Json = False,
) -> None:
    """Add to an account's balance."""
    from zurelay.office.money import Payment
    from zurelay.office.money import credit as add

    form = Payment(dollars(amount, "'USD'"), ref or _new_ref(), note)
    with at_desk(config, data) as (desk, actor):
        made = add(desk, actor, account, form)
    _tell(made, as_json=as_json)


def debit(
    account: _Account,
    amount: _Amount,
    config: Config = None,
    data: Data = DATA,
    note: _Note = "",
    ref: _Ref = None,
    as_json: Json = False,
) -> None:
    """Take from an account's balance; a prepaid one never goes below zero by it."""
    from zurelay.office.money import Payment
    from zurelay.office.money import debit as take

    form = Payment(dollars(amount, "'USD'"), ref or _new_ref(), note)
    with at_desk(config, data) as (desk, actor), progress("waiting for servers to return money"):
        made = take(desk, actor, account, form)
    _tell(made, as_json=as_json)


def refund(
    request: Annotated[str, typer.Argument(metavar="ID", help="The request's id, req_...")],
    config: Config = None,
    data: Data = DATA,
    amount: Annotated[
        str | None,
        typer.Option(metavar="USD", help="A part of its charge.", show_default=False),
    ] = None,
    note: _Note = "",
    ref: _Ref = None,
    as_json: Json = False,
) -> None:
    """Give back what a request cost, or a part of it; never more in all."""
    from zurelay.office.money import RefundForm
    from zurelay.office.money import refund as give_back

    asked = None if amount is None else dollars(amount, "'--amount'")
    with at_desk(config, data) as (desk, actor):
        made = give_back(desk, actor, request, RefundForm(asked, ref, note))
    _tell(made, as_json=as_json)


def statement(
    account: _Account,
    month: Annotated[str, typer.Argument(metavar="MONTH", help="Such as 2026-12.")],
    config: Config = None,
    data: Data = DATA,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of tables.")] = False,
    as_json: Json = False,
) -> None:
    """Show an account's month: what was there, came in, went out, and is left."""
    from msgspec import to_builtins

    from zurelay.office.statements import statement as made_of
    from zurelay.office.statements import statement_csv

    if as_csv and as_json:
        raise typer.BadParameter("write --csv or --json, not both", param_hint="'--csv'")
    with at_desk(config, data) as (desk, actor), progress("adding up"):
        made = made_of(desk, actor, account, month)
    if as_json:
        print_json(to_builtins(made))
    elif as_csv:
        sys.stdout.write(statement_csv(made))
    else:
        _print(made)


def _print(made: "Statement") -> None:
    state = "closed" if made.closed else "not closed: it still changes"
    amounts = (
        ("opening", made.opening_usd),
        ("posted late", made.late_usd),
        ("credits", made.credits_usd),
        ("debits", f"-{made.debits_usd}"),
        ("refunds", made.refunds_usd),
        ("charges", f"-{made.charges_usd}"),
        ("closing", made.closing_usd),
    )
    print_pairs(
        [
            ("account", f"{made.name} ({made.account})"),
            ("month", f"{made.month}, {made.zone}, {state}"),
            *((name, f"{amount} USD") for name, amount in amounts if amount not in ("0", "-0")),
        ]
    )
    if made.transfers:
        say("")
        print_table(
            ("time", "kind", "USD", "ref", "note"),
            [
                (minute(one.created), one.kind, one.amount_usd, one.ref, one.note)
                for one in made.transfers
            ],
            right=("USD",),
            spare=("note",),
        )
    if made.lines:
        say("")
        columns = ("day", "model", "requests", "tokens in", "tokens out", "USD")
        print_table(
            columns,
            [
                (
                    line.day,
                    line.model or "(no model)",
                    f"{line.requests:,}",
                    f"{line.tokens_in:,}",
                    f"{line.tokens_out:,}",
                    line.amount_usd,
                )
                for line in made.lines
            ],
            right=columns[2:],
        )


def _tell(made: "TransferView", *, as_json: bool) -> None:
    from msgspec import to_builtins

    if as_json:
        print_json(to_builtins(made))
        return
    say(f"{made.id}: {made.kind} of {made.amount_usd.removeprefix('-')} USD, ref {made.ref}")


def _new_ref() -> str:
    return f"cli-{secrets.token_hex(8)}"
