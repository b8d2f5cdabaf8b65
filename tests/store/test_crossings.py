from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from tests.store.rows import ACCOUNT, NOON, a_key
from zurelay.access.accounts import Budget, Period
from zurelay.store.alerts import Alert, add_alert
from zurelay.store.crossings import Crossed, account_zones, crossed_budgets
from zurelay.store.engine import Store
from zurelay.store.keys import add_key

NAMES: dict[Period, str] = {
    "day": "2026-11-29",
    "week": "2026-W48",
    "month": "2026-11",
    "total": "total",
}
MOST = 10**18
"""Nano-dollars that no amount reaches."""

wholes = st.integers(1, MOST)
lefts = st.integers(-MOST, MOST)
edges = st.tuples(wholes, st.sampled_from([50, 80, 100]), st.integers(-2, 2)).map(
    lambda one: (one[0], one[0] - one[0] * one[1] // 100 + one[2])
)
"""Beside each level, on it and beyond it."""


def found(connection: Connection, zones: Sequence[str | None] = (None,)) -> list[Crossed]:
    return crossed_budgets(connection, NAMES, zones, NOON, 1000)


def held(connection: Connection, whole: int, left: int, seed: int = 1) -> None:
    """A key with a budget of which that much is left, half of it leased to a node."""
    key = a_key(seed, budget=Budget(whole, "day"))
    add_key(connection, key)
    of = {"id": f"budget:{key.id}:2026-11-29", "key": key.id, "account": ACCOUNT.id}
    connection.execute(
        text(
            "INSERT INTO wallet (id, account, owner, period, budget, available, recalled)"
            " VALUES (:id, :account, :key, '2026-11-29', :whole, :free, 0)"
        ),
        {**of, "whole": whole, "free": left - left // 2},
    )
    connection.execute(
        text(
            "INSERT INTO lease (wallet, node, epoch, granted, spent, held)"
            " VALUES (:id, 'n1', 1, :granted, 7, 0)"
        ),
        {"id": of["id"], "granted": left // 2 + 7},
    )


def emptied(connection: Connection) -> None:
    for table in ("lease", "wallet", "api_key", "alert"):
        connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.tuples(wholes, lefts), edges), min_size=1, max_size=20))
def test_a_level_is_reached_where_it_is_and_nowhere_else(
    store: Store, budgets: list[tuple[int, int]]
) -> None:
    with store.write() as connection:
        emptied(connection)
        for seed, (whole, left) in enumerate(budgets, 1):
            held(connection, whole, min(left, whole), seed)
        known = {one.owner: one for one in found(connection)}
        for seed, (whole, left) in enumerate(budgets, 1):
            used = Fraction(whole - min(left, whole), whole)
            level = max((one for one in (50, 80, 100) if used * 100 >= one), default=0)
            one = known.get(a_key(seed).id)
            assert (one.level if one else 0) == level
            if one is not None:
                assert (one.whole, one.left) == (whole, min(left, whole))


@pytest.mark.parametrize(
    ("told", "level", "again"),
    [(50, 50, False), (50, 80, True), (80, 50, False), (100, 80, False), (80, 100, True)],
)
def test_nothing_is_told_of_a_level_below_one_that_was_told(
    store: Store, told: int, level: int, again: bool
) -> None:
    with store.write() as connection:
        held(connection, 100, 100 - level)
        (one,) = found(connection)
        event = one.event.removesuffix(str(level)) + str(told)
        add_alert(connection, Alert(event, "budget", ACCOUNT.id, 0, None, "{}", one.wallet))
        assert bool(found(connection)) is again


@pytest.mark.parametrize(
    "change", ["revoked = 1", f"expires = {int(NOON)}", "budget = 0", "budget_period = 'month'"]
)
def test_only_budgets_that_hold_now_count(store: Store, change: str) -> None:
    with store.write() as connection:
        held(connection, 100, 0)
        assert found(connection)
        connection.execute(text(f"UPDATE api_key SET {change}"))  # noqa: S608
        assert not found(connection)


def test_accounts_of_other_zones_wait_for_their_own_turn(store: Store) -> None:
    with store.write() as connection:
        held(connection, 100, 0)
        connection.execute(text("UPDATE account SET zone = 'Asia/Tokyo'"))
        assert account_zones(connection) == ["Asia/Tokyo"]
        assert not found(connection)
        assert found(connection, ["Asia/Tokyo", "Europe/Paris"])
