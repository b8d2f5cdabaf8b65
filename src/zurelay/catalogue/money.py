"""Amounts of money as text and as exact integers of nano-dollars (1e-9 USD).

No floats, no rounding, no e-notation. Prices per token are finer and stand in `price.py`.
"""

import re
from typing import Final

NANO: Final = 10**9
"""Nano-dollars in a dollar."""

NO_MARKUP: Final = 10**6
"""The factor 1, in millionths."""

_PLACES: Final = 9
_FACTOR_PLACES: Final = 6
_FACTOR = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,6}))?", re.ASCII)
_DECIMAL = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,40}))?", re.ASCII)


def parse_usd(text: str) -> int:
    """Dollars written as a plain decimal (`"12.50"`) in nano-dollars.

    Raises:
        ValueError: it is no plain decimal, is negative, has ten digits or more before the point,
            or is finer than a nano-dollar.
    """
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError(f"write dollars as a plain decimal such as 12.50, not {text[:40]!r}")
    whole, fraction = match[1], (match[2] or "").rstrip("0")
    if len(fraction) > _PLACES:
        raise ValueError(f"{text[:60]!r} has more than {_PLACES} decimals")
    return int(whole + fraction.ljust(_PLACES, "0"))


def parse_factor(text: str) -> int:
    """A mark-up written as a plain decimal (`"1.25"`) in millionths.

    Raises:
        ValueError: it is no plain decimal, is negative, is 1000 or more, or has more than six
            decimals.
    """
    match = _FACTOR.fullmatch(text)
    if match is None:
        raise ValueError(
            f"write a factor below 1000 with at most {_FACTOR_PLACES} decimals, such as 1.25,"
            f" not {text[:40]!r}"
        )
    return int(match[1] + (match[2] or "").ljust(_FACTOR_PLACES, "0"))


def format_factor(millionths: int) -> str:
    """The way back: 1250000 is `"1.25"`."""
    whole, rest = divmod(millionths, NO_MARKUP)
    fraction = f"{rest:0{_FACTOR_PLACES}d}".rstrip("0")
    return f"{whole}.{fraction or '0'}"


def format_usd(nano: int) -> str:
    """Nano-dollars as dollars, without needless zeros: 54399000 is `"0.054399"`."""
    sign = "-" if nano < 0 else ""
    whole, rest = divmod(abs(nano), NANO)
    fraction = f"{rest:0{_PLACES}d}".rstrip("0")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
