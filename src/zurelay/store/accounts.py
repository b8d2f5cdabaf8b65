"""Accounts: who owns keys and pays."""

from sqlalchemy import Connection, RowMapping, insert, or_, select

from zurelay.access.accounts import Account, Budget
from zurelay.store import schema
from zurelay.store.counters import ACCESS, raise_counter
from zurelay.store.named import check_name

DEFAULT = "default"
"""The account of keys for which none is named."""


def find_account(connection: Connection, name_or_id: str) -> Account | None:
    """The account of that name or id."""
    table = schema.account
    query = select(table).where(or_(table.c.name == name_or_id, table.c.id == name_or_id))
    row = connection.execute(query).mappings().first()
    return None if row is None else _account(row)


def ensure_account(connection: Connection, name: str, new_id: str, now: float) -> Account:
    """The account of that name or id, made under `new_id` if there is none.

    Raises:
        StoreError: the name cannot be one.
    """
    found = find_account(connection, name)
    if found is not None:
        return found
    check_name("an account's", name)
    account = Account(new_id, name, int(now))
    connection.execute(
        insert(schema.account).values(id=account.id, name=name, created=account.created)
    )
    raise_counter(connection, ACCESS)
    return account


def list_accounts(connection: Connection) -> list[Account]:
    """Every account, oldest first."""
    query = select(schema.account).order_by(schema.account.c.created, schema.account.c.name)
    return [_account(row) for row in connection.execute(query).mappings()]


def _account(row: RowMapping) -> Account:
    budget = None if row["budget"] is None else Budget(row["budget"], row["budget_period"])
    return Account(
        id=row["id"],
        name=row["name"],
        created=row["created"],
        prepaid=row["prepaid"],
        budget=budget,
        zone=row["zone"],
        rpm=row["rpm"],
        tpm=row["tpm"],
        concurrency=row["concurrency"],
        markup=row["markup"],
        stopped=row["stopped"],
    )
