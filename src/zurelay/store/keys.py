"""API keys at rest: never their text, only hash and last four characters."""

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, RowMapping, Select, bindparam, insert, select, update

from zurelay.access.accounts import Account, Budget
from zurelay.access.auto import AutoTerms, plain_terms, terms_of
from zurelay.access.keys import Key
from zurelay.store import schema
from zurelay.store.accounts import find_account, list_accounts
from zurelay.store.counters import ACCESS, raise_counter
from zurelay.store.named import check_name, one_row, revoke_row


def add_key(connection: Connection, key: Key) -> None:
    """Write a new key; servers on this store see it within a second.

    Raises:
        StoreError: its name cannot be one.
    """
    check_name("a key's", key.name)
    budget = key.budget
    connection.execute(
        insert(schema.key).values(
            id=key.id,
            name=key.name,
            account=key.account,
            hash=key.hash,
            last4=key.last4,
            models=None if key.models is None else msgspec.json.encode(key.models).decode(),
            created=key.created,
            expires=key.expires,
            revoked=key.revoked,
            budget=None if budget is None else budget.usd,
            budget_period=None if budget is None else budget.period,
            rpm=key.rpm,
            tpm=key.tpm,
            concurrency=key.concurrency,
            markup=key.markup,
            auto=auto_column(key.auto),
            store_days=key.store_days,
        )
    )
    raise_counter(connection, ACCESS)


def list_keys(connection: Connection, account: str | None = None) -> list[Key]:
    """Keys, oldest first, revoked and expired ones too; those of one account id if given."""
    query = keys_query().order_by(schema.key.c.created, schema.key.c.id)
    if account is not None:
        query = query.where(schema.key.c.account == account)
    owners = {owner.id: owner for owner in list_accounts(connection)}
    return [key_of_row(row, owners) for row in connection.execute(query).mappings()]


def find_key(connection: Connection, wanted: str) -> Key:
    """The one key with that id, id prefix (with or without `key_`) or name.

    Raises:
        StoreError: there is none, or several.
    """
    row = one_row(connection, keys_query(), schema.key, wanted, "key_", "key")
    owner = find_account(connection, row["account"])
    return key_of_row(row, {} if owner is None else {owner.id: owner})


def revoke_key(connection: Connection, wanted: str, now: float) -> Key:
    """Revoke for ever the key that `find_key` finds; revoking it again changes nothing.

    Raises:
        StoreError: there is none, or several.
    """
    key = find_key(connection, wanted)
    if key.revoked is None:
        revoke_row(connection, schema.key, key.id, now)
    return find_key(connection, key.id)


def touch_keys(connection: Connection, used: Mapping[str, float]) -> None:
    """Note when keys were last used: key id -> Unix time. No reason for servers to read anew."""
    if not used:
        return
    statement = (
        update(schema.key)
        .where(schema.key.c.id == bindparam("which"))
        .values(last_used=bindparam("at"))
    )
    connection.execute(statement, [{"which": k, "at": int(t)} for k, t in sorted(used.items())])


def keys_query() -> Select[Any]:
    """All rows of keys, with their accounts' names."""
    return select(schema.key, schema.account.c.name.label("account_name")).join(schema.account)


def key_of_row(row: RowMapping, owners: Mapping[str, Account]) -> Key:
    """The key in a row of `keys_query`; `owners` by id of the account."""
    budget = None if row["budget"] is None else Budget(row["budget"], row["budget_period"])
    models = row["models"]
    return Key(
        id=row["id"],
        name=row["name"],
        account=row["account"],
        account_name=row["account_name"],
        hash=row["hash"],
        last4=row["last4"],
        created=row["created"],
        models=None if models is None else tuple(msgspec.json.decode(models, type=list[str])),
        expires=row["expires"],
        revoked=row["revoked"],
        budget=budget,
        rpm=row["rpm"],
        tpm=row["tpm"],
        concurrency=row["concurrency"],
        last_used=row["last_used"],
        markup=row["markup"],
        owner=owners.get(row["account"]),
        previous_hash=row["previous_hash"],
        previous_until=row["previous_until"],
        auto=None if row["auto"] is None else terms_of(msgspec.json.decode(row["auto"])),
        store_days=row["store_days"],
    )


def auto_column(terms: AutoTerms | None) -> str | None:
    """A key's terms of the smart choice as its column has them."""
    return None if terms is None else msgspec.json.encode(plain_terms(terms)).decode()
