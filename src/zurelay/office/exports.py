"""Usage as a file: one row per hour, account, key and model, however many there are."""

from collections.abc import Iterator
from typing import Final, Literal

from zurelay.office import sheets
from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk
from zurelay.office.rights import Actor
from zurelay.store.accounts import list_accounts
from zurelay.store.exports import Group, HourOfUse, usage_after
from zurelay.store.keys import list_keys
from zurelay.store.schema import TOKENS

Format = Literal["csv", "jsonl"]

CHUNK: Final = 1000
"""Rows read at once."""

_COUNTS = ("requests", "errors", "estimated", *TOKENS)
COLUMNS = ("hour", "account", "account_name", "key", "key_name", "model", *_COUNTS, "cost_usd")


def export_usage(
    desk: Desk,
    actor: Actor,
    form: Format,
    *,
    since: float | None = None,
    until: float | None = None,
    account: str | None = None,
) -> Iterator[str]:
    """Usage in pieces of a file; hours are UTC, oldest first.

    Args:
        desk: where.
        actor: who asks.
        form: what kind of file.
        since: Unix seconds; its hour counts whole.
        until: Unix seconds; its hour counts whole unless it has only begun.
        account: only of this account, id or name.

    Raises:
        Refused: 403, 404; before the first piece.
    """
    with desk.read(actor, "usage.read") as connection:
        only = actor.account if account is None else the_account(connection, actor, account).id
        accounts = {one.id: one.name for one in list_accounts(connection)}
        keys = {one.id: one.name for one in list_keys(connection, only)}

    def pieces() -> Iterator[str]:
        if form == "csv":
            yield sheets.csv_lines([COLUMNS])
        after: Group | None = None
        while True:
            with desk.store.read() as connection:
                found = usage_after(connection, after, since, until, only, CHUNK)
            rows = [_row(one, accounts, keys) for one in found]
            if rows and form == "csv":
                yield sheets.csv_lines([_cells(row) for row in rows])
            elif rows:
                yield "".join(map(sheets.json_line, rows))
            if len(found) < CHUNK:
                return
            after = found[-1].group

    return pieces()


def _row(one: HourOfUse, accounts: dict[str, str], keys: dict[str, str]) -> dict[str, object]:
    hour, account, key, model = one.group
    return {
        "hour": v.iso_of(hour * 3600),
        "account": account,
        "account_name": accounts.get(account),
        "key": key,
        "key_name": keys.get(key),
        "model": model,
        **{name: one.counts[name] for name in _COUNTS},
        "cost_usd": v.usd_of(one.counts["cost"]),
    }


def _cells(row: dict[str, object]) -> list[object]:
    return [
        sheets.text(value) if isinstance(value, str) or value is None else value
        for value in row.values()
    ]
