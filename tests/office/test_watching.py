from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from tests.office.people import ACCOUNT, NOON, OWNER
from tests.office.spending import USD, spend
from tests.store.rows import Clock, a_key
from zurelay.access.keys import Key
from zurelay.office import watching
from zurelay.office.accounts import AccountChange, change_account, get_account
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.keys import KeyChange, change_key
from zurelay.office.money import Payment, credit
from zurelay.office.telling import Recipients
from zurelay.office.values import BudgetForm
from zurelay.office.watching import LAPSE_S, Sighting, end_gone, raise_seen, raise_spending
from zurelay.store.alerts import Alert, Target, list_alerts, set_target
from zurelay.store.keys import add_key, find_key
from zurelay.store.outbox import claim

DAY = 86_400.0
HOOK = "https://hooks.example.com/a"
DOWN = Sighting("route_down", "openai:gpt-6-sol", {"route": "openai:gpt-6-sol"})
NOBODY = Recipients()


@pytest.fixture
def key(desk: Desk) -> Key:
    """A key with a budget of 10 dollars a day."""
    with desk.store.write() as connection:
        add_key(connection, a_key())
    return budgeted(desk, "10")


def budgeted(desk: Desk, usd: str | None, period: str = "day", wanted: str = "key 1") -> Key:
    form = None if usd is None else msgspec.convert({"usd": usd, "period": period}, BudgetForm)
    with desk.store.read() as connection:
        id_ = find_key(connection, wanted).id
    change_key(desk, OWNER, id_, KeyChange(budget=form))
    with desk.store.read() as connection:
        return find_key(connection, id_)


def alerts(desk: Desk) -> list[Alert]:
    """All of them, oldest first."""
    now = int(desk.clock() * 1000)
    with desk.store.read() as connection:
        return list_alerts(connection, None, now, limit=1000)[::-1]


def levels(desk: Desk) -> list[int]:
    """What was told; the test's clock may stand still."""
    return sorted(detail(one)["level"] for one in alerts(desk))


def detail(alert: Alert) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(alert.detail)
    return found


def told(desk: Desk) -> list[dict[str, Any]]:
    """What webhooks wait with."""
    with desk.store.write() as connection:
        now = int(desk.clock() * 1000)
        return [
            msgspec.json.decode(one.body)
            for one in claim(connection, now, now + 1000, ["webhook"], 100)
        ]


def hooked(desk: Desk) -> None:
    with desk.store.write() as connection:
        set_target(connection, Target(ACCOUNT.id, (), HOOK, "whsec_YWJj", 0))


def test_each_level_is_told_once_when_it_is_reached(desk: Desk, key: Key) -> None:
    hooked(desk)
    spend(desk, key, str(5 * USD - 1))
    assert raise_spending(desk) == 0
    spend(desk, key, "1")  # exactly half of it
    assert raise_spending(desk) == 1
    assert raise_spending(desk) == 0
    spend(desk, key, 3)  # exactly four fifths
    assert raise_spending(desk) == 1
    spend(desk, key, str(2 * USD - 1))
    assert raise_spending(desk) == 0
    spend(desk, key, "1")
    assert raise_spending(desk) == 1
    assert levels(desk) == [50, 80, 100]
    (first, *_, last) = told(desk)
    assert first["type"] == "budget.reached"
    assert first["created"] == "2026-11-29T12:00:00Z"
    assert first["data"] == {
        "account": ACCOUNT.id,
        "level": 50,
        "period": "2026-11-29",
        "key": key.id,
        "budget": "10",
        "spent": "5",
        "currency": "USD",
    }
    assert (last["data"]["level"], last["data"]["spent"]) == (100, "10")
    assert first["id"] != last["id"]


def test_of_several_levels_at_once_the_highest_is_told(desk: Desk, key: Key) -> None:
    spend(desk, key, 9)
    assert raise_spending(desk) == 1
    assert levels(desk) == [80]
    assert raise_spending(desk) == 0  # nor the lower one afterwards


