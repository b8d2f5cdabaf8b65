"""Monthly statements of accounts: what was there, came in, went out, and is left.

A month begins and ends in its account's time zone. An hour after its end it is closed: kept as it
is given then, for ever. What is posted later although it was used earlier, because a node could
not reach the database, stands in the next statement as `late`.
"""

import re
from datetime import UTC, datetime, tzinfo
from typing import Final

import msgspec
from msgspec import Struct
from sqlalchemy import Connection

from zurelay.access.accounts import Account
from zurelay.catalogue.money import format_usd, parse_usd
from zurelay.meter.wallets import balance_of, zone_of
from zurelay.office import sheets
from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk, no_such, wrong
from zurelay.office.months import month_at, shifted, start_of, through
from zurelay.office.rights import Actor
from zurelay.store.statements import (
    ClosedMonth,
    balance_before,
    charges_between,
    charges_by_hour,
    close_month,
    closed_month,
    first_entry_ms,
    last_closed,
)
from zurelay.store.transfers import transfers_between

CLOSES_S: Final = 3600
"""How long after its end a month is closed."""

_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])", re.ASCII)
_HOUR_MS = 3_600_000


class ChargeLine(Struct):
    """What one model cost on one day, in the account's time zone; days hold whole hours (UTC)."""

    day: str
    model: str
    requests: int
    tokens_in: int
    tokens_out: int
    amount_usd: str


class TransferLine(Struct):
    """Money that was moved; `amount_usd` is what the balance gained."""

    created: str
    kind: str
    amount_usd: str
    ref: str
    note: str
    request: str | None


class Statement(Struct):
    """A month of an account.

    `opening_usd` + `late_usd` + `credits_usd` - `debits_usd` + `refunds_usd` - `charges_usd` is
    `closing_usd`, to the nano-dollar. `charges_usd` is the sum of `lines` and `other_usd`: what the
    account did not pay of them, or what stands in another day's hours. A statement that is not
    `closed` still changes.
    """

    account: str
    name: str
    month: str
    zone: str
    start: str
    end: str
    closed: bool
    opening_usd: str
    late_usd: str
    credits_usd: str
    debits_usd: str
    refunds_usd: str
    charges_usd: str
    other_usd: str
    closing_usd: str
    lines: list[ChargeLine]
    transfers: list[TransferLine]


class MonthView(Struct):
    """A month that has a statement."""

    month: str
    closed: bool


def statement(desk: Desk, actor: Actor, wanted: str, month: str) -> Statement:
    """The statement of a month such as `2026-12`; closes what is to be closed.

    Raises:
        Refused: 400, 403; 404 for an account or month that there is none of.
    """
    if not _MONTH.fullmatch(month):
        raise wrong("month", "month: write a month such as 2026-12.")
    with desk.read(actor, "money.read") as connection:
        account = the_account(connection, actor, wanted)
        kept = closed_month(connection, account.id, month)
        first = _first_month(desk, connection, account)
    if kept is not None:
        return msgspec.json.decode(kept.document, type=Statement)
    if not first <= month <= month_at(desk.clock(), zone_of(account, desk.zone())):
        raise no_such("statement of", month)
    _close(desk, account, first, month)
    with desk.store.read() as connection:
        kept = closed_month(connection, account.id, month)
        last = last_closed(connection, account.id)
        if kept is None and (last is None or month > last.month):
            return _made(desk, connection, account, month)
    if kept is None:
        raise no_such("statement of", month)
    return msgspec.json.decode(kept.document, type=Statement)


def list_months(desk: Desk, actor: Actor, wanted: str) -> list[MonthView]:
    """The months of an account, newest first. Raises Refused: 403, 404."""
    with desk.read(actor, "money.read") as connection:
        account = the_account(connection, actor, wanted)
        zone = zone_of(account, desk.zone())
        first = _first_month(desk, connection, account)
    now = desk.clock()
    months = through(first, month_at(now, zone))
    return [
        MonthView(month, start_of(shifted(month), zone) + CLOSES_S <= now)
        for month in reversed(list(months))
    ]


def statement_csv(made: Statement) -> str:
    """A statement as CSV: the amounts from the first row to the last but one sum to the last."""
    rows: list[tuple[object, ...]] = [
        ("day", "kind", "model", "requests", "tokens_in", "tokens_out", "amount_usd", "ref", "note")
    ]

    def add(day: str, kind: str, amount: str, ref: str = "", note: str = "") -> None:
        rows.append((day, kind, "", "", "", "", amount, sheets.text(ref), sheets.text(note)))

    add(made.start[:10], "opening", made.opening_usd)
    add(made.start[:10], "late", made.late_usd)
    for moved in made.transfers:
        add(moved.created, moved.kind, moved.amount_usd, moved.ref, moved.note)
    for line in made.lines:
        counts = (line.requests, line.tokens_in, line.tokens_out)
        amount = _minus(line.amount_usd)
        rows.append((line.day, "charge", sheets.text(line.model), *counts, amount, "", ""))
    add(made.end[:10], "other", _minus(made.other_usd))
    add(made.end[:10], "closing", made.closing_usd)
    return sheets.csv_lines(rows)


