"""How long an upstream asks us to wait, from its headers. Knows no format."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

LONGEST = 900.0
"""Seconds; a longer wait is cut to it, so that a wrong header does not switch a route off."""


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, 0 to `LONGEST`; None if the headers do not say.

    `retry-after-ms`, then `retry-after` as seconds or as a date, which is read against the
    answer's own `date`. `headers` have lower-case names, `now` is Unix time.
    """
    wait = _number(headers.get("retry-after-ms"))
    if wait is not None:
        return capped(wait / 1000)
    text = headers.get("retry-after")
    wait = _number(text)
    if wait is None:
        until = _date(text)
        if until is None:
            return None
        sent = _date(headers.get("date"))
        wait = until - (now if sent is None else sent)
    return capped(wait)


def capped(wait: float) -> float:
    """`wait` within 0 and `LONGEST`."""
    return min(max(wait, 0.0), LONGEST)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def _date(text: str | None) -> float | None:
    if not text:
        return None
    try:
        moment: datetime = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp()
    except (OverflowError, ValueError):
        return None
