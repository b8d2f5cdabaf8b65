"""`zurelay accounts`: makes, lists, shows, changes, stops and resumes accounts."""

from typing import TYPE_CHECKING, Annotated

import typer

from zurelay.cli.desk import at_desk, budget_change, budget_form, number_change, text_change
from zurelay.cli.options import DATA, Config, Data, Json, example
from zurelay.cli.terminal import minute, print_json, print_pairs, print_table, say

if TYPE_CHECKING:
    from msgspec import UnsetType

    from zurelay.office.accounts import AccountView

app = typer.Typer(
    name="accounts",
    help="Make, list, change, stop and resume accounts.",
    epilog=example("accounts create team --prepaid yes --budget 100/month"),
    no_args_is_help=True,
    rich_markup_mode=None,
)

Which = Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account's id or name.")]
_Budget = Annotated[
    str | None,
    typer.Option(
        metavar="USD/PERIOD",
        help="The most all its keys may spend per day, week, month or in total.",
        show_default=False,
    ),
]
_Zone = Annotated[
    str | None,
    typer.Option(
        metavar="ZONE",
        help="Time zone of its periods and statements: Europe/Brussels.",
        show_default=False,
    ),
]
_Prepaid = Annotated[
    str | None,
    typer.Option(
        metavar="yes|no|default",
        help="Whether it may only spend what was paid in; default: as configured.",
        show_default=False,
    ),
]
_Markup = Annotated[
    str | None,
    typer.Option(metavar="FACTOR", help="A factor on prices, such as 1.2.", show_default=False),
]
_RPM = Annotated[
    str | None, typer.Option("--rpm", metavar="N", help="Requests a minute.", show_default=False)
]
_TPM = Annotated[
    str | None, typer.Option("--tpm", metavar="N", help="Tokens a minute.", show_default=False)
]
_Concurrency = Annotated[
    str | None,
    typer.Option("--concurrency", metavar="N", help="Requests at once.", show_default=False),
]


@app.command("create", epilog=example("accounts create team --prepaid yes --zone Europe/Brussels"))
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it, unique.")],
    config: Config = None,
    data: Data = DATA,
    prepaid: _Prepaid = None,
    budget: _Budget = None,
    zone: _Zone = None,
    rpm: _RPM = None,
    tpm: _TPM = None,
    concurrency: _Concurrency = None,
    markup: _Markup = None,
) -> None:
    """Make an account."""
    from zurelay.office.accounts import NewAccount, create_account

    form = NewAccount(
        name,
        prepaid=None if prepaid is None else _word(prepaid),
        budget=None if budget is None else budget_form(budget),
        zone=zone,
        rpm=_number(rpm, "--rpm"),
        tpm=_number(tpm, "--tpm"),
        concurrency=_number(concurrency, "--concurrency"),
        markup=markup,
    )
    with at_desk(config, data, make=True) as (desk, actor):
        made = create_account(desk, actor, form)
    say(f"{made.id} ({made.name})")


@app.command("list", epilog=example("accounts list"))
def list_(config: Config = None, data: Data = DATA, as_json: Json = False) -> None:
    """List accounts, oldest first."""
    from msgspec import to_builtins

    from zurelay.office.accounts import list_accounts
    from zurelay.office.pages import MOST, Page

    rows: list[AccountView] = []
    with at_desk(config, data) as (desk, actor):
        cursor: str | None = None
        while True:
            page = list_accounts(desk, actor, Page(MOST, cursor))
            rows += page.data
            cursor = page.next_cursor
            if cursor is None:
                break
    if as_json:
        print_json(to_builtins(rows))
        return
    print_table(
        ("id", "name", "balance USD", "prepaid", "limits", "state", "created"),
        [
            (
                row.id,
                row.name,
                row.balance_usd,
                _prepaid(row),
                limits(row) or "none",
                "live" if row.stopped is None else f"stopped {minute(row.stopped)}",
                minute(row.created),
            )
            for row in rows
        ],
        right=("balance USD",),
        spare=("created", "limits"),
        whole=("id",),
        empty="no accounts yet; make one: zurelay accounts create NAME",
    )


