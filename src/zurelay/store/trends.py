"""Usage over time by group, from the sums of hours and days; and samples of how fast answers began.

Reads a few rows for each step of a chart, however long the log is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
from sqlalchemy import ColumnElement, Connection, func, literal, select

from zurelay.store import schema

Group = Literal["model", "key", "account", "none"]

_HOURS, _DAYS, _LOG = schema.usage_hour, schema.usage_day, schema.request
_PROVIDERS = schema.usage_provider_hour
_LABELS = {"model": "model", "key": "api_key", "account": "account"}
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class TrendRow:
    """Sums over a step of time and a group.

    Attributes:
        hour: hours since 1970 at which the step begins.
        group: id of a model, key or account; empty where nothing was grouped.
        cost: nano-dollars.
        tokens: by class of `schema.TOKENS`, in that order.
    """

    hour: int
    group: str
    requests: int
    errors: int
    cost: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ProviderHour:
    """Attempts at a provider in an hour since 1970: how many were answered, how many not."""

    hour: int
    provider: str
    answered: int
    failed: int


@dataclass(frozen=True, slots=True)
class Sample:
    """How an answer came. Times in milliseconds since its request came; None where unknown."""

    at_ms: int
    model: str
    key: str
    account: str
    first_token_ms: float | None
    duration_ms: float | None


class _Times(msgspec.Struct):
    first_token_ms: float | None = None
    duration_ms: float | None = None


_decode = msgspec.json.Decoder(_Times).decode


def usage_trend(
    connection: Connection,
    by: Group,
    since: int,
    until: int,
    step: int,
    account: str | None = None,
    key: str | None = None,
) -> list[TrendRow]:
    """Usage by step and group, in order of time.

    Args:
        connection: where to read.
        by: what to tell apart.
        since: hours since 1970; a multiple of `step`.
        until: the same, exclusive.
        step: hours; from 24 on a multiple of it, in days of UTC.
        account: only of this account id.
        key: only of this key id.
    """
    daily = step >= 24
    table = _DAYS if daily else _HOURS
    unit = 24 if daily else 1
    time = table.columns[0]
    width = step // unit
    begins = (time - time % width).label("begins")
    label: ColumnElement[str] = literal("") if by == "none" else table.c[_LABELS[by]]
    group = label.label("label")
    sums = [func.sum(table.c[name]) for name in ("requests", "errors", "cost", *schema.TOKENS)]
    query = (
        select(begins, group, *sums)
        .where(time >= since // unit, time < until // unit)
        .group_by(begins, group)
        .order_by(begins, group)
    )
    if account is not None:
        query = query.where(table.c.account == account)
    if key is not None:
        query = query.where(table.c.api_key == key)
    return [
        TrendRow(
            int(row[0]) * unit,
            row[1],
            int(row[2]),
            int(row[3]),
            int(row[4]),
            tuple(int(value) for value in row[5:]),
        )
        for row in connection.execute(query)
    ]


def provider_hours(connection: Connection, since: int, until: int) -> list[ProviderHour]:
    """Attempts by hour and provider, in order; hours since 1970, the last one excluded."""
    hour, name = _PROVIDERS.c.hour, _PROVIDERS.c.provider
    query = (
        select(hour, name, func.sum(_PROVIDERS.c.requests), func.sum(_PROVIDERS.c.failed))
        .where(hour >= since, hour < until)
        .group_by(hour, name)
        .order_by(hour, name)
    )
    return [
        ProviderHour(int(row[0]), row[1], int(row[2]), int(row[3]))
        for row in connection.execute(query)
    ]


def samples(
    connection: Connection,
    steps: Sequence[int],
    step: int,
    most: int,
    account: str | None = None,
    key: str | None = None,
) -> list[Sample]:
    """The newest answers of each step, at most `most` of each; `steps` begin at these hours."""
    found: list[Sample] = []
    for hour in steps:
        query = (
            select(
                _LOG.c.at_ms,
                _LOG.c.answered_by,
                _LOG.c.api_key,
                _LOG.c.account,
                _LOG.c.record,
            )
            .where(_LOG.c.at_ms >= hour * _HOUR_MS, _LOG.c.at_ms < (hour + step) * _HOUR_MS)
            .order_by(_LOG.c.at_ms.desc())
            .limit(most)
        )
        if account is not None:
            query = query.where(_LOG.c.account == account)
        if key is not None:
            query = query.where(_LOG.c.api_key == key)
        for row in connection.execute(query):
            times = _decode(row.record)
            found.append(
                Sample(
                    row.at_ms,
                    row.answered_by or "",
                    row.api_key,
                    row.account,
                    times.first_token_ms,
                    times.duration_ms,
                )
            )
    return found
