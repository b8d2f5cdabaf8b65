"""What statements are made of: sums of the ledger, charges by hour and model, closed months."""

from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, func, insert, select

from zurelay.meter.wallets import REVENUE
from zurelay.store import schema
from zurelay.store.wallets import balance

_ENTRY = schema.entry.c
_TABLE = schema.statement


@dataclass(frozen=True, slots=True)
class ClosedMonth:
    """A month that is closed; `document` is the statement as JSON, `closing` in nano-dollars."""

    account: str
    month: str
    start_ms: int
    end_ms: int
    closing: int
    document: str
    created: int


@dataclass(frozen=True, slots=True)
class HourRow:
    """What one model cost in one hour; `hour` since 1970, `cost` in nano-dollars."""

    hour: int
    model: str
    requests: int
    tokens_in: int
    tokens_out: int
    cost: int


def close_month(connection: Connection, month: ClosedMonth) -> None:
    """Write it, for ever."""
    connection.execute(
        insert(_TABLE).values(
            account=month.account,
            month=month.month,
            start_ms=month.start_ms,
            end_ms=month.end_ms,
            closing=month.closing,
            document=month.document,
            created=month.created,
        )
    )


def closed_month(connection: Connection, account: str, month: str) -> ClosedMonth | None:
    """That month of an account, if it is closed."""
    query = select(_TABLE).where(_TABLE.c.account == account, _TABLE.c.month == month)
    row = connection.execute(query).mappings().first()
    return None if row is None else _closed(row)


def last_closed(connection: Connection, account: str) -> ClosedMonth | None:
    """The last month of an account that is closed."""
    query = select(_TABLE).where(_TABLE.c.account == account).order_by(_TABLE.c.month.desc())
    row = connection.execute(query.limit(1)).mappings().first()
    return None if row is None else _closed(row)


def first_entry_ms(connection: Connection, wallet: str) -> int | None:
    """When the first entry of a wallet was posted, in Unix milliseconds."""
    firsts = [
        connection.execute(select(func.min(_ENTRY.at_ms)).where(side == wallet)).scalar_one()
        for side in (_ENTRY.debit, _ENTRY.credit)
    ]
    return min((first for first in firsts if first is not None), default=None)


def balance_before(connection: Connection, wallet: str, end_ms: int) -> int:
    """Nano-dollars in a balance by all entries before a millisecond.

    Counted back from what is there now, so that it reads the entries since then alone.
    """
    now = balance(connection, wallet)
    gained = _sum(connection, _ENTRY.credit == wallet, _ENTRY.at_ms >= end_ms)
    given = _sum(connection, _ENTRY.debit == wallet, _ENTRY.at_ms >= end_ms)
    return now - gained + given


def charges_between(connection: Connection, wallet: str, start_ms: int, end_ms: int) -> int:
    """Nano-dollars that requests took from a balance."""
    return _sum(
        connection,
        _ENTRY.debit == wallet,
        _ENTRY.credit == REVENUE,
        _ENTRY.at_ms >= start_ms,
        _ENTRY.at_ms < end_ms,
    )


def charges_by_hour(
    connection: Connection,
    account: str,
    start_hour: int,
    end_hour: int,
    *,
    whole_days: bool = False,
) -> list[HourRow]:
    """What models cost an account in each hour, in order; the second hour exclusive.

    `whole_days`: both are midnights in UTC and days will do, which are far fewer rows to read; each
    then counts as its first hour.
    """
    table, unit = (schema.usage_day, 24) if whole_days else (schema.usage_hour, 1)
    columns = table.c
    time = columns.day if whole_days else columns.hour
    inputs = [columns[name] for name in schema.TOKENS if "input" in name or "write" in name]
    outputs = [columns[name] for name in schema.TOKENS if "output" in name]
    tokens = (sum(inputs[1:], inputs[0]), sum(outputs[1:], outputs[0]))
    sums = (columns.requests, *tokens, columns.cost)
    query = (
        select(time, columns.model, *(func.sum(one) for one in sums))
        .where(columns.account == account)
        .where(time >= start_hour // unit, time < end_hour // unit)
        .group_by(time, columns.model)
        .order_by(time, columns.model)
    )
    return [
        HourRow(int(when) * unit, model, *(int(number) for number in numbers))
        for when, model, *numbers in connection.execute(query)
    ]


def _sum(connection: Connection, *conditions: object) -> int:
    query = select(func.coalesce(func.sum(_ENTRY.amount), 0)).where(*conditions)  # type: ignore[arg-type]
    return int(connection.execute(query).scalar_one())


def _closed(row: RowMapping) -> ClosedMonth:
    return ClosedMonth(**row)
