"""Sums of the request log by hour and day: what was used, what it cost, what providers ask for it.

They are written in the transaction that writes the entries, and stay when entries are deleted, so
a page over a month reads thirty rows per key and model instead of the log.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from operator import add
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Select,
    Subquery,
    Table,
    func,
    select,
    text,
    union_all,
)

from zurelay.meter.record import Attempt, RequestRecord
from zurelay.store import schema
from zurelay.store.upsert import RowsInsert, RowsInserts, adding

Grouping = Literal["model", "key", "account", "day"]

SHARDS = 16
"""How many nodes can add to sums without waiting for each other's commits."""

_HOUR = 3600
_DAY_HOURS = 24
_EPOCH = date(1970, 1, 1).toordinal()
_NAME_LENGTH = 200
_PROVIDER_LENGTH = 100
_HOURS, _DAYS, _PROVIDERS = schema.usage_hour, schema.usage_day, schema.usage_provider_hour
_HOUR_MODELS = schema.usage_hour_model
_HOUR_KEYS, _DAY_KEYS = schema.usage_hour_key, schema.usage_day_key
_SUMS = schema.USAGE
_COSTS = ("requests", "failed", "cost", "upstream_cost", "lost")
_PROVIDER_SUMS = (*_COSTS, *schema.TOKENS)
_NOTHING = (0,) * len(schema.TOKENS)
_LABELS = {"model": "model", "key": "api_key", "account": "account"}

_ADD = RowsInserts(
    *(
        RowsInsert(table, adding(table, _SUMS))
        for table in (_HOURS, _DAYS, _HOUR_MODELS, _HOUR_KEYS, _DAY_KEYS)
    ),
    RowsInsert(_PROVIDERS, adding(_PROVIDERS, _PROVIDER_SUMS)),
)


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


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """Sums over what was asked of one provider, to set beside its invoice.

    Attributes:
        provider: its name in the configuration.
        requests: attempts that callers paid for, or that were answered for nothing.
        failed: attempts that failed.
        cost: nano-dollars that callers were charged.
        upstream_cost: nano-dollars that the provider asks for the same requests.
        lost: nano-dollars that it may ask for attempts that nobody paid for, estimated.
        tokens: of what callers were charged for, by class as in `UsageRow`.
    """

    provider: str
    requests: int
    failed: int
    cost: int
    upstream_cost: int
    lost: int
    tokens: dict[str, int]


def shard_of(node: str) -> int:
    """Which rows a node adds to, of those that several write; 0 is for a node that is alone."""
    return 1 + zlib.crc32(node.encode()) % SHARDS


def add_usage(connection: Connection, records: Sequence[RequestRecord], shard: int = 0) -> None:
    """Add log entries to the sums of their hours and days, in the rows of `shard`."""
    hours: dict[tuple[Any, ...], list[int]] = {}
    providers: dict[tuple[Any, ...], list[int]] = {}
    for record in records:
        hour = int(record.created) // _HOUR
        usage = _usage(record)
        failed = record.count if record.status == "error" else 0
        estimated = int(record.cost_estimated)
        counts = (record.count, failed, estimated, record.cost, *usage)
        _add(hours, (hour, record.account, record.key, _model(record), shard), counts)
        _add_attempts(providers, record, hour, usage, shard)
    days: dict[tuple[Any, ...], list[int]] = {}
    hour_models: dict[tuple[Any, ...], list[int]] = {}
    hour_keys: dict[tuple[Any, ...], list[int]] = {}
    day_keys: dict[tuple[Any, ...], list[int]] = {}
    for (hour, account, key, model, _), row in hours.items():
        day = hour // _DAY_HOURS
        _add(days, (day, account, key, model, shard), row)
        _add(hour_models, (hour, model, shard), row)
        _add(hour_keys, (hour, account, key, shard), row)
        _add(day_keys, (day, account, key, shard), row)
    if not hours:
        return
    _ADD.run(
        connection,
        [
            [(*group, *sums[group]) for group in sorted(sums)]
            for sums in (hours, days, hour_models, hour_keys, day_keys, providers)
        ],
    )


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
    parts = _parts(group, since, until, account, key).subquery()
    label: ColumnElement[Any] = parts.c.label
    query = select(label.label("label"), *_summed(parts, _SUMS)).group_by(label)
    query = (
        query.order_by(label)
        if group == "day"
        else query.order_by(func.sum(parts.c.cost).desc(), label)
    )
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


