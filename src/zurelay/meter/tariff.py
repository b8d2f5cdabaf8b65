"""What a request was charged by, kept with its log entry, so that the entry adds up for ever.

Prices and mark-ups change; an entry does not. Nothing here knows where a price comes from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import compress
from typing import Final

import msgspec

from zurelay.catalogue.model import INPUT_CLASSES, OUTPUT_CLASSES, Price
from zurelay.catalogue.money import NANO, NO_MARKUP, format_usd
from zurelay.catalogue.price import decimal_text, per_million
from zurelay.chat.usage import Usage

CLASSES: Final[tuple[str, ...]] = (*INPUT_CLASSES, *OUTPUT_CLASSES)

REQUEST: Final = "request"
WEB_SEARCH: Final = "web_search"
EMPTY_ANSWER: Final = "empty_answer"
NOT_CHARGED: Final = "not_charged"

_ATTO: Final = 10**9
"""Atto-dollars (1e-18 USD), which prices of tokens are whole in, in a nano-dollar."""

_PARTS: Final = _ATTO * NO_MARKUP
"""Parts of a nano-dollar that a charge is whole in before it is rounded, mark-up included."""

_A_MILLION: Final = 10**12
"""1e-18 USD per token in one USD per million."""


class Tariff(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The prices of one answer, without mark-up.

    Attributes:
        tokens: class -> USD per million, as a decimal string, of the classes that were used. The
            tier and the size of the prompt are in it, and a class without a price of its own has
            the one it was charged at.
        per_request: nano-dollars.
        web_search: nano-dollars for each search; 0 if there was none.
        markup: factor in millionths.
    """

    tokens: dict[str, str] = {}
    per_request: int = 0
    web_search: int = 0
    markup: int = NO_MARKUP


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a charge; amounts in USD as exact decimal strings, mark-up included.

    Attributes:
        of: a class of tokens, `request` or `web_search`; `empty_answer`, for attempts that were
            charged though nothing came of them; `not_charged`, for what was not taken after all.
        count: tokens or calls.
        price: of a million tokens, or of one call; None where it was not kept.
        cost: `count` times `price`; None where that is unknown.
    """

    of: str
    count: int
    price: str | None
    cost: str | None


def tariff(scale: Price, fees: Price, usage: Usage, markup: int) -> Tariff:
    """The prices that an answer is charged by.

    Args:
        scale: of tokens, for the tier that was used and the prompt's size.
        fees: the price whose fees hold.
        usage: of the answer.
        markup: factor in millionths.
    """
    used = dict(compress(_written(scale.rates), usage.classes))
    searches = fees.per_call.get(WEB_SEARCH, 0) if usage.web_searches else 0
    return Tariff(used, fees.per_request, searches, markup)


def lines(usage: Usage, by: Tariff | None, cost: int) -> Iterator[Line]:
    """What a charge is made of.

    The sum of all lines, rounded once, half to even, to the nano-dollar, is `cost`.

    Args:
        usage: what was used.
        by: what it was charged by; without it there are counts alone.
        cost: nano-dollars that were charged.
    """
    counted = [(of, count) for of, count in zip(CLASSES, usage.classes, strict=True) if count]
    if by is None:
        yield from (Line(of, count, None, None) for of, count in counted)
        return
    total = 0
    for of, count in counted:
        rate = int(Fraction(by.tokens[of]) * _A_MILLION)
        amount = count * rate * by.markup
        total += amount
        yield Line(of, count, per_million(rate, by.markup), _usd(amount))
    for of, count, fee in (
        (REQUEST, 1, by.per_request),
        (WEB_SEARCH, usage.web_searches, by.web_search),
    ):
        if fee:
            each = fee * by.markup * _ATTO
            total += count * each
            yield Line(of, count, _usd(each), _usd(count * each))
    beside = cost - round(Fraction(total, _PARTS))
    if beside:
        yield Line(EMPTY_ANSWER if beside > 0 else NOT_CHARGED, 1, None, format_usd(beside))


@lru_cache(maxsize=4096)
def _written(rates: tuple[int, ...]) -> tuple[tuple[str, str], ...]:
    """Each class and its price as text: once per price list, as every answer asks for it."""
    return tuple((name, per_million(rate)) for name, rate in zip(CLASSES, rates, strict=True))


def _usd(parts: int) -> str:
    return decimal_text(parts, _PARTS * NANO)
