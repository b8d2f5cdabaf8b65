"""What a request costs: usage times price, exact to the last digit.

Sums are kept in atto-dollars (1e-18 USD), multiplied by the mark-up, and rounded once per request,
half to even, to nano-dollars. Nothing here knows balances, accounts or where a price comes from.
"""

from typing import Final

import msgspec

from zurelay.catalogue.model import INPUT_CLASSES, OUTPUT_CLASSES, Price
from zurelay.catalogue.money import NO_MARKUP
from zurelay.chat.usage import STANDARD, Usage
from zurelay.meter.tariff import WEB_SEARCH, Tariff, tariff

_ATTO: Final = 10**9
"""Atto-dollars in a nano-dollar."""

_MARKED_UP: Final = _ATTO * NO_MARKUP
"""The same where a factor in millionths was multiplied in."""

_SIDES: Final = dict.fromkeys(INPUT_CLASSES, 0) | dict.fromkeys(OUTPUT_CLASSES, 1)

TIER: Final = "service_tier"


class Charge(msgspec.Struct, frozen=True, gc=False):
    """The price of one answer.

    Attributes:
        cost: nano-dollars that the caller pays, mark-up included.
        unpriced: what was used but has no price of its own: classes of tokens, charged at the
            dearest of their side; `service_tier`, charged as the standard one; `web_search`, not
            charged.
        upstream: nano-dollars that the provider asks for it, which is `cost` without mark-up.
        tariff: the prices it was worked out by; None where there are none.
    """

    cost: int
    unpriced: tuple[str, ...] = ()
    upstream: int = 0
    tariff: Tariff | None = None


def at_size(price: Price, prompt: int) -> Price:
    """The price for a whole prompt of that many tokens; passing a number means exceeding it."""
    found = price
    for threshold, higher in price.above:
        if prompt > threshold:
            found = higher
    return found


def charge(price: Price, usage: Usage, markup: int = NO_MARKUP) -> Charge:
    """What an answered request costs at `price`.

    Every class is charged on its own, at the price that the tier used and the whole prompt's size
    ask for; a price of zero is a price. Fees are those of `price` itself.

    Args:
        price: in force when the request began.
        usage: of the answer; its `tier` is the one that is charged.
        markup: factor in millionths.
    """
    scale = price
    unpriced: tuple[str, ...] = ()
    if usage.tier is not None and usage.tier != STANDARD:
        scale = price.tiers.get(usage.tier, price)
        if scale is price and price.most_input + price.most_output:
            unpriced = (TIER,)
    if scale.above:
        scale = at_size(scale, usage.prompt)
    fresh, cached, written, lasting, heard, seen, said, spoken, drawn = scale.rates
    total = (
        usage.input * fresh
        + usage.cached_input * cached
        + usage.cache_write * written
        + usage.cache_write_long * lasting
        + usage.audio_input * heard
        + usage.image_input * seen
        + usage.output * said
        + usage.audio_output * spoken
        + usage.image_output * drawn
        + price.per_request * _ATTO
    )
    if usage.web_searches:
        fee = price.per_call.get("web_search")
        if fee is not None:
            total += usage.web_searches * fee * _ATTO
        elif price.most_input + price.most_output:
            unpriced += (WEB_SEARCH,)
    sides = (scale.most_input, scale.most_output)
    if scale.missing and any(sides):
        for name in scale.missing:
            if getattr(usage, name) and sides[_SIDES[name]]:
                unpriced += (name,)
    upstream = _round_half_even(total, _ATTO)
    by = tariff(scale, price, usage, markup)
    if markup == NO_MARKUP:
        return Charge(upstream, unpriced, upstream, by)
    return Charge(_round_half_even(total * markup, _MARKED_UP), unpriced, upstream, by)


def ceiling(
    price: Price,
    input_tokens: int,
    output_tokens: int,
    n: int = 1,
    *,
    tier: str = "",
    web_searches: int = 0,
    markup: int = NO_MARKUP,
) -> int:
    """The most a request can cost, in nano-dollars, rounded up.

    Args:
        price: of the dearest candidate.
        input_tokens: estimate of the prompt; a quarter more decides how far up the size steps it
            may come, and the dearest of those steps counts.
        output_tokens: the token limit of one choice.
        n: choices.
        tier: the service tier asked for; it may be used, or the standard one in its place.
        web_searches: how often the provider may search.
        markup: factor in millionths.
    """
    reach = input_tokens + -(-input_tokens // 4)
    output_tokens *= n
    most = _most(price, input_tokens, output_tokens, reach)
    if tier and tier in price.tiers:
        most = max(most, _most(price.tiers[tier], input_tokens, output_tokens, reach))
    fees = price.per_request
    if web_searches:
        fees += web_searches * price.per_call.get("web_search", 0)
    if markup == NO_MARKUP:
        return fees - (-most // _ATTO)
    return -(-(most + fees * _ATTO) * markup // _MARKED_UP)


def _most(price: Price, input_tokens: int, output_tokens: int, reach: int) -> int:
    """All tokens of the dearest class of their side, in atto-dollars, at the dearest step."""
    most = input_tokens * price.most_input + output_tokens * price.most_output
    for threshold, higher in price.above:
        if reach > threshold:
            most = max(most, input_tokens * higher.most_input + output_tokens * higher.most_output)
    return most


def _round_half_even(amount: int, unit: int) -> int:
    """`amount` / `unit`, to the nearest whole; halves to the even one."""
    whole, rest = divmod(amount, unit)
    twice = 2 * rest
    return whole + (twice > unit or (twice == unit and whole % 2 == 1))
