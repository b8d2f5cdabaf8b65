"""What a request can cost at most on a model, and by whose mark-up.

Puts price, mark-up and what the request asks for together. Nothing here knows balances.
"""

from collections.abc import Callable
from functools import lru_cache

from zurelay.access.keys import Key
from zurelay.catalogue.model import Model
from zurelay.catalogue.money import parse_factor
from zurelay.catalogue.price import price_at
from zurelay.formats.base import Inbound
from zurelay.meter.asked import asked, searches
from zurelay.meter.charge import ceiling

_factor = lru_cache(maxsize=1024)(parse_factor)


def markup_of(key: Key) -> int | None:
    """The key's mark-up, else its account's, in millionths; None where the model's own holds.

    Raises:
        ValueError: it is no factor.
    """
    text = key.markup
    if text is None and key.owner is not None:
        text = key.owner.markup
    return None if text is None else _factor(text)


def quote(
    model: Model, inbound: Inbound, input_tokens: int, at: float, markup: int | None = None
) -> Callable[[int], int] | None:
    """The most `inbound` can cost on `model`, in nano-dollars, by the token limit of one choice.

    None where the model has no price.

    Args:
        model: as the candidate's provider sells it.
        inbound: for its choices, service tier and tools that the provider runs.
        input_tokens: estimate of the prompt.
        at: Unix time the request began, which decides the price.
        markup: of the key or account, in millionths; None for the model's own.
    """
    price = price_at(model, at)
    if price is None:
        return None
    factor = model.markup if markup is None else markup
    wanted = asked(inbound, price)
    found = searches(inbound) if "web_search" in wanted.allows else 0

    def most(output_tokens: int) -> int:
        return ceiling(
            price,
            input_tokens,
            output_tokens,
            inbound.choices,
            tier=wanted.tier,
            web_searches=found,
            markup=factor,
        )

    return most