def test_what_the_console_shows_as_spent_is_what_is_told(desk: Desk, key: Key) -> None:
    change_account(desk, OWNER, ACCOUNT.id, AccountChange(budget=BudgetForm("10", "month")))
    spend(desk, budgeted(desk, None), 7)
    with desk.store.read() as connection:
        owner = find_key(connection, key.id)
    spend(desk, owner, 1, node="n2")
    assert raise_spending(desk) == 1
    (alert,) = alerts(desk)
    shown = get_account(desk, OWNER, ACCOUNT.id)
    assert shown.budget_left_usd is not None
    assert Decimal(detail(alert)["spent"]) == 10 - Decimal(shown.budget_left_usd) == 8
    assert (detail(alert)["key"], detail(alert)["level"]) == (None, 80)


def test_another_period_is_another_happening(desk: Desk, key: Key, clock: Clock) -> None:
    spend(desk, key, 6)
    assert raise_spending(desk) == 1
    (first,) = alerts(desk)
    assert first.ended_ms == int((NOON + DAY / 2) * 1000)  # midnight in UTC
    clock.now += DAY
    assert raise_spending(desk) == 0
    spend(desk, key, 6)
    assert raise_spending(desk) == 1
    assert [detail(one)["period"] for one in alerts(desk)] == ["2026-11-29", "2026-11-30"]


def test_the_period_is_the_one_of_the_accounts_zone(desk: Desk, key: Key, clock: Clock) -> None:
    change_account(desk, OWNER, ACCOUNT.id, AccountChange(zone="Pacific/Auckland"))
    key = budgeted(desk, "10")
    spend(desk, key, 6)
    assert raise_spending(desk) == 1
    assert detail(alerts(desk)[0])["period"] == "2026-11-30"  # 01:00 there


@pytest.mark.parametrize("period", ["day", "week", "month", "total"])
def test_budgets_of_every_period_count(desk: Desk, key: Key, period: str) -> None:
    spend(desk, budgeted(desk, "4", period), 2)
    assert raise_spending(desk) == 1
    assert levels(desk) == [50]


def test_a_budget_that_was_changed_is_told_of_anew(desk: Desk, key: Key) -> None:
    spend(desk, key, 10)
    assert raise_spending(desk) == 1
    budgeted(desk, "20")
    (old,) = alerts(desk)
    assert old.ended_ms == int(NOON * 1000)
    assert raise_spending(desk) == 1
    budgeted(desk, "10")  # as it was: of that budget all was told
    assert raise_spending(desk) == 0
    assert levels(desk) == [50, 100]


