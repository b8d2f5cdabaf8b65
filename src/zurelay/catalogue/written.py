"""A price as people write it, made from one that is kept: the way back from `parse_price`."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from zurelay.catalogue.model import Hours, Price, TokenClass
from zurelay.catalogue.money import NANO
from zurelay.catalogue.price import CALLS, CLASSES, decimal_text, per_million

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def price_table(price: Price) -> dict[str, Any]:
    """The table that `parse_price` makes this price of, but its day and where it comes from."""
    table = _sized(price)
    if price.per_request:
        table["per_request"] = decimal_text(price.per_request, NANO)
    if price.per_call:
        fees = ((name, price.per_call[name]) for name in CALLS if name in price.per_call)
        table["per_call"] = {name: decimal_text(fee, NANO) for name, fee in fees}
    if price.tiers:
        table["tiers"] = {name: _factor(price, tier) for name, tier in price.tiers.items()}
    if price.hours:
        table["hours"] = [
            {"utc": utc_text(stretches), **_sized(then)} for stretches, then in price.hours
        ]
    return table


def utc_text(stretches: Iterable[Hours]) -> list[str]:
    """Stretches of the week, such as `Mon-Fri 01:00-04:00`."""
    return [
        f"{_DAYS[first - 1]}{f'-{_DAYS[last - 1]}' if last > first else ''} "
        f"{_clock(one.start)}-{_clock(one.end)}"
        for one in stretches
        for first, last in _runs(one.weekdays)
    ]


def _sized(price: Price) -> dict[str, Any]:
    table: dict[str, Any] = dict(_amounts(price.classes))
    if price.above:
        table["above"] = [
            {"prompt_tokens": tokens, **_amounts(over.classes)} for tokens, over in price.above
        ]
    return table


def _amounts(classes: Mapping[TokenClass, int]) -> dict[str, str]:
    return {name: per_million(classes[name]) for name in CLASSES if name in classes}


def _factor(price: Price, tier: Price) -> str:
    """By what a tier's prices are more than the usual ones; 1 where all are free."""
    for name, usual in price.classes.items():
        if usual:
            return f"{(Decimal(tier.classes[name]) / Decimal(usual)).normalize():f}"
    return "1"


def _runs(weekdays: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for day in sorted(weekdays):
        if runs and runs[-1][1] == day - 1:
            runs[-1] = (runs[-1][0], day)
        else:
            runs.append((day, day))
    return runs


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
