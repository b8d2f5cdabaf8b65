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
) -> list[UserRow]:
    """The users who cost most, dearest first, from Unix second `since` to before `until`."""
    columns = _TABLE.c
    cost = func.sum(columns.cost)
    failed = func.sum(case((columns.status == "error", 1), else_=0))
    query = (
        select(columns.end_user, func.count().label("requests"), failed, cost)
        .where(columns.at_ms >= int(since * 1000), columns.at_ms < int(until * 1000))
        .group_by(columns.end_user)
        .order_by(cost.desc(), columns.end_user)
        .limit(limit)
    )
    if account is not None:
        query = query.where(columns.account == account)
    if key is not None:
        query = query.where(columns.api_key == key)
    return [
        UserRow(user, int(requests), int(errors), int(total))
        for user, requests, errors, total in connection.execute(query)
    ]
