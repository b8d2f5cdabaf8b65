"""What a request is expected to cost on a model: price by class, thinking, cached share.

Expected figures, for comparing models; nobody is charged by them. They are floats of nano-dollars
on the way and whole ones where they are shown. It does not know tiers, health or which models
there are.
"""

from functools import lru_cache
from typing import Final

from msgspec import Struct

from zurelay.catalogue.model import Model, Price
from zurelay.catalogue.money import NO_MARKUP
from zurelay.chat.effort import clamp
from zurelay.meter.charge import at_size
from zurelay.plan.auto.features import Features, Kind

ANSWERS: Final[dict[Kind, int]] = {
    "chat": 400,
    "code": 1200,
    "extraction": 300,
    "long document": 800,
    "agent": 300,
    "vision": 400,
}
"""Output tokens an answer is expected to have, thinking aside. Assumed, not measured."""

THINKING: Final = {
    "none": 0,
    "minimal": 128,
    "low": 500,
    "medium": 2000,
    "high": 6000,
    "xhigh": 12_000,
    "max": 24_000,
}
"""Tokens of thinking by the level in force. Assumed, not measured."""

UNKNOWN_LEVEL: Final = "medium"
"""Taken for the level in force where a model thinks and its default is not known."""

CACHED_PART: Final = 0.8
"""Part of the prompt that a conversation's own model has in its prompt cache."""

_UNITS: Final = 10**9 * NO_MARKUP
"""1e-18 dollars in a nano-dollar, where a mark-up in millionths was multiplied in."""


_clamp = lru_cache(maxsize=1024)(clamp)


class Rates(Struct, frozen=True):
    """What makes up an expected cost on one model, for prompts of one size class.

    Attributes:
        input, cached, output: nano-dollars a token.
        fee: nano-dollars a request.
        thinking: tokens.
        most: output tokens an answer can have.
    """

    input: float
    cached: float
    output: float
    fee: float
    thinking: int
    most: float


def rates(model: Model, price: Price, tokens: int, effort: str | None) -> Rates:
    """The rates of `model` at `price` for a prompt of about that many tokens."""
    sized = at_size(price, sized_for(tokens))
    fresh, cached = sized.rates[0], sized.rates[1]
    if "cached_input" not in sized.classes:
        cached = fresh
    return Rates(
        input=fresh * model.markup / _UNITS,
        cached=cached * model.markup / _UNITS,
        output=sized.rates[6] * model.markup / _UNITS,
        fee=price.per_request * model.markup / NO_MARKUP,
        thinking=THINKING[level(model, effort)],
        most=float("inf") if model.max_output is None else model.max_output,
    )


def sized_for(tokens: int) -> int:
    """Tokens that decide the step of a price, since an estimate may be a quarter too low."""
    return tokens * 5 // 4


def level(model: Model, effort: str | None) -> str:
    """The level that would be in force."""
    reasoning = model.reasoning
    if reasoning is None:
        return effort or "none"
    if not reasoning.levels:
        return "none"
    if effort is not None:
        return _clamp(effort, reasoning.levels)
    return reasoning.default or UNKNOWN_LEVEL


def expected(of: Rates, features: Features, *, cached: bool = False) -> float:
    """Nano-dollars; `cached`: the model has the conversation in its prompt cache."""
    answer = ANSWERS[features.kind] + of.thinking
    if features.output is not None:
        answer = min(answer, features.output)
    kept = CACHED_PART * features.tokens if cached else 0.0
    prompt = of.input * (features.tokens - kept) + of.cached * kept
    return prompt + of.output * min(answer, of.most) * features.choices + of.fee
