"""The keys that the console asks models with: one of an account at a time, told by their ids."""

from sqlalchemy import Connection

from zurelay.access.accounts import Account
from zurelay.access.keys import Key
from zurelay.store import schema
from zurelay.store.keys import key_of_row, keys_query


def console_keys(connection: Connection, account: Account, prefix: str) -> list[Key]:
    """Keys of an account whose ids begin so and that are not revoked, newest first."""
    query = (
        keys_query()
        .where(
            schema.key.c.account == account.id,
            schema.key.c.id.startswith(prefix, autoescape=True),
            schema.key.c.revoked.is_(None),
        )
        .order_by(schema.key.c.created.desc(), schema.key.c.id.desc())
    )
    owners = {account.id: account}
    return [key_of_row(row, owners) for row in connection.execute(query).mappings()]