def test_a_budget_that_is_changed_again_and_again_is_no_way_to_flood_somebody(
    desk: Desk, key: Key, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_MAILS", 4)
    desk = replace(desk, letters=lambda: Letterhead("https://ai.example.com", "Acme", ""))
    two = Target(ACCOUNT.id, ("a@example.com", "b@example.com"), HOOK, "", 0)
    with desk.store.write() as connection:
        set_target(connection, two)
    spend(desk, key, 6)

    def again(times: int) -> int:
        with desk.store.read() as connection:
            size = 9 - len(list_alerts(connection, None, 0, limit=1000)) / 100
        for number in range(times):
            budgeted(desk, f"{size - number / 100:.2f}")
            assert raise_spending(desk) == 1
        with desk.store.write() as connection:
            found = claim(connection, int(NOON * 1000) * 2, int(NOON * 1000) * 3, ["mail"], 100)
        return len(found)

    assert again(4) == 4
    assert len(told(desk)) == 4
    clock.now += DAY + 1
    spend(desk, key, 6)
    assert again(1) == 2


def test_a_budget_that_was_taken_away_and_a_key_that_was_revoked_are_no_matter(
    desk: Desk, key: Key
) -> None:
    spend(desk, key, 9)
    budgeted(desk, None)
    assert raise_spending(desk) == 0


def test_a_higher_level_ends_the_lower_one(desk: Desk, key: Key, clock: Clock) -> None:
    spend(desk, key, 5)
    raise_spending(desk)
    clock.now += 60
    spend(desk, key, 3)
    raise_spending(desk)
    first, second = alerts(desk)
    assert first.ended_ms == int(clock.now * 1000)
    assert second.ended_ms is not None
    assert second.ended_ms > int(clock.now * 1000)


def test_two_that_lead_at_once_tell_once(desk: Desk, key: Key) -> None:
    hooked(desk)
    spend(desk, key, 9)
    now = desk.clock()
    with desk.store.read() as connection:  # both have seen it before either has told
        ends = watching._running(desk, connection, now)
        found = watching._used_up(desk, connection, ends, now)
    assert len(found) == 1
    for expected in (True, False):
        with desk.store.write() as connection:
            assert watching._raise(desk, connection, found[0], None, now) is expected
    assert len(told(desk)) == 1
    (alert,) = alerts(desk)
    assert alert.ended_ms is None  # the second one has ended nothing


def paid(desk: Desk, usd: str, ref: str) -> None:
    credit(desk, OWNER, ACCOUNT.id, Payment(usd, ref))


def test_a_balance_is_told_of_by_its_share_of_the_last_credit(desk: Desk, clock: Clock) -> None:
    desk = replace(desk, prepaid=lambda: True)
    hooked(desk)
    with desk.store.write() as connection:
        add_key(connection, a_key())
        key = find_key(connection, a_key().id)
    paid(desk, "10", "one")
    spend(desk, key, str(5 * USD - 1))
    assert raise_spending(desk) == 0
    spend(desk, key, "1")
    assert raise_spending(desk) == 1
    clock.now += 1
    paid(desk, "5", "two")  # 10 again: it counts from there
    assert alerts(desk)[0].ended_ms == int(clock.now * 1000)
    assert raise_spending(desk) == 0
    spend(desk, key, 5)
    assert raise_spending(desk) == 1  # the same share of the same amount, another payment
    spend(desk, key, 6)
    assert raise_spending(desk) == 1
    assert levels(desk) == [50, 50, 100]
    first, _, last = told(desk)
    assert first["type"] == "balance.reached"
    assert first["data"] == {
        "account": ACCOUNT.id,
        "level": 50,
        "credit": "10",
        "left": "5",
        "currency": "USD",
    }
    assert last["data"]["left"] == "-1"


def test_a_balance_is_no_matter_where_none_is_needed(desk: Desk) -> None:
    with desk.store.write() as connection:
        add_key(connection, a_key())
        key = find_key(connection, a_key().id)
    paid(desk, "10", "one")
    spend(desk, key, 10)
    assert raise_spending(desk) == 0


# What nodes see.


def test_what_several_nodes_see_is_raised_once_and_over_when_none_sees_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(watching, "database_time", lambda _: clock.now)
    to = Recipients((), HOOK, "whsec_YWJj")
    assert len(raise_seen(desk, [DOWN], to)) == 1
    clock.now += 30
    assert raise_seen(desk, [DOWN], to) == []  # another node
    assert end_gone(desk, to) == []
    clock.now += LAPSE_S  # the last sight is that old
    assert end_gone(desk, to) == []
    clock.now += 1
    assert len(end_gone(desk, to)) == 1
    assert end_gone(desk, to) == []
    begun, over = told(desk)
    assert (begun["type"], over["type"]) == ("alert.raised", "alert.ended")
    assert begun["id"] == over["id"]
    assert begun["data"]["kind"] == "route_down"
    assert over["data"]["ended"] == "2026-11-29T12:02:11Z"
    assert len(raise_seen(desk, [DOWN], to)) == 1  # a happening of its own
    assert len({one.event for one in alerts(desk)}) == 2


def test_nobody_is_told_where_nobody_is_named_and_it_shows_all_the_same(desk: Desk) -> None:
    assert len(raise_seen(desk, [DOWN], NOBODY)) == 1
    assert told(desk) == []
    assert [one.kind for one in alerts(desk)] == ["route_down"]


def test_a_name_of_any_length_names_its_own_happening(desk: Desk) -> None:
    long = [Sighting("route_down", "x" * 400 + end, {"route": end}) for end in ("a", "b")]
    assert len(raise_seen(desk, long, NOBODY)) == 2
    assert raise_seen(desk, long, NOBODY) == []
