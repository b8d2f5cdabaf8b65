"""Prices as people write them, and the price in force at a moment.

Written in USD per million tokens as decimal strings, kept as exact integers of 1e-18 USD per
token. Nothing here knows usage, charges or rounding: what cannot be kept exactly is refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import get_args

from zurelay.catalogue.model import FREE, Call, Hours, Model, Price, TokenClass
from zurelay.catalogue.money import NO_MARKUP
from zurelay.chat.nearest import did_you_mean

CLASSES: tuple[TokenClass, ...] = get_args(TokenClass)
CALLS: tuple[Call, ...] = get_args(Call)

_UNITS_PER_USD_A_MILLION = 10**12
"""1e-18 USD per token in one USD per million tokens."""

_NANO = 10**9
_AMOUNT = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,12})?", re.ASCII)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_STRETCH = re.compile(
    r"(?P<first>[A-Z][a-z]{2})(?:-(?P<last>[A-Z][a-z]{2}))? "
    r"(?P<start>[0-2]\d:[0-5]\d)-(?P<end>[0-2]\d:[0-5]\d)",
    re.ASCII,
)


class CatalogueError(ValueError):
    """A value in the catalogue, or one laid over it, cannot be used.

    Attributes:
        path: where, as dotted keys relative to the model's table.
        problem: what is wrong and what to write instead.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


def per_token(amount: object, path: str = "price") -> int:
    """The integer price of `"4.00"` USD per million tokens, in 1e-18 USD per token.

    Raises:
        CatalogueError: it is no plain decimal string, or has more than twelve decimal places.
    """
    return int(_amount(amount, path) * _UNITS_PER_USD_A_MILLION)


def per_million(price: int, markup: int = NO_MARKUP) -> str:
    """The way back: USD per million tokens as a decimal string with at least two places.

    `markup` in millionths is multiplied in, exactly.
    """
    return decimal_text(price * markup, _UNITS_PER_USD_A_MILLION * NO_MARKUP)


def decimal_text(amount: int, unit: int) -> str:
    """`amount` / `unit`, a power of ten, as a decimal string with at least two places."""
    whole, rest = divmod(amount, unit)
    places = len(str(unit)) - 1
    return f"{whole}.{f'{rest:0{places}d}'.rstrip('0'):0<2}"


def parse_price(value: object, path: str = "price") -> Price:
    """A price from plain data: the string `free`, or a table.

    The table holds amounts in USD per million tokens by token class (`input` and `output` at
    least), and may hold `per_request` (USD), `per_call` (tool the provider runs -> USD), `above`
    (a list of tables with `prompt_tokens` and the classes that apply beyond), `tiers` (service
    tier -> factor), `hours` (a list of tables with `utc`, such as `["Mon-Fri 01:00-04:00"]`,
    classes, and `above` where it has steps then too), `since`, `source`, `checked`.

    Fees and factors hold in all hours.

    Raises:
        CatalogueError: with the path of the faulty value.
    """
    if value == "free":
        return FREE
    table = _table(value, path)
    _only_known(table, (*CLASSES, *_PRICE_KEYS), path)
    price = Price(
        classes=_classes(table, path),
        above=_steps(table, path),
        per_request=_nano_dollars(table.get("per_request", "0"), f"{path}.per_request"),
        per_call=_fees(table.get("per_call", {}), f"{path}.per_call"),
        since=_day(table.get("since", ""), f"{path}.since"),
        source=str(table.get("source", "")),
        checked=_day(table.get("checked", ""), f"{path}.checked"),
    )
    factors = _table(table.get("tiers", {}), f"{path}.tiers")
    hours = tuple(
        _hours(item, price, factors, f"{path}.hours[{i}]")
        for i, item in _items(table, "hours", path)
    )
    return replace(price, tiers=_tiers(price, factors, f"{path}.tiers"), hours=hours)


_PRICE_KEYS = (
    "per_request",
    "per_call",
    "above",
    "tiers",
    "hours",
    "since",
    "source",
    "checked",
)


def price_at(model: Model, unix_time: float) -> Price | None:
    """What `model` costs at that moment: the newest price in force, and its hour's if it has any.

    None if the price is unknown.
    """
    price = model.price
    if not model.later and (price is None or not price.hours):
        return price
    price = day_price(model, unix_time)
    if price is None:
        return None
    moment = datetime.fromtimestamp(unix_time, UTC)
    minute = moment.hour * 60 + moment.minute
    for stretches, other in price.hours:
        if any(stretch.covers(moment.isoweekday(), minute) for stretch in stretches):
            return other
    return price


def day_price(model: Model, unix_time: float) -> Price | None:
    """The newest price in force on that day, with all its hours; None if it is unknown."""
    price = model.price
    today = datetime.fromtimestamp(unix_time, UTC).date().isoformat()
    for change in model.later:
        if change.since <= today:
            price = change
    return price


