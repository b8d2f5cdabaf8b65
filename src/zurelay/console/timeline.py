"""The tries of a request as bars: when each began, gave its first token and ended.

Positions are thousandths of the whole. Knows no template.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

WIDTH: Final = 1000
_LEAST: Final = 4
"""A bar is at least so wide, or nobody sees it."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One try.

    Attributes:
        attempt: what the log tells of it.
        start: where it begins; `wide` how wide it is.
        waited: how wide the part before the first token is; all of it where none came.
        kind: good, bad or plain.
    """

    attempt: Mapping[str, Any]
    start: int
    wide: int
    waited: int
    kind: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """All tries, and the times of the scale below them as (position, milliseconds)."""

    bars: Sequence[Bar]
    scale: Sequence[tuple[int, float]]


def timeline(attempts: Sequence[Mapping[str, Any]], duration_ms: float | None) -> Timeline:
    """The tries of a log entry, which took `duration_ms` if it is over."""
    ends = [attempt["end_ms"] or attempt["start_ms"] for attempt in attempts]
    whole = float(max([duration_ms or 0.0, *ends, 0.001]))

    def place(milliseconds: float) -> int:
        return round(min(max(milliseconds / whole, 0), 1) * WIDTH)

    bars = []
    for attempt in attempts:
        start, end = attempt["start_ms"], attempt["end_ms"]
        first = attempt["first_token_ms"]
        left = min(place(start), WIDTH - _LEAST)
        right = place(whole if end is None else end)
        wide = max(right - left, _LEAST)
        waited = wide if first is None else min(max(place(first) - left, 0), wide)
        if first is None and attempt["status"] == "ok":
            waited = 0  # a whole answer: nobody saw its first token
        bars.append(Bar(attempt, left, wide, waited, _kind(attempt["status"])))
    parts = 4 if whole >= 4 else 1  # times are written in whole milliseconds, each once
    scale = [whole * part / parts for part in range(parts + 1)]
    return Timeline(bars, [(place(time), time) for time in scale])


def _kind(status: str) -> str:
    return {"ok": "good", "failed": "bad"}.get(status, "plain")
