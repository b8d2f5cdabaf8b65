"""Usage by hour, account, key and model, read in pieces of any length of time."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select, tuple_

from zurelay.store import schema

_TABLE = schema.usage_hour
_GROUP = (_TABLE.c.hour, _TABLE.c.account, _TABLE.c.api_key, _TABLE.c.model)
_SUMS = ("requests", "errors", "estimated", "cost", *schema.TOKENS)

Group = tuple[int, str, str, str]
"""Hours since 1970, account id, key id, model."""


@dataclass(frozen=True, slots=True)
class HourOfUse:
    """Sums of a group; `counts` by name, `cost` among them in nano-dollars."""

    group: Group
    counts: dict[str, int]


def usage_after(
    connection: Connection,
    after: Group | None,
    since: float | None,
    until: float | None,
    account: str | None,
    limit: int,
) -> list[HourOfUse]:
    """The next groups in order, after one.

    Args:
        connection: where to read.
        after: the last group of the piece before.
        since: Unix seconds; its hour counts whole.
        until: Unix seconds; its hour counts whole unless it has only begun.
        account: only of this account id.
        limit: how many at most.
    """
    query = select(*_GROUP, *(func.sum(_TABLE.c[name]) for name in _SUMS))
    if after is not None:
        query = query.where(tuple_(*_GROUP) > after)
    if since is not None:
        query = query.where(_TABLE.c.hour >= int(since // 3600))
    if until is not None:
        query = query.where(_TABLE.c.hour < int(-(-until // 3600)))
    if account is not None:
        query = query.where(_TABLE.c.account == account)
    query = query.group_by(*_GROUP).order_by(*_GROUP).limit(limit)
    return [
        HourOfUse(
            (row[0], row[1], row[2], row[3]),
            {name: int(number) for name, number in zip(_SUMS, row[4:], strict=True)},
        )
        for row in connection.execute(query)
    ]