@app.command("show", epilog=example("accounts show team"))
def show(account: Which, config: Config = None, data: Data = DATA, as_json: Json = False) -> None:
    """Show everything about an account."""
    from zurelay.office.accounts import get_account

    with at_desk(config, data) as (desk, actor):
        found = get_account(desk, actor, account)
    _show(found, as_json=as_json)


@app.command("set", epilog=example("accounts set team --budget 100/month --rpm none"))
def set_(
    account: Which,
    config: Config = None,
    data: Data = DATA,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="A new name.", show_default=False)
    ] = None,
    prepaid: _Prepaid = None,
    budget: _Budget = None,
    zone: _Zone = None,
    rpm: _RPM = None,
    tpm: _TPM = None,
    concurrency: _Concurrency = None,
    markup: _Markup = None,
) -> None:
    """Change an account's terms; 'none' takes a limit away, what is not named stays."""
    from msgspec import UNSET

    from zurelay.office.accounts import AccountChange, change_account

    form = AccountChange(
        name=UNSET if name is None else name,
        prepaid=UNSET if prepaid is None else _word(prepaid),
        budget=budget_change(budget),
        zone=text_change(zone),
        rpm=number_change(rpm, "--rpm"),
        tpm=number_change(tpm, "--tpm"),
        concurrency=number_change(concurrency, "--concurrency"),
        markup=text_change(markup),
    )
    with at_desk(config, data) as (desk, actor):
        changed = change_account(desk, actor, account, form)
    _show(changed, as_json=False)


@app.command("stop", epilog=example("accounts stop team"))
def stop(account: Which, config: Config = None, data: Data = DATA) -> None:
    """Refuse an account's keys, on all servers within a second."""
    from zurelay.office.accounts import stop_account

    with at_desk(config, data) as (desk, actor):
        stopped = stop_account(desk, actor, account)
    say(f"stopped {stopped.id} ({stopped.name})")


@app.command("resume", epilog=example("accounts resume team"))
def resume(account: Which, config: Config = None, data: Data = DATA) -> None:
    """Take an account's keys again."""
    from zurelay.office.accounts import resume_account

    with at_desk(config, data) as (desk, actor):
        resumed = resume_account(desk, actor, account)
    say(f"resumed {resumed.id} ({resumed.name})")


def limits(row: "AccountView") -> str:
    """An account's limits on one line."""
    parts = []
    if row.budget is not None:
        parts.append(f"{row.budget.usd} USD/{row.budget.period}")
    numbers = ((row.rpm, "rpm"), (row.tpm, "tpm"), (row.concurrency, "at once"))
    parts += [f"{number} {what}" for number, what in numbers if number is not None]
    if row.markup is not None:
        parts.append(f"prices x {row.markup}")
    return ", ".join(parts)


def _show(row: "AccountView", *, as_json: bool) -> None:
    from msgspec import to_builtins

    if as_json:
        print_json(to_builtins(row))
        return
    pairs = [
        ("id", row.id),
        ("name", row.name),
        ("balance", f"{row.balance_usd} USD"),
        ("prepaid", _prepaid(row)),
        ("limits", limits(row) or "none"),
        ("zone", row.zone or "as the configuration says"),
        ("created", minute(row.created)),
    ]
    if row.budget_left_usd is not None:
        pairs.append(("budget left", f"{row.budget_left_usd} USD"))
    if row.stopped is not None:
        pairs.append(("stopped", minute(row.stopped)))
    print_pairs(pairs)


def _prepaid(row: "AccountView") -> str:
    return {None: "as configured", True: "yes", False: "no"}[row.prepaid]


def _word(text: str) -> bool | None:
    words = {"yes": True, "no": False, "default": None}
    if text not in words:
        raise typer.BadParameter("write yes, no or default", param_hint="'--prepaid'")
    return words[text]


def _number(text: str | None, option: str) -> int | None:
    found: int | UnsetType | None = number_change(text, option)
    return found if isinstance(found, int) else None
