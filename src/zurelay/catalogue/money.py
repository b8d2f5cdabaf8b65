"""Money as text and as exact integers; no floats, no rounding, no e-notation.

Two units: nano-dollars (1e-9 USD) for amounts, atto-dollars (1e-18 USD) for the price of one
token. Nothing here knows what is priced.
"""

import re

NANO = 10**9
"""Nano-dollars in a dollar."""

ATTO_PER_NANO = 10**9
"""Atto-dollars in a nano-dollar."""

_AMOUNT_PLACES = 9
_PRICE_PLACES = 12  # 1e-18 USD per token is 1e-12 USD per million tokens
_DECIMAL = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,40}))?", re.ASCII)


def parse_usd(text: str) -> int:
    """Dollars written as a plain decimal (`"12.50"`) in nano-dollars.

    Raises:
        ValueError: it is no plain decimal, is negative, or is finer than a nano-dollar.
    """
    return _parse(text, _AMOUNT_PLACES, "a nano-dollar")


def format_usd(nano: int) -> str:
    """Nano-dollars as dollars, without needless zeros: 54399000 is `"0.054399"`."""
    return _format(nano, _AMOUNT_PLACES, 0)


def parse_price(text: str) -> int:
    """Dollars per million tokens (`"0.15"`) in atto-dollars per token.

    Raises:
        ValueError: it is no plain decimal, is negative, or has more than 12 decimals.
    """
    return _parse(text, _PRICE_PLACES, "12 decimals")


def format_price(atto: int) -> str:
    """Atto-dollars per token as dollars per million tokens, as on a price list: `"4.00"`."""
    return _format(atto, _PRICE_PLACES, 2)


def _parse(text: str, places: int, finest: str) -> int:
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError(f"write dollars as a plain decimal such as 12.50, not {text[:40]!r}")
    whole, fraction = match[1], (match[2] or "").rstrip("0")
    if len(fraction) > places:
        raise ValueError(f"{text[:60]!r} is finer than {finest}")
    return int(whole + fraction.ljust(places, "0"))


def _format(value: int, places: int, least: int) -> str:
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(value), 10**places)
    fraction = f"{rest:0{places}d}".rstrip("0").ljust(least, "0")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
