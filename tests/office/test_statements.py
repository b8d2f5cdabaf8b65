import csv
import io
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from tests.office.people import ACCOUNT, ADMIN, MEMBER, OWNER, READER, STRANGER, refusal
from tests.store.rows import Clock, a_record, entry
from zurelay.meter.wallets import balance_of
from zurelay.office.accounts import AccountChange, change_account, get_account
from zurelay.office.desk import Desk
from zurelay.office.money import Payment, RefundForm, credit, debit, refund
from zurelay.office.statements import Statement, list_months, statement, statement_csv
from zurelay.store import schema
from zurelay.store.engine import Store
from zurelay.store.requests import add_requests
from zurelay.store.wallets import post

WALLET = balance_of(ACCOUNT.id)


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.fixture(autouse=True)
def began(desk: Desk, clock: Clock) -> None:
    """The account is of October."""
    clock.now = at("2026-10-05T00:00")
    with desk.store.write() as connection:
        connection.execute(schema.account.update().values(created=int(clock.now)))


class ReadOnly:
    """A store that is never written."""

    def __init__(self, store: Store) -> None:
        self.read = store.read

    def write(self) -> None:
        raise AssertionError


def used(desk: Desk, moment: float, cost: int, paid: int | None = None, model: str = "m") -> str:
    """A request that began at that moment, posted whenever this is called."""
    share = cost if paid is None else paid
    record = a_record(moment, cost=cost, answered_by=model, postings={WALLET: share})
    with desk.store.write() as connection:
        add_requests(connection, [entry(record)])
        post(connection, "node", [record])
    return record.id


def adds_up(made: Statement) -> bool:
    """The promise of its description, and of its CSV."""
    value = {n: Decimal(getattr(made, f"{n}_usd")) for n in (
        "opening", "late", "credits", "debits", "refunds", "charges", "other", "closing"
    )}  # fmt: skip
    total = value["opening"] + value["late"] + value["credits"] - value["debits"]
    total += value["refunds"] - value["charges"]
    lines = sum((Decimal(line.amount_usd) for line in made.lines), Decimal(0))
    rows = list(csv.DictReader(io.StringIO(statement_csv(made))))
    amounts = [Decimal(row["amount_usd"]) for row in rows]
    return (
        total == value["closing"] == amounts[-1] == sum(amounts[:-1])
        and lines + value["other"] == value["charges"]
    )


def test_a_month_tells_what_was_there_came_in_went_out_and_is_left(
    desk: Desk, clock: Clock
) -> None:
    clock.now = at("2026-10-10T00:00")
    credit(desk, ADMIN, "default", Payment("10", "in", "=note"))
    id_ = used(desk, at("2026-10-11T08:00"), 2_000_000_000)
    used(desk, at("2026-10-11T09:00"), 500_000_000)
    used(desk, at("2026-10-12T09:00"), 1, model="cheap")
    clock.now = at("2026-10-20T00:00")
    refund(desk, ADMIN, id_, RefundForm("1.5"))
    debit(desk, ADMIN, "default", Payment("3", "out"))
    made = statement(desk, READER, "default", "2026-10")
    assert not made.closed
    assert (made.opening_usd, made.late_usd, made.credits_usd) == ("0", "0", "10")
    assert (made.debits_usd, made.refunds_usd, made.charges_usd) == ("3", "1.5", "2.500000001")
    assert made.closing_usd == "5.999999999" == get_account(desk, OWNER, "default").balance_usd
    assert [(line.day, line.model, line.amount_usd) for line in made.lines] == [
        ("2026-10-11", "m", "2.5"),
        ("2026-10-12", "cheap", "0.000000001"),
    ]
    assert (made.lines[0].requests, made.lines[0].tokens_in) == (2, 220)
    assert [one.kind for one in made.transfers] == ["credit", "refund", "debit"]
    assert adds_up(made)
    assert "'=note" in statement_csv(made)


def test_the_next_month_opens_with_what_was_left(desk: Desk, clock: Clock) -> None:
    credit(desk, ADMIN, "default", Payment("10", "in"))
    used(desk, at("2026-10-31T23:59:59"), 1_000_000_000)
    used(desk, at("2026-11-01T00:00:00"), 2_000_000_000)
    clock.now = at("2026-11-02T00:00")
    november = statement(desk, READER, "default", "2026-11")
    assert (november.opening_usd, november.charges_usd, november.closing_usd) == ("9", "2", "7")
    october = statement(desk, READER, "default", "2026-10")
    assert (october.closed, october.closing_usd) == (True, "9")
    assert adds_up(october)
    assert adds_up(november)
    assert [(one.month, one.closed) for one in list_months(desk, READER, "default")] == [
        ("2026-11", False),
        ("2026-10", True),
    ]


