"""`zurelay usage`: sums of what was used, and what it cost."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from zurelay.cli.desk import at_desk
from zurelay.cli.moments import moment
from zurelay.cli.options import DATA, Config, Data, Json, account_id, example, opened
from zurelay.cli.terminal import print_json, print_table

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from zurelay.store.usage import UsageRow


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("usage", epilog=example("usage --by key --since 7d"))(usage)


def usage(
    config: Config = None,
    data: Data = DATA,
    by: Annotated[
        str,
        typer.Option(metavar="WHAT", help="Group by model, key, account, day, user or provider."),
    ] = "model",
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="A date (YYYY-MM-DD, UTC) or 24h, 7d, 4w ago.", show_default=False
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="The same, not included.", show_default=False),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only of this key: id or name.", show_default=False),
    ] = None,
    account: Annotated[
        str | None,
        typer.Option(metavar="A", help="Only of this account: id or name.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show tokens and cost, summed over whole hours."""
    from zurelay.store.keys import find_key
    from zurelay.store.usage import Grouping, usage_by

    grouping: dict[str, Grouping] = {name: name for name in get_args(Grouping)}
    if by not in (*grouping, "user", "provider"):
        raise typer.BadParameter(
            "write model, key, account, day, user or provider", param_hint="'--by'"
        )
    now = time.time()
    start, end = moment(since, now, "--since"), moment(until, now, "--until")
    if by == "user":
        _of_users(config, data, start, end, account, key, as_json=as_json)
        return
    if by == "provider":
        if account is not None or key is not None:
            raise typer.BadParameter(
                "sums by provider are those of all accounts", param_hint="'--by'"
            )
        _of_providers(config, data, start, end, as_json=as_json)
        return
    with opened(config, data) as store, store.read() as connection:
        rows = usage_by(
            connection,
            grouping[by],
            start,
            end,
            None if account is None else account_id(connection, account),
            None if key is None else find_key(connection, key).id,
        )
        names = _names(connection, by)
    if as_json:
        print_json([_view(row, by, names) for row in rows])
        return
    _print(rows, by, names)


def _of_users(
    config: Path | None,
    data: Path,
    since: float | None,
    until: float | None,
    account: str | None,
    key: str | None,
    *,
    as_json: bool,
) -> None:
    """Read from the log, as far back as it goes; of the last 30 days where no time is given."""
    from msgspec import to_builtins

    from zurelay.office.usage import usage_of_users

    with at_desk(config, data) as (desk, actor):
        rows = usage_of_users(desk, actor, since=since, until=until, account=account, key=key)
    if as_json:
        print_json(to_builtins(rows))
        return
    columns = ("user", "requests", "errors", "USD")
    print_table(
        columns,
        [
            (row.user or "(none)", f"{row.requests:,}", f"{row.errors:,}", row.cost_usd)
            for row in rows
        ],
        right=columns[1:],
        empty="nothing was used",
    )


def _of_providers(
    config: Path | None, data: Path, since: float | None, until: float | None, *, as_json: bool
) -> None:
    from msgspec import to_builtins

    from zurelay.office.usage import usage_of_providers

    with at_desk(config, data) as (desk, actor):
        rows = usage_of_providers(desk, actor, since=since, until=until)
    if as_json:
        print_json(to_builtins(rows))
        return
    columns = ("provider", "requests", "failed", "tokens in", "tokens out", "cost USD",
               "charged USD", "lost USD")  # fmt: skip
    print_table(
        columns,
        [
            (
                row.provider,
                f"{row.requests:,}",
                f"{row.failed:,}",
                f"{_sum(row.tokens, 'input', 'write'):,}",
                f"{_sum(row.tokens, 'output'):,}",
                row.cost_usd,
                row.charged_usd,
                row.lost_usd,
            )
            for row in rows
        ],
        right=columns[1:],
        spare=("tokens in", "tokens out"),
        empty="nothing was used",
    )


def _print(rows: "list[UsageRow]", by: str, names: dict[str, str]) -> None:
    from zurelay.catalogue.money import format_usd

    def cells(label: str, row: "list[UsageRow]") -> tuple[str, ...]:
        tokens = [one.tokens for one in row]
        inputs = ("input", "cached_input", "cache_write", "cache_write_long", "audio_input")
        return (
            label,
            f"{sum(one.requests for one in row):,}",
            f"{sum(one.errors for one in row):,}",
            f"{sum(sum(t[name] for name in inputs) for t in tokens):,}",
            f"{sum(t['cached_input'] for t in tokens):,}",
            f"{sum(t['output'] + t['audio_output'] for t in tokens):,}",
            f"{sum(t['reasoning'] for t in tokens):,}",
            format_usd(sum(one.cost for one in row))
            + ("~" if any(one.estimated for one in row) else ""),
        )

    columns = (by, "requests", "errors", "tokens in", "cached", "tokens out", "thinking", "USD")
    print_table(
        columns,
        [cells(_label(row, names), [row]) for row in rows],
        right=columns[1:],
        total=cells("total", rows) if len(rows) > 1 else None,
        empty="nothing was used",
    )


def _view(row: "UsageRow", by: str, names: dict[str, str]) -> dict[str, object]:
    from zurelay.catalogue.money import format_usd

    view: dict[str, object] = {by: row.group}
    if row.group in names:
        view["name"] = names[row.group]
    return view | {
        "requests": row.requests,
        "errors": row.errors,
        "estimated": row.estimated,
        "cost_usd": format_usd(row.cost),
        "tokens": row.tokens,
    }


def _label(row: "UsageRow", names: dict[str, str]) -> str:
    return names.get(row.group, row.group) or "(no model)"


def _names(connection: "Connection", by: str) -> dict[str, str]:
    """Names of keys or accounts by id."""
    from zurelay.store.accounts import list_accounts
    from zurelay.store.keys import list_keys

    if by == "key":
        return {key.id: f"{key.name} ({key.id})" for key in list_keys(connection)}
    if by == "account":
        return {one.id: one.name for one in list_accounts(connection)}
    return {}


def _sum(tokens: dict[str, int], *words: str) -> int:
    """Tokens of all classes that have one of the words in their name."""
    return sum(n for name, n in tokens.items() if any(word in name for word in words))
