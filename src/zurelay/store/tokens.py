"""Admin tokens at rest: never their text, only hash and last four characters."""

from sqlalchemy import Connection, RowMapping, insert, select

from zurelay.access.tokens import AdminToken
from zurelay.store import schema
from zurelay.store.counters import ACCESS, raise_counter
from zurelay.store.named import check_name, one_row, revoke_row


def add_token(connection: Connection, token: AdminToken) -> None:
    """Write a new token; servers on this store take it at once.

    Raises:
        StoreError: its name cannot be one.
    """
    check_name("a token's", token.name)
    connection.execute(
        insert(schema.admin_token).values(
            id=token.id,
            name=token.name,
            role=token.role,
            hash=token.hash,
            last4=token.last4,
            created=token.created,
            revoked=token.revoked,
            account=token.account,
        )
    )
    raise_counter(connection, ACCESS)


def list_tokens(connection: Connection) -> list[AdminToken]:
    """Every token, oldest first, revoked ones too."""
    table = schema.admin_token
    query = select(table).order_by(table.c.created, table.c.id)
    return [_token(row) for row in connection.execute(query).mappings()]


def find_token(connection: Connection, wanted: str) -> AdminToken:
    """The one token with that id, id prefix (with or without `tok_`) or name.

    Raises:
        StoreError: there is none, or several.
    """
    table = schema.admin_token
    return _token(one_row(connection, select(table), table, wanted, "tok_", "token"))


def revoke_token(connection: Connection, wanted: str, now: float) -> AdminToken:
    """Revoke for ever the token that `find_token` finds; revoking it again changes nothing.

    Raises:
        StoreError: there is none, or several.
    """
    token = find_token(connection, wanted)
    if token.revoked is None:
        revoke_row(connection, schema.admin_token, token.id, now)
    return find_token(connection, token.id)


def _token(row: RowMapping) -> AdminToken:
    return AdminToken(
        id=row["id"],
        name=row["name"],
        role=row["role"],
        hash=row["hash"],
        last4=row["last4"],
        created=row["created"],
        revoked=row["revoked"],
        account=row["account"],
    )