def test_a_closed_month_never_changes_and_what_comes_late_is_told(desk: Desk, clock: Clock) -> None:
    used(desk, at("2026-10-31T12:00"), 1_000_000_000)
    clock.now = at("2026-11-01T00:59:59")
    assert not statement(desk, READER, "default", "2026-10").closed
    clock.now += 1
    october = statement(desk, READER, "default", "2026-10")
    assert october.closed
    used(desk, at("2026-10-31T13:00"), 250_000_000)  # a node had it all along
    assert statement(desk, READER, "default", "2026-10") == october
    november = statement(desk, READER, "default", "2026-11")
    assert (november.opening_usd, november.late_usd) == ("-1", "-0.25")
    assert november.closing_usd == "-1.25" == get_account(desk, OWNER, "default").balance_usd
    assert adds_up(november)
    change_account(desk, OWNER, "default", AccountChange(name="other", zone="Asia/Tokyo"))
    assert statement(desk, READER, "other", "2026-10") == october


def test_a_month_that_is_over_and_not_closed_yet_is_not_counted_into_the_next(
    desk: Desk, clock: Clock
) -> None:
    used(desk, at("2026-10-31T12:00"), 1_000_000_000)
    used(desk, at("2026-11-30T12:00"), 2_000_000_000)
    used(desk, at("2026-12-01T00:10"), 4_000_000_000)
    clock.now = at("2026-11-10T00:00")
    assert statement(desk, READER, "default", "2026-10").closed
    clock.now = at("2026-12-01T00:30")
    november = statement(desk, READER, "default", "2026-11")
    assert (november.closed, november.charges_usd, november.closing_usd) == (False, "2", "-3")
    december = statement(desk, READER, "default", "2026-12")
    assert (december.start, december.opening_usd) == ("2026-12-01T00:00:00+00:00", "-3")
    assert (december.charges_usd, december.closing_usd) == ("4", "-7")
    assert adds_up(november)
    assert adds_up(december)


def test_looking_at_a_month_that_runs_writes_nothing(desk: Desk, clock: Clock) -> None:
    used(desk, at("2026-10-31T12:00"), 1)
    reading = replace(desk, store=ReadOnly(desk.store))  # type: ignore[arg-type]
    assert statement(reading, READER, "default", "2026-10").charges_usd == "0.000000001"


def test_months_begin_and_end_in_the_accounts_zone(desk: Desk, clock: Clock) -> None:
    change_account(desk, OWNER, "default", AccountChange(zone="Europe/Brussels"))
    used(desk, at("2026-10-31T23:30", "Europe/Brussels"), 1)
    used(desk, at("2026-11-01T00:30", "Europe/Brussels"), 2)  # in UTC it is October still
    clock.now = at("2026-11-20T00:00")
    october = statement(desk, READER, "default", "2026-10")
    assert (october.charges_usd, october.end) == ("0.000000001", "2026-11-01T00:00:00+01:00")
    november = statement(desk, READER, "default", "2026-11")
    assert [line.day for line in november.lines] == ["2026-11-01"]
    assert november.charges_usd == "0.000000002"


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati", "Asia/Kolkata"])
def test_no_charge_is_lost_or_doubled_when_the_zone_changes(
    desk: Desk, clock: Clock, zone: str
) -> None:
    for hours in range(-30, 31):
        used(desk, at("2026-11-01T00:00") + hours * 3600, 1)
    clock.now = at("2026-11-01T01:00")
    october = statement(desk, READER, "default", "2026-10")
    assert october.closed
    change_account(desk, OWNER, "default", AccountChange(zone=zone))
    clock.now = at("2026-12-15T00:00")
    november = statement(desk, READER, "default", "2026-11")
    assert (
        november.start
        == datetime.fromtimestamp(at("2026-11-01T00:00"), UTC)
        .astimezone(ZoneInfo(zone))
        .isoformat()
    )
    assert Decimal(october.charges_usd) + Decimal(november.charges_usd) == Decimal("0.000000061")
    assert adds_up(november)


def test_what_the_account_did_not_pay_is_no_charge(desk: Desk, clock: Clock) -> None:
    used(desk, at("2026-10-10T12:00"), 100, paid=70)
    made = statement(desk, READER, "default", "2026-10")
    assert (made.charges_usd, made.other_usd) == ("0.00000007", "-0.00000003")
    assert adds_up(made)


def test_months_that_cannot_be_are_told(desk: Desk) -> None:
    for month in ("2026-9", "2026-13", "october"):
        assert refusal(statement, desk, READER, "default", month).param == "month"
    for month in ("2026-09", "2026-11"):
        assert refusal(statement, desk, READER, "default", month).status == 404
    assert refusal(statement, desk, READER, "nobody", "2026-10").status == 404
    assert statement(desk, MEMBER, ACCOUNT.id, "2026-10").closing_usd == "0"
    assert refusal(statement, desk, STRANGER, "default", "2026-10").status == 404
    assert refusal(list_months, desk, STRANGER, "default").status == 404
