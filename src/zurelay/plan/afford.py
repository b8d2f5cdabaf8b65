"""What a caller who can run out of money may ask: of whom, for how long an answer, at what price.

A pure rule. The most a request can cost is set aside before it is sent, so the length of its answer
must be bounded: by the caller's limit, else by one made here, which is sent upstream. It does not
know prices or where the money is.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zurelay.chat.problems import INVALID, Problem, Refused, insufficient_credit
from zurelay.plan.planner import Candidate, Plan

FLOORS: Final = {
    "none": 1024,
    "minimal": 2048,
    "low": 4096,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 32_768,
    "max": 65_536,
}
"""Output tokens, thinking included, below which an answer at that effort makes little sense."""

_FLOOR: Final = 4096
"""The same where the effort is not known."""

_SHARE: Final = 4
"""An answer without a limit of its own may use this part of the money that is left."""

_MOST: Final = 10_000_000
"""No answer has more tokens."""

_ROOM: Final = 1024
"""So many tokens are asked for where the prompt may fill the window."""

Cost = Callable[[int], int]
"""The most a candidate can cost, in nano-dollars, by the answer's tokens; it never falls."""


class Offer(Struct, frozen=True):
    """What a request may be sent as.

    Attributes:
        plan: the candidates that can be paid, each with its `cap` where the caller set no limit
            and the answer's length costs anything.
        ceiling: nano-dollars to set aside: the most the dearest of them can cost.
    """

    plan: Plan
    ceiling: int


def offer(
    plan: Plan,
    costs: Sequence[Cost | None],
    limit: int | None,
    affordable: int,
    estimate: int | None = None,
) -> Offer:
    """What may be sent for at most `affordable` nano-dollars.

    Args:
        plan: its candidates in the order to try them.
        costs: of each candidate; None where its price is unknown.
        limit: the caller's own token limit; None if it set none.
        affordable: nano-dollars.
        estimate: the operator's limit where the caller set none; None for one made of the effort
            and of the money that is left.

    Raises:
        Refused: 400 where no candidate has a price, 402 where none can be paid.
    """
    priced = [(c, cost) for c, cost in zip(plan.candidates, costs, strict=True) if cost]
    if not priced:
        raise Refused(_not_priced(plan.asked))
    affordable = max(affordable, 0)
    prompt = plan.input_estimate
    wanted = estimate if limit is None else limit
    least = [(c, cost, cost(_length(c, wanted, prompt))) for c, cost in priced]
    payable = [(c, cost) for c, cost, most in least if most <= affordable]
    if not payable:
        cheapest = min(least, key=lambda one: one[2])
        raise Refused(_unaffordable(plan, cheapest[1], affordable))
    kept, ceiling = [], 0
    for candidate, cost in payable:
        length = _length(candidate, wanted, prompt)
        if wanted is None:
            share = _tokens(cost, affordable // _SHARE)
            length = max(length, min(share, _most(candidate, prompt)))
        capped = limit is None and cost(_MOST) > cost(0)
        kept.append(replace(candidate, cap=length) if capped else candidate)
        ceiling = max(ceiling, cost(length))
    return Offer(replace(plan, candidates=tuple(kept)), ceiling)


def _length(candidate: Candidate, wanted: int | None, prompt: int) -> int:
    """Output tokens to pay for: what is wanted, else what the effort needs, as far as it may be."""
    if wanted is None:
        return min(_floor(candidate), _most(candidate, prompt))
    most = candidate.model.max_output
    return wanted if most is None else min(wanted, most)


def _most(candidate: Candidate, prompt: int) -> int:
    """The longest answer to ask for: some providers refuse more than the window has room for."""
    model = candidate.model
    context = model.context or candidate.served.model.context
    if context is None:
        return _floor(candidate) if model.max_output is None else model.max_output
    room = max(context - prompt - prompt // 4, _ROOM)
    return room if model.max_output is None else min(room, model.max_output)


def _floor(candidate: Candidate) -> int:
    return FLOORS.get(candidate.effort_shown or "", _FLOOR)


def _tokens(cost: Cost, money: int) -> int:
    """The longest answer that costs no more than `money`; 0 if none does."""
    low, high = 0, _MOST
    if cost(high) <= money:
        return high
    while low < high - 1:
        middle = (low + high) // 2
        if cost(middle) <= money:
            low = middle
        else:
            high = middle
    return low


def _unaffordable(plan: Plan, cost: Cost, affordable: int) -> Problem:
    tokens = _tokens(cost, affordable) if cost(1) <= affordable else 0
    if tokens:
        told = f"at most {tokens} output tokens are affordable for this prompt; set a lower limit"
    else:
        told = f"no answer to this prompt of about {plan.input_estimate} tokens is affordable"
    return insufficient_credit(
        f"The balance or budget of this key does not cover this request: {told}, or add credit."
    )


def _not_priced(model: str) -> Problem:
    return Problem(
        400,
        INVALID,
        "model_not_priced",
        f"The model '{model}' has no price here, so a key with a balance or budget cannot use it.",
        "model",
    )
