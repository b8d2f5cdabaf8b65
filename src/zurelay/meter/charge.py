"""What a request costs: usage times price, exact to the last digit.

Sums are kept in atto-dollars (1e-18 USD) and rounded once per request, half to even, to
nano-dollars. Nothing here knows balances, accounts or where a price comes from.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from zurelay.catalogue.model import Price, TokenClass
from zurelay.chat.usage import Usage

INPUT_CLASSES: Final[tuple[TokenClass, ...]] = (
    "input",
    "cached_input",
    "cache_write",
    "cache_write_long",
    "audio_input",
)
OUTPUT_CLASSES: Final[tuple[TokenClass, ...]] = ("output", "audio_output")

_ATTO: Final = 10**9
"""Atto-dollars in a nano-dollar."""


class Charge(msgspec.Struct, frozen=True, gc=False):
    """The price of one answer.

    Attributes:
        cost: nano-dollars.
        unpriced: classes that had tokens but no price of their own, and so were charged at the
            dearest class of their side.
    """

    cost: int
    unpriced: tuple[TokenClass, ...] = ()


def at_size(price: Price, prompt: int) -> Price:
    """The price for a whole prompt of that many tokens; passing a number means exceeding it."""
    found = price
    for threshold, higher in price.above:
        if prompt > threshold:
            found = higher
    return found


def charge(price: Price, usage: Usage) -> Charge:
    """What an answered request costs at `price`.

    Every class is charged on its own, at the price that the whole prompt's size asks for; a price
    of zero is a price. The fee per request is the one of `price` itself.
    """
    prices = at_size(price, usage.prompt).classes
    total = price.per_request * _ATTO
    unpriced: list[TokenClass] = []
    for side in (INPUT_CLASSES, OUTPUT_CLASSES):
        for name in side:
            tokens: int = getattr(usage, name)
            if not tokens:
                continue
            each = prices.get(name)
            if each is None:
                each = _dearest(prices, side)
                if each:
                    unpriced.append(name)
            total += tokens * each
    return Charge(_round_half_even(total), tuple(unpriced))


def ceiling(price: Price, input_tokens: int, output_tokens: int, n: int = 1) -> int:
    """The most a request can cost, in nano-dollars, rounded up.

    Args:
        price: of the dearest candidate.
        input_tokens: estimate of the prompt; a quarter more decides how far up the size steps it
            may come, and the dearest of those steps counts.
        output_tokens: the token limit of one choice.
        n: choices.
    """
    most = _most(price, input_tokens, output_tokens * n)
    if price.above:
        reach = input_tokens + -(-input_tokens // 4)
        for threshold, higher in price.above:
            if reach > threshold:
                most = max(most, _most(higher, input_tokens, output_tokens * n))
    return price.per_request - (-most // _ATTO)


def _most(price: Price, input_tokens: int, output_tokens: int) -> int:
    """That many tokens, all of the dearest class of their side, in atto-dollars."""
    return input_tokens * _dearest(price.classes, INPUT_CLASSES) + output_tokens * _dearest(
        price.classes, OUTPUT_CLASSES
    )


def _dearest(prices: Mapping[TokenClass, int], side: tuple[TokenClass, ...]) -> int:
    """The dearest price of a side; of any class if the side has none."""
    dearest = -1
    for name in side:
        each = prices.get(name, -1)
        if each > dearest:  # noqa: PLR1730 - a call of max() costs four times as much
            dearest = each
    return dearest if dearest >= 0 else max(prices.values(), default=0)


def _round_half_even(atto: int) -> int:
    nano, rest = divmod(atto, _ATTO)
    twice = 2 * rest
    return nano + (twice > _ATTO or (twice == _ATTO and nano % 2 == 1))
