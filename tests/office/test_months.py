from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from zurelay.office.months import month_at, shifted, start_of, through

BRUSSELS = ZoneInfo("Europe/Brussels")


@pytest.mark.parametrize(
    ("month", "by", "expected"),
    [
        ("2026-11", 1, "2026-12"),
        ("2026-12", 1, "2027-01"),
        ("2026-01", -1, "2025-12"),
        ("2026-02", -12, "2025-02"),
        ("2026-02", 0, "2026-02"),
        ("0999-12", 1, "1000-01"),
    ],
)
def test_months_follow_each_other_over_the_years(month: str, by: int, expected: str) -> None:
    assert shifted(month, by) == expected


def test_a_month_is_that_of_the_zone() -> None:
    late = datetime(2026, 10, 31, 23, 30, tzinfo=UTC).timestamp()
    assert (month_at(late, UTC), month_at(late, BRUSSELS)) == ("2026-10", "2026-11")
    assert start_of("2026-11", UTC) == late + 1800
    assert start_of("2026-11", BRUSSELS) == late - 1800


def test_all_months_between_two_are_told_once() -> None:
    assert list(through("2025-11", "2026-02")) == ["2025-11", "2025-12", "2026-01", "2026-02"]
    assert list(through("2026-03", "2026-02")) == []
