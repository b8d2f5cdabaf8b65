"""The smart choice of one request, from what is served to the models to ask in order.

Puts features, tier, pool, shape, ranking and reason together. It does not know how a model's
routes are ordered or what is sent to them.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zurelay.access.keys import Key
from zurelay.catalogue.tiers import name_of
from zurelay.chat.problems import Refused
from zurelay.formats.base import Inbound
from zurelay.meter.record import AutoChoice, RankedModel
from zurelay.plan.affinity import Affinity, conversation
from zurelay.plan.auto import reasons, sandbox, tiers
from zurelay.plan.auto.features import Features, features
from zurelay.plan.auto.pool import Barred, Named, Pool, pool_among, pool_of
from zurelay.plan.auto.ranking import Ranking, rank, stand_ins
from zurelay.plan.auto.shapes import Row, shape_of
from zurelay.plan.health import Health
from zurelay.plan.route import Auto, RoutingTable

_POOLS: Final = "auto pools"
_MOST_POOLS: Final = 64
"""Kinds of keys whose pools are kept."""

_MARK: Final = "auto:"
"""Before the account's id, so that a conversation with a model asked for by name is another."""


_OPENING: Final = 4096
"""Bytes of a conversation's opening that name it."""


class Choice(Struct, frozen=True):
    """What was chosen.

    Attributes:
        rows: the models to ask, in order, with the routes that can do it.
        conversation: by which the route that answers is remembered.
        warm: id of the route that served the conversation last.
        record: of the choice, for the log.
        barred: models that were ruled out, and why.
    """

    rows: tuple[Row, ...]
    conversation: bytes | None
    warm: str | None
    record: AutoChoice
    barred: tuple[Barred, ...] = ()


class Caller(Struct, frozen=True):
    """Whose choice it is.

    Attributes:
        account: id.
        may_use: whether a model id is open to it.
        key: its key, where the rules may differ by it.
    """

    account: str
    may_use: Callable[[str], bool]
    key: Key | None = None


def choose(
    table: RoutingTable,
    auto: Auto,
    inbound: Inbound,
    named: Sequence[Named] | None,
    caller: Caller,
    *,
    health: Health,
    affinity: Affinity,
    now: float,
    at: float,
) -> Choice:
    """Choose for one request.

    Args:
        table: everything that is served.
        auto: the rules for all callers.
        inbound: the request; its effort is a level.
        named: the models that it names in `models`; None where it names none.
        caller: whose it is.
        health: what is known of the routes.
        affinity: which route served which conversation.
        now: the clock of `health` and `affinity`.
        at: Unix time, which decides prices.

    Raises:
        Refused: no model is left; the problem says what ruled each one out.
    """
    pool = pool_for(table, auto, caller) if named is None else _among(table, auto, caller, named)
    seen = features(inbound)
    signs = tiers.signs(seen)
    tier = tiers.wanted(seen, signs)
    shape = shape_of(pool, seen, inbound.needs, tier, at)
    if not shape.groups:
        raise Refused(reasons.nothing_left(auto.id, shape.barred, seen, inbound.needs))
    name = _conversation(caller.account, inbound)
    warm = affinity.find(name, now)
    if pool.sandbox:
        order = sandbox.in_order(seen) if named is None else ()
        ranking = stand_ins(shape, seen, order, health, now)
    else:
        ranking = rank(shape, seen, health, now, pool.rules.weights, warm)
    return Choice(
        rows=tuple(one.row for one in ranking.models),
        conversation=name,
        warm=warm,
        record=_record(ranking, tier, seen, signs),
        barred=shape.barred,
    )


def _conversation(account: str, inbound: Inbound) -> bytes | None:
    """Its name; of a very long opening no more than the beginning and the length count."""
    opening = inbound.opening
    if len(opening) > _OPENING:
        inbound = replace(inbound, opening=b"%d:%b" % (len(opening), opening[:_OPENING]))
    return conversation(_MARK + account, inbound)


def pool_for(table: RoutingTable, auto: Auto, caller: Caller) -> Pool:
    """What there is to choose from for a caller."""
    key = caller.key
    rules = auto.rules if key is None else auto.rules.under(key.auto)
    if key is None:
        return pool_of(table, rules, caller.may_use)
    pools: dict[object, Pool] = table.made.setdefault(_POOLS, {})
    kind = (rules, key.models)
    pool = pools.get(kind)
    if pool is None:
        if len(pools) >= _MOST_POOLS:
            pools.clear()
        pool = pools[kind] = pool_of(table, rules, caller.may_use)
    return pool


def _among(table: RoutingTable, auto: Auto, caller: Caller, named: Sequence[Named]) -> Pool:
    rules = auto.rules if caller.key is None else auto.rules.under(caller.key.auto)
    return pool_among(table, rules, named)


def _record(ranking: Ranking, tier: int, seen: Features, signs: tuple[str, ...]) -> AutoChoice:
    return AutoChoice(
        tier=name_of(tier),
        reason=reasons.sentence(ranking, tier, seen, signs),
        features=reasons.features_view(seen, signs),
        ranking=[
            RankedModel(one.row.entry.id, name_of(one.row.entry.tier), reasons.whole(one.cost))
            for one in ranking.models
        ],
    )