def laid_over(model: Model, prices: Mapping[str, Price]) -> Model:
    """The model with prices that were set while the gateway ran.

    `prices`: first day in force, ISO (empty for always) -> price. From the first of them on they
    stand in place of all that the catalogue says, its own dated changes included.
    """
    if not prices:
        return model
    days = sorted(prices)
    dated = tuple(replace(prices[day], since=day) for day in days if day)
    before = tuple(change for change in model.later if change.since < days[0])
    return replace(model, price=prices.get("", model.price), later=(*before, *dated))


def _amount(value: object, path: str) -> Decimal:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not _AMOUNT.fullmatch(value):
        raise CatalogueError(path, f'write a decimal string such as "4.00", not {value!r}')
    return Decimal(value)


def _nano_dollars(value: object, path: str) -> int:
    nano = _amount(value, path) * _NANO
    if nano != int(nano):
        raise CatalogueError(path, "a fee has at most nine decimal places")
    return int(nano)


def _classes(table: Mapping[str, object], path: str) -> dict[TokenClass, int]:
    classes = {name: per_token(table[name], f"{path}.{name}") for name in CLASSES if name in table}
    for name in ("input", "output"):
        if name not in classes:
            raise CatalogueError(f"{path}.{name}", "a price needs at least input and output")
    return classes


def _fees(value: object, path: str) -> dict[Call, int]:
    table = _table(value, path)
    _only_known(table, CALLS, path)
    return {name: _nano_dollars(table[name], f"{path}.{name}") for name in CALLS if name in table}


def _steps(table: Mapping[str, object], path: str) -> tuple[tuple[int, Price], ...]:
    steps = tuple(_above(item, f"{path}.above[{i}]") for i, item in _items(table, "above", path))
    sizes = [size for size, _ in steps]
    if sizes != sorted(set(sizes)):
        raise CatalogueError(f"{path}.above", "put the steps in rising order of prompt_tokens")
    return steps


def _tiers(price: Price, factors: Mapping[str, object], path: str) -> dict[str, Price]:
    return {str(name): _scaled(price, factor, f"{path}.{name}") for name, factor in factors.items()}


def _above(item: Mapping[str, object], path: str) -> tuple[int, Price]:
    _only_known(item, (*CLASSES, "prompt_tokens"), path)
    tokens = item.get("prompt_tokens")
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1:
        raise CatalogueError(f"{path}.prompt_tokens", "write a number of tokens above 0")
    return tokens, Price(classes=_classes(item, path))


def _hours(
    item: Mapping[str, object], price: Price, factors: Mapping[str, object], path: str
) -> tuple[tuple[Hours, ...], Price]:
    """`price` as it is in those hours, its fees and tiers included."""
    _only_known(item, (*CLASSES, "utc", "above"), path)
    stretches = item.get("utc")
    if not isinstance(stretches, Sequence) or isinstance(stretches, str) or not stretches:
        raise CatalogueError(f"{path}.utc", 'write a list such as ["Mon-Fri 01:00-04:00"]')
    then = replace(price, classes=_classes(item, path), above=_steps(item, path))
    then = replace(then, tiers=_tiers(then, factors, f"{path}.tiers"))
    return tuple(_stretch(text, f"{path}.utc") for text in stretches), then


def _stretch(text: object, path: str) -> Hours:
    match = _STRETCH.fullmatch(text) if isinstance(text, str) else None
    if match is None or match["first"] not in _DAYS or (match["last"] or "Mon") not in _DAYS:
        raise CatalogueError(path, f'write "Mon-Fri 01:00-04:00", not {text!r}')
    first = _DAYS.index(match["first"])
    last = _DAYS.index(match["last"] or match["first"])
    start, end = _minute(match["start"]), _minute(match["end"])
    if last < first or not start < end <= 24 * 60:
        raise CatalogueError(path, f"{text!r} ends before it begins; write it as two")
    return Hours(weekdays=frozenset(range(first + 1, last + 2)), start=start, end=end)


def _minute(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


def _scaled(price: Price, factor: object, path: str) -> Price:
    by = _amount(factor, path)

    def times(classes: Mapping[TokenClass, int]) -> dict[TokenClass, int]:
        scaled = {name: units * by for name, units in classes.items()}
        if any(units != int(units) for units in scaled.values()):
            raise CatalogueError(path, f"{factor} times this price is not exact")
        return {name: int(units) for name, units in scaled.items()}

    above = tuple((step, replace(over, classes=times(over.classes))) for step, over in price.above)
    return replace(price, classes=times(price.classes), above=above)


def _day(value: object, path: str) -> str:
    if value == "":
        return ""
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise CatalogueError(path, f'write a date such as "2026-12-31", not {value!r}') from None


def _table(value: object, path: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise CatalogueError(path, f"write a table, not {value!r}")
    return value


def _items(
    table: Mapping[str, object], key: str, path: str
) -> list[tuple[int, Mapping[str, object]]]:
    value = table.get(key, ())
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise CatalogueError(f"{path}.{key}", f"write a list of tables, not {value!r}")
    return [(i, _table(item, f"{path}.{key}[{i}]")) for i, item in enumerate(value)]


def _only_known(table: Mapping[str, object], known: Sequence[str], path: str) -> None:
    for key in table:
        if key not in known:
            raise CatalogueError(f"{path}.{key}", f"no such key.{did_you_mean(key, known)}")