def usage_by_provider(
    connection: Connection, since: float | None = None, until: float | None = None
) -> list[ProviderRow]:
    """Usage of whole hours by provider, dearest first; `since` and `until` as in `usage_by`."""
    label = _PROVIDERS.c.provider
    query = select(label, *_summed(_PROVIDERS, _PROVIDER_SUMS)).group_by(label)
    query = query.order_by(func.sum(_PROVIDERS.c.upstream_cost).desc(), label)
    first, end = _range(since, until)
    if first is not None:
        query = query.where(_PROVIDERS.c.hour >= first)
    if end is not None:
        query = query.where(_PROVIDERS.c.hour < end)
    return [
        ProviderRow(
            provider=row["provider"],
            requests=int(row["requests"]),
            failed=int(row["failed"]),
            cost=int(row["cost"]),
            upstream_cost=int(row["upstream_cost"]),
            lost=int(row["lost"]),
            tokens={name: int(row[name]) for name in schema.TOKENS},
        )
        for row in connection.execute(query).mappings()
    ]


def cost_since(connection: Connection, hour: int, account: str, key: str | None) -> int:
    """Nano-dollars that an account, or one key of it, was charged since an hour since 1970.

    Reads whole days by an index of the account or key, and the rest of the first day.
    """
    day = -(-hour // _DAY_HOURS)
    days, hours = _DAYS.c, _HOUR_KEYS.c
    parts = [
        select(func.sum(days.cost)).where(
            days.day >= day, days.account == account if key is None else days.api_key == key
        ),
        select(func.sum(hours.cost)).where(
            hours.hour >= hour,
            hours.hour < day * _DAY_HOURS,
            hours.account == account if key is None else hours.api_key == key,
        ),
    ]
    return sum(int(connection.execute(part).scalar_one() or 0) for part in parts)


def fold_shards(connection: Connection, hour: int) -> int:
    """Bring the rows of all shards together, for an hour that is over, and its day if it is.

    PostgreSQL only: elsewhere there are no shards. Nobody waits for it but who adds to that hour;
    an entry that arrives later makes a new row. Returns how many rows went.

    Args:
        connection: a writing transaction.
        hour: hours since 1970.
    """
    tables = [(_HOURS, hour), (_HOUR_MODELS, hour), (_HOUR_KEYS, hour), (_PROVIDERS, hour)]
    if hour % _DAY_HOURS == _DAY_HOURS - 1:
        tables += [(_DAYS, hour // _DAY_HOURS), (_DAY_KEYS, hour // _DAY_HOURS)]
    return sum(
        connection.execute(text(_FOLD[table.name]), {"time": time}).scalar_one()
        for table, time in tables
    )


def _fold(table: Table) -> str:
    """Its rows of one time are deleted, and added to those of shard 0."""
    keys = [column.name for column in table.primary_key if column.name != "shard"]
    sums = [column.name for column in table.columns if not column.primary_key]
    summed = ", ".join(f"sum({name})" for name in sums)
    name, grouped = table.name, ", ".join(keys)
    return (
        f"WITH gone AS (DELETE FROM {name} WHERE {keys[0]} = :time AND shard <> 0 RETURNING *),"  # noqa: S608
        f" folded AS (INSERT INTO {name} ({grouped}, shard, {', '.join(sums)})"
        f" SELECT {grouped}, 0, {summed} FROM gone GROUP BY {grouped} ORDER BY {grouped}"
        f" ON CONFLICT {adding(table, sums)}) SELECT count(*) FROM gone"
    )


_FOLD = {
    table.name: _fold(table)
    for table in (_HOURS, _HOUR_MODELS, _HOUR_KEYS, _PROVIDERS, _DAYS, _DAY_KEYS)
}


def _parts(
    group: Grouping, since: float | None, until: float | None, account: str | None, key: str | None
) -> CompoundSelect[Any]:
    """Rows whose sums make up the range: whole days, and hours where it begins and ends.

    Questions about the whole gateway read sums over all keys or over all models.
    """
    first, end = _range(since, until)
    hours, days = _HOURS, _DAYS
    if account is None and key is None:
        if group in {"model", "day"}:
            return union_all(_of(_HOUR_MODELS, group, first, end))
        hours, days = _HOUR_KEYS, _DAY_KEYS
    from_day = None if first is None else -(-first // _DAY_HOURS)
    to_day = None if end is None else end // _DAY_HOURS
    if from_day is not None and to_day is not None and from_day >= to_day:
        return union_all(_of(hours, group, first, end, account, key))
    parts = [_of(days, group, from_day, to_day, account, key)]
    if first is not None and from_day is not None and first % _DAY_HOURS:
        parts.append(_of(hours, group, first, from_day * _DAY_HOURS, account, key))
    if end is not None and to_day is not None and end % _DAY_HOURS:
        parts.append(_of(hours, group, to_day * _DAY_HOURS, end, account, key))
    return union_all(*parts)


def _of(
    table: Table,
    group: Grouping,
    first: int | None,
    end: int | None,
    account: str | None = None,
    key: str | None = None,
) -> Select[Any]:
    time, columns = table.columns[0], table.c
    day = time // _DAY_HOURS if time.name == "hour" else time
    label = day if group == "day" else columns[_LABELS[group]]
    query = select(label.label("label"), *_named(table, _SUMS))
    if first is not None:
        query = query.where(time >= first)
    if end is not None:
        query = query.where(time < end)
    if account is not None:
        query = query.where(columns.account == account)
    if key is not None:
        query = query.where(columns.api_key == key)
    return query


def _range(since: float | None, until: float | None) -> tuple[int | None, int | None]:
    """The hours of a range, the second exclusive."""
    first = None if since is None else int(since // _HOUR)
    end = None if until is None else int(-(-until // _HOUR))
    return first, end


def _named(table: "Table | Subquery", names: Iterable[str]) -> list[ColumnElement[int]]:
    return [table.c[name] for name in names]


def _summed(table: "Table | Subquery", names: Iterable[str]) -> list[ColumnElement[Any]]:
    return [func.sum(table.c[name]).label(name) for name in names]


def _add_attempts(
    providers: dict[tuple[Any, ...], list[int]],
    record: RequestRecord,
    hour: int,
    usage: tuple[int, ...],
    shard: int,
) -> None:
    paid = _paid(record)
    empty = next((attempt for attempt in record.attempts if attempt.charged), None)
    for attempt in record.attempts:
        group = (hour, attempt.route.partition(":")[0][:_PROVIDER_LENGTH], shard)
        if attempt is paid:
            beside = (0, 0) if empty is None else (empty.charged, empty.cost)
            cost, upstream = record.cost - beside[0], record.upstream_cost - beside[1]
            row = (1, 0, cost, upstream, 0, *usage)
        elif attempt is empty:
            counts = usage if paid is None else _NOTHING
            row = (0, 1, attempt.charged, attempt.cost, 0, *counts)
        else:
            row = (0, int(attempt.status == "failed"), 0, 0, attempt.cost, *_NOTHING)
        _add(providers, group, row)


def _paid(record: RequestRecord) -> Attempt | None:
    """The attempt that the caller got and pays for: the answered one, or one that was cut short."""
    begun = None
    for attempt in record.attempts:
        if attempt.status == "ok":
            return attempt
        first = attempt.first_token_ms
        if record.usage is not None and first is not None and first == record.first_token_ms:
            begun = attempt
    return begun


def _add(
    sums: dict[tuple[Any, ...], list[int]], group: tuple[Any, ...], row: Sequence[int]
) -> None:
    known = sums.get(group)
    sums[group] = list(row) if known is None else list(map(add, known, row))


def _usage(record: RequestRecord) -> tuple[int, ...]:
    """Token counts in the order of `schema.TOKENS`."""
    usage = record.usage
    if usage is None:
        return _NOTHING
    return (
        usage.input + usage.image_input,
        usage.cached_input,
        usage.cache_write,
        usage.cache_write_long,
        usage.audio_input,
        usage.output + usage.image_output,
        usage.audio_output,
        usage.reasoning or 0,
    )


def _model(record: RequestRecord) -> str:
    """The model a request counts for: a name that a caller made up would make endless groups."""
    if record.answered_by is not None:
        name = record.answered_by
    else:
        name = "" if record.error == "model_not_found" else record.model
    return name.partition("?")[0].replace("\0", "")[:_NAME_LENGTH]


def _day(days: int) -> str:
    return date.fromordinal(_EPOCH + days).isoformat()
