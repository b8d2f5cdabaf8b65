"""Members of accounts: people, each by e-mail address."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select, update

from zurelay.store import schema
from zurelay.store.paging import Mark, oldest_first

_TABLE = schema.member


@dataclass(frozen=True, slots=True)
class Member:
    """A person. `id` is `mem_...`; `created` and `removed` in Unix seconds."""

    id: str
    account: str
    email: str
    name: str
    role: str
    created: int
    removed: int | None = None


def add_member(connection: Connection, member: Member) -> None:
    """Write a new member."""
    connection.execute(
        insert(_TABLE).values(
            id=member.id,
            account=member.account,
            email=member.email,
            name=member.name,
            role=member.role,
            created=member.created,
            removed=member.removed,
        )
    )


def change_member(connection: Connection, id_: str, columns: Mapping[str, Any]) -> None:
    """Set columns of a member."""
    if columns:
        connection.execute(update(_TABLE).where(_TABLE.c.id == id_).values(**columns))


def find_member(connection: Connection, account: str, wanted: str) -> Member | None:
    """The member of an account with that id or e-mail address, removed or not."""
    query = select(_TABLE).where(
        _TABLE.c.account == account, (_TABLE.c.id == wanted) | (_TABLE.c.email == wanted)
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else _member(row)


def list_members(
    connection: Connection, account: str, after: Mark | None, limit: int
) -> list[Member]:
    """The members of an account, oldest first, without those who were removed."""
    query = select(_TABLE).where(_TABLE.c.account == account, _TABLE.c.removed.is_(None))
    query = oldest_first(query, _TABLE.c.created, _TABLE.c.id, after).limit(limit)
    return [_member(row) for row in connection.execute(query).mappings()]


def _member(row: RowMapping) -> Member:
    return Member(**row)
