"""Months of the calendar as text, `2026-11`: they sort as they follow each other."""

from collections.abc import Iterator
from datetime import date, datetime, time, tzinfo


def month_at(now: float, zone: tzinfo) -> str:
    """The month of a moment in Unix seconds."""
    return f"{datetime.fromtimestamp(now, zone):%Y-%m}"


def shifted(month: str, by: int = 1) -> str:
    """The month so many later, or earlier."""
    count = int(month[:4]) * 12 + int(month[5:]) - 1 + by
    return f"{count // 12:04d}-{count % 12 + 1:02d}"


def start_of(month: str, zone: tzinfo) -> float:
    """Unix seconds at which a month begins."""
    return datetime.combine(date.fromisoformat(f"{month}-01"), time(), zone).timestamp()


def through(first: str, last: str) -> Iterator[str]:
    """Every month from the first to the last."""
    month = first
    while month <= last:
        yield month
        month = shifted(month)
