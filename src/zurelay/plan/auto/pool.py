"""The models that may be chosen at all: served here, allowed by the rules, open to the key.

Worked out once for a table, rules and kind of key. It does not know requests.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from zurelay.access.auto import AutoRules
from zurelay.catalogue import tiers
from zurelay.catalogue.model import Model
from zurelay.plan.abilities import gives
from zurelay.plan.auto.sandbox import STAND_INS
from zurelay.plan.route import RoutingTable, ServedModel

SANDBOX: Final = "sandbox"

NOT_ALLOWED: Final = "not among those the operator allows"
EXCLUDED: Final = "excluded by the operator"
NO_PRICE: Final = "no price is known"
NO_SANDBOX: Final = "sandbox models are chosen only where nothing else is configured"
STOPPED: Final = "stopped by the operator"
NO_ANSWERS: Final = "makes embeddings, not answers"


@dataclass(frozen=True, slots=True)
class Named:
    """A model that a request names in `models`; `parameters` are those of a sandbox id."""

    served: ServedModel
    parameters: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that may be chosen.

    Attributes:
        tier: its number; 0 for none.
        place: among all: newer ones of a stated line first, then the table's order, or that of
            `models`; decides between equals.
        unpriced: it may be chosen without a known price: the operator named it.
        parameters: of a sandbox id.
    """

    served: ServedModel
    tier: int
    place: int
    unpriced: bool = False
    parameters: str = ""

    @property
    def id(self) -> str:
        """Its public id."""
        return self.served.model.id


@dataclass(frozen=True, slots=True)
class Barred:
    """A model that may not be chosen, and why."""

    model: str
    why: str


@dataclass(slots=True)
class Pool:
    """What there is to choose from.

    Attributes:
        rules: in force.
        entries: that may be chosen, in order.
        barred: that may not, of those the key may use.
        sandbox: there is nothing but sandbox models.
        windows: every size of window, in rising order; `outputs` of longest answers; `steps` of
            prompts at which a price changes.
        made: what was worked out for requests of one shape.
    """

    rules: AutoRules
    entries: tuple[Entry, ...]
    barred: tuple[Barred, ...] = ()
    sandbox: bool = False
    windows: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    made: dict[object, object] = field(default_factory=dict, repr=False)


def pool_of(table: RoutingTable, rules: AutoRules, may_use: Callable[[str], bool]) -> Pool:
    """Everything of the table that may be chosen."""
    sandbox = only_sandbox(table)
    named = (Named(one) for one in table.models.values() if may_use(one.model.id))
    return _pool(named, rules, sandbox=sandbox, unasked=True)


def pool_among(table: RoutingTable, rules: AutoRules, named: Sequence[Named]) -> Pool:
    """What may be chosen of the models that a request names."""
    return _pool(named, rules, sandbox=only_sandbox(table), unasked=False)


def only_sandbox(table: RoutingTable) -> bool:
    """Whether nothing but sandbox models is served."""
    known = table.made.get(only_sandbox)
    if known is None:
        known = all(
            one.model.vendor == SANDBOX or not gives(one.model, "chat")
            for one in table.models.values()
        )
        table.made[only_sandbox] = known
    return bool(known)


def _pool(named: Iterable[Named], rules: AutoRules, *, sandbox: bool, unasked: bool) -> Pool:
    """`unasked`: no request names these models."""
    entries: list[Entry] = []
    barred: list[Barred] = []
    for one in named:
        why = _bar(one.served, rules, sandbox=sandbox, unasked=unasked)
        if why is not None:
            if not unasked or why not in (NO_SANDBOX, NO_ANSWERS):
                barred.append(Barred(one.served.model.id, why))
            continue
        entries.append(_entry(one, rules, len(entries)))
    if unasked:
        entries.sort(key=_newest_first)
        entries = [replace(entry, place=place) for place, entry in enumerate(entries)]
    models = [model for entry in entries for model in _models(entry.served)]
    return Pool(
        rules,
        tuple(entries),
        tuple(barred),
        sandbox=sandbox and all(e.served.model.vendor == SANDBOX for e in entries),
        windows=_rising(model.context for model in models),
        outputs=_rising(model.max_output for model in models),
        steps=_rising(step for model in models for step in _steps(model)),
    )


def _bar(served: ServedModel, rules: AutoRules, *, sandbox: bool, unasked: bool) -> str | None:
    """Why the model may not be chosen; None if it may."""
    model = served.model
    if not served.routes:
        return STOPPED
    if not gives(model, "chat"):
        return NO_ANSWERS
    pattern = rules.allowed_by(model.id)
    if pattern is None:
        return NOT_ALLOWED
    if rules.excludes(model.id):
        return EXCLUDED
    unasked_for = model.vendor == SANDBOX and not pattern.startswith(SANDBOX)
    if unasked_for and (not sandbox or (unasked and model.id not in STAND_INS)):
        return NO_SANDBOX
    if pattern != model.id and not any(m.price or m.later for m in _models(served)):
        return NO_PRICE
    return None


def _entry(one: Named, rules: AutoRules, place: int) -> Entry:
    model_id = one.served.model.id
    tier = rules.tier(model_id)
    if tier is None:
        stated = tiers.standard().get(model_id)
        tier = tiers.UNRATED if stated is None else stated.tier
    unpriced = rules.allowed_by(model_id) == model_id
    return Entry(one.served, tier, place, unpriced, one.parameters)


def _newest_first(entry: Entry) -> tuple[bool, int]:
    """Models of a stated line by how new they are, then the others in the table's order."""
    stated = tiers.standard().get(entry.id)
    return (True, entry.place) if stated is None else (False, -stated.place)


def _models(served: ServedModel) -> Iterator[Model]:
    """The model as each of its routes has it."""
    return (route.model or served.model for route in served.routes)


def _steps(model: Model) -> Iterator[int]:
    prices = [model.price] if model.price is not None else []
    prices += model.later
    for price in [*prices, *(other for one in prices for _, other in one.hours)]:
        yield from (step for step, _ in price.above)


def _rising(sizes: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(sorted({size for size in sizes if size is not None}))