# Our own.


def _close(desk: Desk, account: Account, first: str, month: str) -> None:
    """Close every month up to that one that is to be closed.

    It comes to the same whoever looks first: nobody's change, and not in the audit log.
    """
    now, zone = desk.clock(), zone_of(account, desk.zone())

    def due(last: ClosedMonth | None) -> list[str]:
        begin = first if last is None else max(first, shifted(last.month))
        return [
            one for one in through(begin, month) if start_of(shifted(one), zone) + CLOSES_S <= now
        ]

    with desk.store.read() as connection:
        if not due(last_closed(connection, account.id)):
            return
    with desk.store.write() as connection:
        for each in due(last_closed(connection, account.id)):
            made = _made(desk, connection, account, each)
            close_month(connection, _closed(made, account.id, int(now)))


def _closed(made: Statement, account: str, now: int) -> ClosedMonth:
    start, end = (datetime.fromisoformat(one) for one in (made.start, made.end))
    return ClosedMonth(
        account,
        made.month,
        int(start.timestamp() * 1000),
        int(end.timestamp() * 1000),
        _nano(made.closing_usd),
        msgspec.json.encode(made).decode(),
        now,
    )


def _made(desk: Desk, connection: Connection, account: Account, month: str) -> Statement:
    """The statement of a month that is not closed."""
    zone = zone_of(account, desk.zone())
    previous = last_closed(connection, account.id)
    if previous is not None and shifted(previous.month) != month:
        previous = None  # the month between is over, and not closed yet
    end_ms = int(start_of(shifted(month), zone) * 1000)
    # Where the last month ended this one begins, whatever the zone was then.
    start_ms = int(start_of(month, zone) * 1000) if previous is None else previous.end_ms
    wallet = balance_of(account.id)
    before = balance_before(connection, wallet, start_ms)
    opening = before if previous is None else previous.closing
    charges = charges_between(connection, wallet, start_ms, end_ms)
    lines, listed = _lines(connection, account.id, start_ms, end_ms, zone)
    moved = transfers_between(connection, account.id, start_ms, end_ms)
    sums = {
        kind: sum(one.amount for one in moved if one.kind == kind)
        for kind in ("credit", "debit", "refund")
    }
    closing = before + sum(sums.values()) - charges
    return Statement(
        account=account.id,
        name=account.name,
        month=month,
        zone=str(zone),
        start=_iso(start_ms, zone),
        end=_iso(end_ms, zone),
        closed=desk.clock() >= end_ms / 1000 + CLOSES_S,
        opening_usd=format_usd(opening),
        late_usd=format_usd(before - opening),
        credits_usd=format_usd(sums["credit"]),
        debits_usd=format_usd(-sums["debit"]),
        refunds_usd=format_usd(sums["refund"]),
        charges_usd=format_usd(charges),
        other_usd=format_usd(charges - listed),
        closing_usd=format_usd(closing),
        lines=lines,
        transfers=[
            TransferLine(
                v.iso_of(one.at_ms / 1000),
                one.kind,
                format_usd(one.amount),
                one.ref,
                one.note,
                one.request,
            )
            for one in moved
        ],
    )


def _lines(
    connection: Connection, account: str, start_ms: int, end_ms: int, zone: tzinfo
) -> tuple[list[ChargeLine], int]:
    """Charges by day and model, and their sum in nano-dollars."""
    sums: dict[tuple[str, str], list[int]] = {}
    first, end = -(-start_ms // _HOUR_MS), -(-end_ms // _HOUR_MS)
    whole_days = str(zone) == "UTC" and not (first % 24 or end % 24)
    for row in charges_by_hour(connection, account, first, end, whole_days=whole_days):
        day = datetime.fromtimestamp(row.hour * 3600, zone).date().isoformat()
        line = sums.setdefault((day, row.model), [0, 0, 0, 0])
        for place, number in enumerate((row.requests, row.tokens_in, row.tokens_out, row.cost)):
            line[place] += number
    lines = [
        ChargeLine(day, model, requests, tokens_in, tokens_out, format_usd(cost))
        for (day, model), (requests, tokens_in, tokens_out, cost) in sorted(sums.items())
    ]
    return lines, sum(line[3] for line in sums.values())


def _first_month(desk: Desk, connection: Connection, account: Account) -> str:
    """The month an account's first statement is of: that of its first entry, or the present one."""
    entry = first_entry_ms(connection, balance_of(account.id))
    began = desk.clock() if entry is None else entry / 1000
    return month_at(began, zone_of(account, desk.zone()))


def _iso(ms: int, zone: tzinfo) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone(zone).isoformat()


def _nano(amount: str) -> int:
    """The nano-dollars of an amount with a sign."""
    found = parse_usd(amount.removeprefix("-"))
    return -found if amount.startswith("-") else found


def _minus(amount: str) -> str:
    if amount == "0":
        return amount
    return amount.removeprefix("-") if amount.startswith("-") else f"-{amount}"
