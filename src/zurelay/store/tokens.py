"""Admin tokens at rest: never their text, only hash and last four characters."""

from sqlalchemy import ColumnElement, Connection, RowMapping, insert, or_, select, update

from zurelay.access.tokens import AdminToken
from zurelay.store import schema
from zurelay.store.counters import ACCESS, raise_counter
from zurelay.store.errors import StoreError

_NAME_LENGTH = 200


def add_token(connection: Connection, token: AdminToken) -> None:
    """Write a new token; servers on this store take it at once.

    Raises:
        StoreError: its name cannot be one.
    """
    if not token.name.strip() or len(token.name) > _NAME_LENGTH or not token.name.isprintable():
        raise StoreError(f"a token's name has 1 to {_NAME_LENGTH} printable characters")
    connection.execute(
        insert(schema.admin_token).values(
            id=token.id,
            name=token.name,
            role=token.role,
            hash=token.hash,
            last4=token.last4,
            created=token.created,
            revoked=token.revoked,
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
    for condition in (
        table.c.id == wanted,
        or_(*(_begins(table.c.id, start) for start in (wanted, f"tok_{wanted}"))),
        table.c.name == wanted,
    ):
        query = select(table).where(condition).limit(2)
        found = [_token(row) for row in connection.execute(query).mappings()]
        if len(found) > 1:
            raise StoreError(f"several tokens match {wanted!r}; give the whole id")
        if found:
            return found[0]
    raise StoreError(f"no token has the id or name {wanted!r}; see 'zurelay tokens list'")


def revoke_token(connection: Connection, wanted: str, now: float) -> AdminToken:
    """Revoke for ever the token that `find_token` finds; revoking it again changes nothing.

    Raises:
        StoreError: there is none, or several.
    """
    token = find_token(connection, wanted)
    if token.revoked is None:
        table = schema.admin_token
        connection.execute(update(table).where(table.c.id == token.id).values(revoked=int(now)))
        raise_counter(connection, ACCESS)
    return find_token(connection, token.id)


def _begins(column: ColumnElement[str], start: str) -> ColumnElement[bool]:
    return column.startswith(start, autoescape=True)


def _token(row: RowMapping) -> AdminToken:
    return AdminToken(
        id=row["id"],
        name=row["name"],
        role=row["role"],
        hash=row["hash"],
        last4=row["last4"],
        created=row["created"],
        revoked=row["revoked"],
    )
