"""The audit log: every change that a person or program made. Rows are added, never changed."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from zurelay.store import schema
from zurelay.store.paging import Mark, newest_first


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One change.

    Attributes:
        id: `aud_...`.
        at_ms: Unix milliseconds.
        actor: who, such as `cli:alice`.
        action: what, such as `key.create`.
        target: id of what was changed.
        account: id of the account it concerns, if it does.
        detail: a JSON object.
    """

    id: str
    at_ms: int
    actor: str
    action: str
    target: str
    account: str | None
    detail: str


def add_audit(connection: Connection, row: AuditRow) -> None:
    """Write a line."""
    connection.execute(
        insert(schema.audit).values(
            id=row.id,
            at_ms=row.at_ms,
            actor=row.actor,
            action=row.action,
            target=row.target,
            account=row.account,
            detail=row.detail,
        )
    )


def list_audit(
    connection: Connection,
    *,
    account: str | None = None,
    actor: str | None = None,
    action: str | None = None,
    target: str | None = None,
    after: Mark | None = None,
    limit: int,
) -> list[AuditRow]:
    """The newest lines that match, newest first; `action` also stands for all that begin so."""
    table = schema.audit
    query = select(table)
    for column, value in (
        (table.c.account, account),
        (table.c.actor, actor),
        (table.c.target, target),
    ):
        if value is not None:
            query = query.where(column == value)
    if action is not None:
        query = query.where(
            (table.c.action == action) | table.c.action.startswith(f"{action}.", autoescape=True)
        )
    query = newest_first(query, table.c.at_ms, table.c.id, after).limit(limit)
    return [AuditRow(**row) for row in connection.execute(query).mappings()]
