"""What end users cost, by the request log: as far back as that is kept."""

from dataclasses import dataclass

from sqlalchemy import Connection, case, func, select

from zurelay.store import schema

_TABLE = schema.request


@dataclass(frozen=True, slots=True)
class UserRow:
    """Sums over one end user's requests; `user` None for those that named none. `cost` in nano."""

    user: str | None
    requests: int
    errors: int
    cost: int


def usage_by_user(
    connection: Connection,
    since: float,
    until: float,
    account: str | None = None,
    key: str | None = None,
    limit: int = 1000,
    newest: int | None = None,
) -> list[UserRow]:
    """The users who cost most, dearest first, from Unix second `since` to before `until`.

    `newest`: look at no more than so many entries, the newest; None looks at all.
    """
    log = _TABLE.c
    entries = select(log.end_user, log.status, log.cost).where(
        log.at_ms >= int(since * 1000), log.at_ms < int(until * 1000)
    )
    if account is not None:
        entries = entries.where(log.account == account)
    if key is not None:
        entries = entries.where(log.api_key == key)
    if newest is not None:
        entries = entries.order_by(log.at_ms.desc()).limit(newest)
    columns = entries.subquery().c
    cost = func.sum(columns.cost)
    failed = func.sum(case((columns.status == "error", 1), else_=0))
    query = (
        select(columns.end_user, func.count().label("requests"), failed, cost)
        .group_by(columns.end_user)
        .order_by(cost.desc(), columns.end_user)
        .limit(limit)
    )
    return [
        UserRow(user, int(requests), int(errors), int(total))
        for user, requests, errors, total in connection.execute(query)
    ]
