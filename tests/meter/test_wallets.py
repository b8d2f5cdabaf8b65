from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.access.accounts import Account, Budget, Period
from zurelay.access.keys import Key
from zurelay.meter.wallets import account_of_balance, balance_of, period_at, purse_of, zone_of

AMSTERDAM = ZoneInfo("Europe/Amsterdam")


def at(text: str, zone: tzinfo = UTC) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def a_key(budget: Budget | None = None, owner: Account | None = None) -> Key:
    return Key("key_1", "alice", "acct_1", "team", b"", "abcd", 0, budget=budget, owner=owner)


@pytest.mark.parametrize(
    ("period", "now", "zone", "name", "since", "until"),
    [
        ("day", "2026-11-29T23:59:59", UTC, "2026-11-29", "2026-11-29", "2026-11-30"),
        ("day", "2026-11-29T00:00:00", AMSTERDAM, "2026-11-29", "2026-11-29", "2026-11-30"),
        # The day on which the clocks go back has 25 hours.
        ("day", "2026-10-25T12:00:00", AMSTERDAM, "2026-10-25", "2026-10-25", "2026-10-26"),
        ("week", "2026-11-29T12:00:00", UTC, "2026-W48", "2026-11-23", "2026-11-30"),
        ("week", "2027-01-01T12:00:00", UTC, "2026-W53", "2026-12-28", "2027-01-04"),
        ("month", "2026-12-31T23:00:00", UTC, "2026-12", "2026-12-01", "2027-01-01"),
        ("month", "2028-02-29T23:00:00", AMSTERDAM, "2028-02", "2028-02-01", "2028-03-01"),
    ],
)
def test_periods_are_those_of_the_calendar_in_their_zone(
    period: Period, now: str, zone: tzinfo, name: str, since: str, until: str
) -> None:
    assert period_at(period, at(now, zone), zone) == (name, at(since, zone), at(until, zone))


def test_a_total_never_ends() -> None:
    assert period_at("total", 1e9, UTC) == ("total", 0, float("inf"))


@given(
    st.floats(0, 4e9),
    st.sampled_from(["day", "week", "month"]),
    st.sampled_from(["UTC", "Europe/Amsterdam", "Asia/Kolkata", "America/St_Johns"]),
)
def test_periods_meet_without_gap_or_overlap(now: float, period: Period, zone: str) -> None:
    where = ZoneInfo(zone)
    name, since, until = period_at(period, now, where)
    assert since <= now < until
    assert period_at(period, since, where) == (name, since, until)
    following, start, _ = period_at(period, until, where)
    assert start == until
    assert following != name


def test_a_key_without_budget_pays_from_its_accounts_balance_alone() -> None:
    purse = purse_of(a_key(), 1e9, prepaid=False)
    (balance,) = purse.wallets
    assert (balance.id, balance.limited, balance.budget) == ("balance:acct_1", False, None)
    assert (purse.limited, purse.until) == (False, float("inf"))


@pytest.mark.parametrize(
    ("configured", "own", "limited"),
    [(False, None, False), (True, None, True), (False, True, True), (True, False, False)],
)
def test_an_accounts_own_terms_decide_whether_it_needs_a_balance(
    configured: bool, own: bool | None, limited: bool
) -> None:
    owner = Account("acct_1", "team", 0, prepaid=own)
    purse = purse_of(a_key(owner=owner), 1e9, prepaid=configured)
    assert purse.limited is purse.wallets[0].limited is limited


def test_budgets_of_account_and_key_are_wallets_of_their_own_in_the_accounts_zone() -> None:
    now = at("2026-11-30T23:30:00")  # December has begun in Amsterdam
    owner = Account("acct_1", "team", 0, budget=Budget(5 * 10**9, "month"), zone="Europe/Amsterdam")
    purse = purse_of(a_key(Budget(10**9, "day"), owner), now, prepaid=False)
    assert [(w.id, w.budget, w.limited) for w in purse.wallets] == [
        ("balance:acct_1", None, False),
        ("budget:acct_1:2026-12", 5 * 10**9, True),
        ("budget:key_1:2026-12-01", 10**9, True),
    ]
    assert purse.limited
    assert purse.until == at("2026-12-02", AMSTERDAM)


def test_a_zone_that_is_gone_is_utc() -> None:
    assert zone_of(Account("acct_1", "team", 0, zone="Atlantis/Poseidonis")) is UTC
    assert zone_of(Account("acct_1", "team", 0, zone="../etc/passwd")) is UTC
    assert zone_of(None).utcoffset(None) in (None, timedelta())
    assert str(zone_of(None, "Europe/Brussels")) == "Europe/Brussels"


def test_a_balance_names_its_account() -> None:
    assert account_of_balance(balance_of("acct_1")) == "acct_1"
    assert account_of_balance("budget:acct_1:total") is None
