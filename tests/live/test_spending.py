import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.rows import NOON
from zurelay.access.accounts import Period
from zurelay.live.spending import Spending

DAY = 86_400


@pytest.mark.parametrize(
    ("period", "spent"),
    [
        ("day", 0b00001),
        ("week", 0b00011),  # NOON is a Sunday, the last day of its week
        ("month", 0b00111),  # and the 29th
        ("total", 0b11111),
    ],
)
def test_only_what_was_spent_in_the_period_counts(period: Period, spent: int) -> None:
    spending = Spending()
    for bit, days in enumerate((0, 6, 28, 29, 400)):
        spending.add("k", NOON - days * DAY, 1 << bit)
    assert spending.of("k", period, NOON) == spent
    assert spending.of("other", period, NOON) == 0


def test_a_new_day_begins_at_nothing() -> None:
    spending = Spending()
    spending.add("k", NOON, 5)
    midnight = NOON + DAY / 2
    assert spending.of("k", "day", midnight - 1) == 5
    assert spending.of("k", "day", midnight) == 0
    assert spending.of("k", "week", midnight) == 0  # a Monday


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60), st.integers(0, 10**12))))
def test_what_was_loaded_counts_like_what_was_added(rows: list[tuple[str, int, int]]) -> None:
    added, loaded = Spending(), Spending()
    for key, day, cost in sorted(rows, key=lambda row: row[1]):
        added.add(key, day * DAY + 100, cost)
    loaded.load(rows)
    newest = max((day for _, day, _ in rows), default=0) * DAY
    for period in ("day", "week", "month", "total"):
        for key in "ab":
            assert added.of(key, period, newest) == loaded.of(key, period, newest)


def test_days_that_no_period_reaches_are_forgotten() -> None:
    spending = Spending()
    for day in range(500):
        spending.add("k", day * DAY, 1)
    assert len(spending._days) <= 32
    assert spending.of("k", "total", 500 * DAY) == 500
