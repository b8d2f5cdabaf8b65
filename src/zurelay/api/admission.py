"""Letting a request in: what it will take of limits and money is set aside, or it is refused.

At once where this process can tell, else after asking the store. Whatever goes wrong, nothing stays
set aside.
"""

from msgspec import Struct

from zurelay.access.keys import Key
from zurelay.api.core import Core
from zurelay.catalogue.price import price_at
from zurelay.chat.problems import Refused, insufficient_credit
from zurelay.formats.base import Inbound
from zurelay.live.wallets import Hold, Short
from zurelay.meter.charge import ceiling
from zurelay.meter.wallets import Purse
from zurelay.plan.afford import Cost, Offer, offer
from zurelay.plan.planner import Candidate, Plan

_TRIES = 3
"""Times that an offer is made anew because money went elsewhere meanwhile."""


class Admitted(Struct, frozen=True):
    """A request that may be sent: where, and what is set aside for it."""

    plan: Plan
    hold: Hold


def admit_now(core: Core, key: Key, inbound: Inbound, plan: Plan, at: float) -> Admitted | None:
    """Let a request in that began at Unix time `at`; None where the store must be asked.

    Raises:
        Refused: 402, 429, or 503 while nothing can be recorded.
    """
    purse = core.purse(key, at)
    ledger = core.parts.ledger
    if not purse.limited:
        return Admitted(plan, ledger.reserve(purse.wallets, 0))
    try:
        offered = _offer(core, purse, inbound, plan, at)
        return Admitted(offered.plan, ledger.reserve(purse.wallets, offered.ceiling))
    except Short:
        return None
    except Refused:
        # Others may have left something, or an operator may have paid in.
        return None


async def admit(core: Core, key: Key, inbound: Inbound, plan: Plan, at: float) -> Admitted:
    """As `admit_now`, asking the store.

    Raises:
        Refused: likewise; 503 too while the store cannot be asked.
    """
    purse = core.purse(key, at)
    return await _pay(core, purse, inbound, plan, at)


def release(core: Core, admitted: Admitted) -> None:
    """Give back what was set aside: the request will not be sent."""
    core.parts.ledger.release(admitted.hold)


async def _pay(core: Core, purse: Purse, inbound: Inbound, plan: Plan, at: float) -> Admitted:
    ledger = core.parts.ledger
    for attempt in range(_TRIES):
        try:
            offered = _offer(core, purse, inbound, plan, at, elsewhere=attempt == 0)
        except Refused:
            if attempt:
                raise
            # An operator may have paid in meanwhile.
            await ledger.wallets.look(purse.wallets)
            continue
        hold = await ledger.fund(purse.wallets, offered.ceiling)
        if hold is not None:
            return Admitted(offered.plan, hold)
    raise Refused(
        insufficient_credit("The balance or budget of this key is used up by requests under way.")
    )


def _offer(
    core: Core, purse: Purse, inbound: Inbound, plan: Plan, at: float, *, elsewhere: bool = False
) -> Offer:
    affordable = core.parts.ledger.wallets.affordable(purse.wallets, elsewhere=elsewhere)
    if affordable is None:
        raise AssertionError("a limited purse has a limited wallet")
    costs = [_cost(candidate, inbound, plan, at) for candidate in plan.candidates]
    return offer(plan, costs, inbound.max_output, affordable)


def _cost(candidate: Candidate, inbound: Inbound, plan: Plan, at: float) -> Cost | None:
    """What the candidate can cost at most, by output tokens; None without a price."""
    price = price_at(candidate.model, at)
    if price is None:
        return None
    return lambda tokens: ceiling(price, plan.input_estimate, tokens, inbound.choices)
