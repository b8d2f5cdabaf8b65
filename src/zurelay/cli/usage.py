"""`zurelay usage`: sums of what was used, and what it cost."""

import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from zurelay.cli.options import DATA, Config, Data, Json, account_id, example, opened
from zurelay.cli.terminal import print_json, print_table

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from zurelay.store.usage import UsageRow

_AGO = re.compile(r"([0-9]{1,5})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("usage", epilog=example("usage --by key --since 7d"))(usage)


def usage(
    config: Config = None,
    data: Data = DATA,
    by: Annotated[
        str, typer.Option(metavar="WHAT", help="Group by model, key, account or day.")
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
    if by not in grouping:
        raise typer.BadParameter("write model, key, account or day", param_hint="'--by'")
    now = time.time()
    start, end = _moment(since, now, "--since"), _moment(until, now, "--until")
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


def _moment(text: str | None, now: float, option: str) -> float | None:
    """Unix seconds of a date or a time ago."""
    if text is None:
        return None
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return now - int(ago[1]) * _HOURS[ago[2]] * 3600
    try:
        found = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise typer.BadParameter(
            "write a date such as 2026-12-31, or 24h, 7d or 4w", param_hint=f"'{option}'"
        ) from None
    return found.timestamp()
