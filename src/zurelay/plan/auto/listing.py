"""The smart choice as a model in the list: what its candidates can do together, what they cost.

Says what there is to choose from for one caller. It does not know the shape of lists.
"""

from collections.abc import Iterable

from msgspec import Struct

from zurelay.catalogue.model import Model, Price, Reasoning
from zurelay.catalogue.price import price_at
from zurelay.chat.effort import SCALE
from zurelay.plan.auto.choose import Caller, pool_for
from zurelay.plan.health import Health
from zurelay.plan.route import Auto, RoutingTable


class Listed(Struct, frozen=True):
    """What a caller may have chosen for it.

    Attributes:
        model: an entry with the union of its candidates' abilities, without a price.
        prices: of its candidates, each with its mark-up in millionths.
        routes_up: routes of all of them that can be tried now.
    """

    model: Model
    prices: tuple[tuple[Price, int], ...]
    routes_up: int


def listed(
    table: RoutingTable, auto: Auto, caller: Caller, *, health: Health, now: float, at: float
) -> Listed | None:
    """The entry of the smart choice for a caller; None where nothing may be chosen for it.

    Args:
        table: everything that is served.
        auto: the rules for all callers.
        caller: who asks.
        health: what is known of the routes.
        now: the clock of `health`.
        at: Unix time, which decides prices.
    """
    served = [entry.served for entry in pool_for(table, auto, caller).entries]
    if not served:
        return None
    models = [one.model for one in served]
    sold = (route.model or one.model for one in served for route in one.routes)
    prices = ((price_at(model, at), model.markup) for model in sold)
    return Listed(
        model=_union(auto.id, models),
        prices=tuple((price, markup) for price, markup in prices if price is not None),
        routes_up=sum(health.is_up(route, now) for one in served for route in one.routes),
    )


def _union(model_id: str, models: Iterable[Model]) -> Model:
    models = list(models)
    levels = {level for one in models if one.reasoning for level in one.reasoning.levels}
    kinds = {kind for one in models for kind in one.input}
    return Model(
        id=model_id,
        name="Smart choice",
        vendor="",
        upstream=model_id,
        context=max((one.context for one in models if one.context), default=None),
        max_output=max((one.max_output for one in models if one.max_output), default=None),
        input=tuple(kind for kind in ("text", "image", "pdf", "audio", "video") if kind in kinds),
        reasoning=Reasoning(tuple(level for level in SCALE if level in levels)),
        tools=any(one.tools is not False for one in models),
        mode="chat",
    )
