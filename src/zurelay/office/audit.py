"""Reading the audit log."""

from typing import Any

import msgspec
from msgspec import Struct

from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk
from zurelay.office.pages import Listed, Page, listed
from zurelay.office.rights import Actor
from zurelay.store.audit import AuditRow
from zurelay.store.audit import list_audit as read_audit


class AuditView(Struct):
    """A change that somebody made. `detail` of a change holds [before, after] by field."""

    id: str
    created: str
    actor: str
    action: str
    target: str
    account: str | None
    detail: dict[str, Any]


def list_audit(
    desk: Desk,
    actor: Actor,
    page: Page,
    *,
    account: str | None = None,
    by: str | None = None,
    action: str | None = None,
    target: str | None = None,
) -> Listed[AuditView]:
    """Changes, newest first.

    Args:
        desk: where.
        actor: who asks.
        page: which part.
        account: only of this account, id or name.
        by: only of this actor, as the log names it.
        action: only this action, such as `key.create`, or all of a kind, such as `key`.
        target: only changes of the thing with this id.

    Raises:
        Refused: 400, 403, 404.
    """
    with desk.read(actor, "audit.read") as connection:
        only = actor.account
        if account is not None:
            only = the_account(connection, actor, account).id
        found = read_audit(
            connection,
            account=only,
            actor=by,
            action=action,
            target=target,
            after=page.after,
            limit=page.limit + 1,
        )
        return listed(page, found, lambda row: (row.at_ms, row.id), lambda row: view(row, actor))


def view(row: AuditRow, actor: Actor) -> AuditView:
    """A change as the actor is shown it: mark-ups to those alone who may know them."""
    detail = msgspec.json.decode(row.detail, type=dict[str, Any])
    if not actor.sees_markups:
        detail.pop("markup", None)
    return AuditView(
        id=row.id,
        created=v.iso_of(row.at_ms / 1000),
        actor=row.actor,
        action=row.action,
        target=row.target,
        account=row.account,
        detail=detail,
    )
