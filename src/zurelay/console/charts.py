"""Charts, drawn on the server as SVG: stacked bars or lines over time, with legend and table.

Scripts draw them anew over this where they run. Knows no page and no unit's source.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

import msgspec

from zurelay.console.languages import Language

Unit = Literal["usd", "count", "ms", "share"]

WIDTH: Final = 720
NARROW: Final = 380
"""For charts that stand beside others."""
HEIGHT: Final = 220
COLOURS: Final = 8
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 4, 8, 24
_LINES = 4
_LEAST: Final[dict[Unit, float]] = {"usd": 4e-9, "count": 4.0, "ms": 4.0, "share": 0.004}
"""The shortest scale: of a shorter one two lines would have the same number."""
_DATES = 6
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Series:
    """A row of values, one for each time; None where there is none."""

    label: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Chart:
    """What is to be shown.

    Attributes:
        times: Unix seconds, rising, at even distances.
        series: the first has the first colour; from the eighth on they share the last.
        unit: of the values: dollars, a count, milliseconds or a share of one.
        kind: bars on top of each other, or lines.
    """

    times: Sequence[int]
    series: Sequence[Series]
    unit: Unit = "count"
    kind: Literal["stack", "line"] = "stack"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to see."""
        return not any(value for one in self.series for value in one.values)

    @property
    def blank(self) -> bool:
        """Whether nothing was measured; a zero is a value."""
        return all(value is None for one in self.series for value in one.values)

    def draw(self, language: Language, width: int = WIDTH) -> "Drawn":
        """Geometry and words for the template, in a box `width` wide."""
        write, mark = _writer(self.unit, language), _marker(self.unit, language)
        top = _round_up(self._most(), self.unit)
        step = self.times[1] - self.times[0] if len(self.times) > 1 else _DAY
        return Drawn(
            chart=self,
            bars=self._bars(top, width) if self.kind == "stack" else [],
            paths=self._paths(top, width) if self.kind == "line" else [],
            rules=[(_y(top * line / _LINES, top), mark(top * line / _LINES)) for line in range(5)],
            dates=self._dates(language, step, width),
            legend=[
                (one.label, write(sum(value or 0 for value in one.values)) if self._adds else "")
                for one in self.series
            ],
            rows=[
                (
                    _when(time, step, language),
                    [
                        "" if one.values[place] is None else write(one.values[place] or 0)
                        for one in self.series
                    ],
                )
                for place, time in enumerate(self.times)
            ],
            data=self._data(language, step),
            width=width,
        )

    @property
    def _adds(self) -> bool:
        return self.unit in ("usd", "count")

    def _most(self) -> float:
        columns = zip(*(one.values for one in self.series), strict=True)
        if self.kind == "stack":
            return max((sum(value or 0 for value in column) for column in columns), default=0)
        return max((value or 0 for column in columns for value in column), default=0)

    def _x(self, place: float, width: int) -> float:
        return _LEFT + (width - _LEFT - _RIGHT) * place / max(1, len(self.times))

    def _bars(self, top: float, whole: int) -> list[tuple[int, float, float, float, float]]:
        """Colour, x, y, width and height of each part of each bar."""
        room = (whole - _LEFT - _RIGHT) / max(1, len(self.times))
        width = max(1.0, min(34.0, room * 0.72))
        bars = []
        for place in range(len(self.times)):
            below = 0.0
            for colour, one in enumerate(self.series):
                value = one.values[place] or 0
                if value > 0:
                    upper = _y(below + value, top)
                    x = self._x(place, whole) + (room - width) / 2
                    height = _y(below, top) - upper
                    bars.append((_colour(colour), x, upper, width, max(height, 0.6)))
                    below += value
        return bars

    def _paths(self, top: float, width: int) -> list[tuple[int, str]]:
        """Colour and path of each line; it breaks where there is no value."""
        paths = []
        for colour, one in enumerate(self.series):
            pieces, pen = [], "M"
            for place, value in enumerate(one.values):
                if value is None:
                    pen = "M"
                    continue
                pieces.append(f"{pen}{self._x(place + 0.5, width):.1f} {_y(value, top):.1f}")
                if pen == "M":
                    pieces.append("h.01")  # a value alone is a dot
                pen = "L"
            paths.append((_colour(colour), "".join(pieces)))
        return paths

    def _dates(self, language: Language, step: int, width: int) -> list[tuple[float, str]]:
        every = max(1, -(-len(self.times) // max(2, _DATES * width // WIDTH)))
        return [
            (self._x(place + 0.5, width), _short(time, step, language))
            for place, time in enumerate(self.times)
            if place % every == every // 2
        ]

    def _data(self, language: Language, step: int) -> str:
        """What the script draws it from."""
        data: dict[str, Any] = {
            "kind": self.kind,
            "unit": self.unit,
            "step": step,
            "lang": language.code,
            "times": list(self.times),
            "labels": [one.label for one in self.series],
            "values": [list(one.values) for one in self.series],
        }
        return msgspec.json.encode(data).decode()


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as the template takes it: places in a box of `width` by `height`, and words."""

    chart: Chart
    bars: list[tuple[int, float, float, float, float]]
    paths: list[tuple[int, str]]
    rules: list[tuple[float, str]]
    dates: list[tuple[float, str]]
    legend: list[tuple[str, str]]
    rows: list[tuple[str, list[str]]]
    data: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    base: int = HEIGHT - 6

    @property
    def right(self) -> int:
        """Where the plot ends."""
        return self.width - _RIGHT


def _y(value: float, top: float) -> float:
    return round(HEIGHT - _BOTTOM - (HEIGHT - _BOTTOM - _TOP) * value / top, 2)


def _colour(place: int) -> int:
    return min(place, COLOURS - 1) + 1


def _round_up(most: float, unit: Unit) -> float:
    """The end of the scale: four steps of 1, 2, 2.5 or 5 times a power of ten."""
    if most <= 0:
        return {"usd": 0.04, "count": 4.0, "ms": 400.0, "share": 0.04}[unit]
    if unit == "share":
        most = min(most, 1.0)
    most = max(most, _LEAST[unit])
    step = 10.0 ** (Decimal(most / _LINES).adjusted())
    for factor in (1, 2, 2.5, 5, 10):
        if unit in ("count", "ms") and step * factor % 1:  # written whole: none is named twice
            continue
        if step * factor * _LINES >= most:
            return step * factor * _LINES
    return step * 10 * _LINES


def _writer(unit: Unit, language: Language) -> Callable[[float], str]:
    match unit:
        case "usd":
            return lambda value: language.money(Decimal(str(round(value, 9))))
        case "ms":
            return language.duration
        case "share":
            return language.share
        case "count":
            return language.compact


def _marker(unit: Unit, language: Language) -> Callable[[float], str]:
    """As `_writer`, for the scale: dollars with every place, so that no two lines are alike."""
    if unit == "usd":
        return lambda value: language.money(Decimal(str(round(value, 9))), exact=True)
    return _writer(unit, language)


def _when(time: int, step: int, language: Language) -> str:
    return language.date(time) if step >= _DAY else language.moment(time)


def _short(time: int, step: int, language: Language) -> str:
    return language.day(time) if step >= _DAY // 4 else language.clock(time)
