"""Letting a request in: what it will take of limits and money is set aside, or it is refused.

At once where this process can tell, else after asking the store. Whatever goes wrong, nothing stays
set aside.
"""

from msgspec import Struct

from zurelay.access.keys import Key
from zurelay.api.core import Core
from zurelay.chat.problems import Refused, insufficient_credit
from zurelay.formats.base import Inbound
from zurelay.live.limits import UNLIMITED
from zurelay.live.wallets import Hold, Short
from zurelay.meter.limits import Bound, Grant
from zurelay.meter.quote import markup_of, quote
from zurelay.meter.wallets import Purse
from zurelay.plan.afford import Offer, offer
from zurelay.plan.planner import Plan

_OUTPUT = 4096
"""Tokens an answer is taken to have, for limits, where the caller sets none."""

_TRIES = 3
"""Times that an offer is made anew because money went elsewhere meanwhile."""


class Admitted(Struct, frozen=True):
    """A request that may be sent: where, and what is set aside for it."""

    plan: Plan
    hold: Hold
    grant: Grant
    markup: int | None


class Asking(Struct, frozen=True):
    """A request that asks to be let in.

    Attributes:
        at: Unix time it began.
        markup: of its key or account, in millionths; None where the model's own holds.
    """

    core: Core
    key: Key
    inbound: Inbound
    plan: Plan
    at: float
    markup: int | None

    @property
    def purse(self) -> Purse:
        """What it is paid from."""
        return self.core.purse(self.key, self.at)

    def bounds(self) -> tuple[Bound, ...]:
        """What it counts against."""
        snapshot = self.core.snapshot
        served = snapshot.table.find(self.inbound.model)
        if served is None:  # the gateway chose
            served = self.plan.candidates[0].served
        return self.core.parts.bounds.of(self.key, snapshot.key_limits, served.bound)

    def tokens(self) -> int:
        """What it may use, estimated."""
        inbound, most = self.inbound, self.plan.candidates[0].model.max_output
        output = _OUTPUT if inbound.max_output is None else inbound.max_output
        if most is not None:
            output = min(output, most)
        return self.plan.input_estimate + output * inbound.choices

    def least(self) -> int:
        """Its input, if the estimate is a fifth too high."""
        return self.plan.input_estimate * 5 // 6

    @property
    def anthropic(self) -> bool:
        """Whether its caller reads Anthropic's headers."""
        return self.inbound.front == "anthropic"


def asking(core: Core, key: Key, inbound: Inbound, plan: Plan, at: float) -> Asking:
    """A request of that key which began at Unix time `at`."""
    return Asking(core, key, inbound, plan, at, markup_of(key))


def admit_now(one: Asking) -> Admitted | None:
    """Let a request in; None where a store must be asked.

    Raises:
        Refused: 402, 429, or 503 while nothing can be recorded.
    """
    bounds = one.bounds()
    grant: Grant | None = UNLIMITED
    if bounds:
        limits = one.core.parts.limits
        grant = limits.admit_now(bounds, one.tokens(), one.least(), anthropic=one.anthropic)
    if grant is None:
        return None
    try:
        admitted = _pay_now(one, grant)
    except BaseException:
        grant.cancel()
        raise
    if admitted is None:
        grant.cancel()
    return admitted


async def admit(one: Asking) -> Admitted:
    """As `admit_now`, asking the stores.

    Raises:
        Refused: likewise; 503 too while the store cannot be asked.
    """
    limits = one.core.parts.limits
    grant = await limits.admit(one.bounds(), one.tokens(), one.least(), anthropic=one.anthropic)
    try:
        return await _pay(one, grant)
    except BaseException:
        grant.cancel()
        raise


def release(core: Core, admitted: Admitted) -> None:
    """Give back what was set aside: the request will not be sent."""
    admitted.grant.cancel()
    core.parts.ledger.release(admitted.hold)


def _pay_now(one: Asking, grant: Grant) -> Admitted | None:
    purse = one.purse
    ledger = one.core.parts.ledger
    if not purse.limited:
        return Admitted(one.plan, ledger.reserve(purse.wallets, 0), grant, one.markup)
    try:
        offered = _offer(one, purse)
        hold = ledger.reserve(purse.wallets, offered.ceiling)
    except Short:
        return None
    except Refused:
        if ledger.broken is not None:
            raise
        # Others may have left something, or an operator may have paid in.
        return None
    return Admitted(offered.plan, hold, grant, one.markup)


async def _pay(one: Asking, grant: Grant) -> Admitted:
    ledger = one.core.parts.ledger
    purse = one.purse
    if not purse.limited:
        return Admitted(one.plan, ledger.reserve(purse.wallets, 0), grant, one.markup)
    for attempt in range(_TRIES):
        try:
            offered = _offer(one, purse, elsewhere=attempt == 0)
        except Refused:
            if attempt:
                raise
            # An operator may have paid in meanwhile.
            await ledger.wallets.look(purse.wallets)
            continue
        hold = await ledger.fund(purse.wallets, offered.ceiling)
        if hold is not None:
            return Admitted(offered.plan, hold, grant, one.markup)
    raise Refused(
        insufficient_credit("The balance or budget of this key is used up by requests under way.")
    )


def _offer(one: Asking, purse: Purse, *, elsewhere: bool = False) -> Offer:
    affordable = one.core.parts.ledger.wallets.affordable(purse.wallets, elsewhere=elsewhere)
    if affordable is None:
        raise AssertionError("a limited purse has a limited wallet")
    plan, inbound = one.plan, one.inbound
    costs = [
        quote(candidate.model, inbound, plan.input_estimate, one.at, one.markup)
        for candidate in plan.candidates
    ]
    estimate = one.core.snapshot.output_estimate
    return offer(plan, costs, inbound.max_output, affordable, estimate)
