"""Moments as people type them: a date, or some time ago."""

import re
from datetime import UTC, datetime

import typer

_AGO = re.compile(r"([0-9]{1,5})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


def moment(text: str | None, now: float, option: str) -> float | None:
    """Unix seconds of a date (UTC) or a time ago. Raises typer.BadParameter."""
    if text is None:
        return None
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return now - int(ago[1]) * _HOURS[ago[2]] * 3600
    try:
        found = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise typer.BadParameter(
            "write a date such as 2026-12-31, or 24h, 7d or 4w", param_hint=f"'{option}'"
        ) from None
    return found.timestamp()


def span(text: str, option: str) -> int:
    """Seconds of `24h`, `7d`, `4w`, or `0`. Raises typer.BadParameter."""
    if text == "0":
        return 0
    found = _AGO.fullmatch(text)
    if found is None:
        raise typer.BadParameter("write 24h, 7d, 4w, or 0", param_hint=f"'{option}'")
    return int(found[1]) * _HOURS[found[2]] * 3600
