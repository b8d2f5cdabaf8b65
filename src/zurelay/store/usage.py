"""Sums of the request log by hour: what was used, and what it cost.

They are written in the transaction that writes the entries, and stay when entries are deleted, so
a page over a year reads some thousand rows instead of the log.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, func, select

from zurelay.meter.record import RequestRecord
from zurelay.store import schema
from zurelay.store.upsert import RowsInsert, adding

Grouping = Literal["model", "key", "account", "day"]

_HOUR = 3600
_EPOCH = date(1970, 1, 1).toordinal()
_NAME_LENGTH = 200
_TABLE = schema.usage_hour
_SUMS = ("requests", "errors", "estimated", "cost", *schema.TOKENS)
_NOTHING = (0,) * len(schema.TOKENS)


_ADD = RowsInsert(_TABLE, adding(_TABLE, _SUMS))


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Sums over a group.

    Attributes:
        group: model id, key id, account id, or day as ISO date in UTC.
        requests: all of them; `errors` of these failed, `estimated` had tokens estimated.
        cost: nano-dollars.
        tokens: count by class of `chat.usage.Usage`, and `reasoning`, which is part of `output`.
    """

    group: str
    requests: int
    errors: int
    estimated: int
    cost: int
    tokens: dict[str, int]


def add_usage(connection: Connection, records: Iterable[RequestRecord]) -> None:
    """Add log entries to the sums of their hours."""
    sums: dict[tuple[int, str, str, str], list[int]] = {}
    for record in records:
        group = (int(record.created) // _HOUR, record.account, record.key, _model(record))
        row = sums.get(group)
        if row is None:
            row = sums[group] = [0, 0, 0, 0, *_NOTHING]
        row[0] += 1
        row[1] += record.status == "error"
        row[2] += record.cost_estimated
        row[3] += record.cost
        usage = record.usage
        if usage is not None:
            row[4] += usage.input
            row[5] += usage.cached_input
            row[6] += usage.cache_write
            row[7] += usage.cache_write_long
            row[8] += usage.audio_input
            row[9] += usage.output
            row[10] += usage.audio_output
            row[11] += usage.reasoning or 0
    _ADD.run(connection, [(*group, *sums[group]) for group in sorted(sums)])


def usage_by(
    connection: Connection,
    group: Grouping,
    since: float | None = None,
    until: float | None = None,
    account: str | None = None,
    key: str | None = None,
) -> list[UsageRow]:
    """Usage of whole hours, one row per group: days in order, others dearest first.

    Args:
        connection: where to read.
        group: what to sum over. Requests that no model was found for have model `""`.
        since: Unix seconds; its hour counts whole. None begins with the first.
        until: Unix seconds; its hour counts whole unless it has only begun. None ends with the
            last.
        account: only of this account id.
        key: only of this key id.
    """
    label: ColumnElement[Any] = {
        "model": _TABLE.c.model,
        "key": _TABLE.c.api_key,
        "account": _TABLE.c.account,
        "day": _TABLE.c.hour // 24,
    }[group]
    sums = [func.sum(_TABLE.c[name]).label(name) for name in _SUMS]
    query = select(label.label("label"), *sums).group_by(label)
    query = (
        query.order_by(label)
        if group == "day"
        else query.order_by(func.sum(_TABLE.c.cost).desc(), label)
    )
    if since is not None:
        query = query.where(_TABLE.c.hour >= int(since) // _HOUR)
    if until is not None:
        query = query.where(_TABLE.c.hour < -(-until // _HOUR))
    if account is not None:
        query = query.where(_TABLE.c.account == account)
    if key is not None:
        query = query.where(_TABLE.c.api_key == key)
    return [
        UsageRow(
            group=_day(row["label"]) if group == "day" else row["label"],
            requests=int(row["requests"]),  # PostgreSQL sums integers to a numeric
            errors=int(row["errors"]),
            estimated=int(row["estimated"]),
            cost=int(row["cost"]),
            tokens={name: int(row[name]) for name in schema.TOKENS},
        )
        for row in connection.execute(query).mappings()
    ]


def spent_by_day(connection: Connection) -> list[tuple[str, int, int]]:
    """What keys ever spent: (key id, days since 1970 in UTC, nano-dollars)."""
    day = (_TABLE.c.hour // 24).label("day")
    query = select(_TABLE.c.api_key, day, func.sum(_TABLE.c.cost)).group_by(_TABLE.c.api_key, day)
    return [(key, when, int(cost)) for key, when, cost in connection.execute(query)]


def _model(record: RequestRecord) -> str:
    """The model a request counts for: a name that a caller made up would make endless groups."""
    if record.answered_by is not None:
        name = record.answered_by
    else:
        name = "" if record.error == "model_not_found" else record.model
    return name.partition("?")[0].replace("\0", "")[:_NAME_LENGTH]


def _day(days: int) -> str:
    return date.fromordinal(_EPOCH + days).isoformat()
