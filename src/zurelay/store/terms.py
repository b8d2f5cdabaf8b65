"""Changing accounts and keys that are there; servers on this store see it within a second."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table, insert, select, update

from zurelay.access.accounts import Account, Budget
from zurelay.access.keys import Key
from zurelay.store import schema
from zurelay.store.accounts import find_account
from zurelay.store.counters import ACCESS, raise_counter
from zurelay.store.keys import key_of_row, keys_query
from zurelay.store.named import check_name
from zurelay.store.paging import Mark, oldest_first


def add_account(connection: Connection, account: Account) -> None:
    """Write a new account with all its terms.

    Raises:
        StoreError: its name cannot be one.
    """
    check_name("an account's", account.name)
    budget = account.budget
    connection.execute(
        insert(schema.account).values(
            id=account.id,
            name=account.name,
            created=account.created,
            prepaid=account.prepaid,
            zone=account.zone,
            rpm=account.rpm,
            tpm=account.tpm,
            concurrency=account.concurrency,
            markup=account.markup,
            stopped=account.stopped,
            **budget_columns(budget),
        )
    )
    raise_counter(connection, ACCESS)


def change_account(connection: Connection, id_: str, columns: Mapping[str, Any]) -> None:
    """Set columns of an account."""
    _change(connection, schema.account, id_, columns)


def change_key(connection: Connection, id_: str, columns: Mapping[str, Any]) -> None:
    """Set columns of a key."""
    _change(connection, schema.key, id_, columns)


def budget_columns(budget: Budget | None) -> dict[str, Any]:
    """A budget as the columns of its account or key."""
    if budget is None:
        return {"budget": None, "budget_period": None}
    return {"budget": budget.usd, "budget_period": budget.period}


def page_of_accounts(
    connection: Connection, only: str | None, after: Mark | None, limit: int
) -> list[Account]:
    """Accounts, oldest first; only the one with that id if one is given."""
    table = schema.account
    query = select(table.c.id)
    if only is not None:
        query = query.where(table.c.id == only)
    ids = connection.execute(
        oldest_first(query, table.c.created, table.c.id, after).limit(limit)
    ).scalars()
    found = [find_account(connection, id_) for id_ in ids]
    return [account for account in found if account is not None]


def page_of_keys(
    connection: Connection, account: str | None, after: Mark | None, limit: int
) -> list[Key]:
    """Keys, oldest first, revoked and expired ones too; of one account if one is given."""
    query = keys_query()
    if account is not None:
        query = query.where(schema.key.c.account == account)
    query = oldest_first(query, schema.key.c.created, schema.key.c.id, after).limit(limit)
    rows = connection.execute(query).mappings().all()
    owners = {}
    for id_ in sorted({row["account"] for row in rows}):
        owner = find_account(connection, id_)
        if owner is not None:
            owners[id_] = owner
    return [key_of_row(row, owners) for row in rows]


def _change(connection: Connection, table: Table, id_: str, columns: Mapping[str, Any]) -> None:
    if not columns:
        return
    connection.execute(update(table).where(table.c.id == id_).values(**columns))
    raise_counter(connection, ACCESS)
