"""Replays the shapes with one way to choose after another, and adds up what each costs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bench.auto.shapes import SHAPES, Shape
from zurelay.access.keys import Key
from zurelay.catalogue import tiers
from zurelay.catalogue.load import standard
from zurelay.catalogue.model import Model
from zurelay.catalogue.price import price_at
from zurelay.chat.estimate import prompt_tokens
from zurelay.chat.usage import Usage
from zurelay.config.routing import build_table
from zurelay.config.settings import ProviderSettings, Sandbox, Settings
from zurelay.formats.base import Inbound
from zurelay.formats.openai_chat.front import ChatFront
from zurelay.meter.charge import charge
from zurelay.plan.affinity import Affinity
from zurelay.plan.auto.choose import Caller, pool_for
from zurelay.plan.auto.cost import THINKING, level
from zurelay.plan.auto.features import features
from zurelay.plan.auto.shapes import shape_of
from zurelay.plan.health import Health
from zurelay.plan.planner import make_plan
from zurelay.plan.route import RoutingTable

AT = 1_795_953_600.0
"""The moment whose prices hold: 2026-11-29, noon in UTC."""

LABS = ("anthropic", "openai", "gemini")
ALL = (
    *LABS,
    "xai",
    "deepseek",
    "moonshot",
    "zai",
    "mistral",
    "meta",
    "dashscope",
    "cohere",
    "groq",
    "openrouter",
)
CONFIGURATIONS = {
    "Anthropic, OpenAI and Google": LABS,
    "Anthropic alone": ("anthropic",),
    "thirteen vendors": ALL,
}

KEY = Key("key", "bench", "acct", "bench", b"", "", 0)
_FRONT = ChatFront()


@dataclass(frozen=True)
class Outcome:
    """What a way to choose came to, over all requests.

    Attributes:
        usd: of all requests together.
        met: part of the requests whose model was of the stated tier or above.
        requests: how many there were.
    """

    usd: float
    met: float
    requests: int


@dataclass(frozen=True)
class Asked:
    """One request of a conversation."""

    shape: Shape
    inbound: Inbound
    tokens: int


def serving(kinds: Sequence[str]) -> RoutingTable:
    """What a gateway with keys of those vendors serves, and nothing else configured."""
    providers = {kind: ProviderSettings(kind=kind, api_keys=("k",)) for kind in kinds}
    return build_table(
        Settings(providers=providers, sandbox=Sandbox(enabled=False)), standard(), {}
    )


def asked(body: dict[str, Any], model: str) -> Inbound:
    return _FRONT.read(msgspec.json.encode({"model": model, **body}))


def conversations(model: str) -> Iterator[list[Asked]]:
    for shape in SHAPES:
        read = [asked(body, model) for body in shape.turns]
        yield [Asked(shape, one, prompt_tokens(one.text_length, one.media_count)) for one in read]


def cost(model: Model, request: Asked, cached: int) -> int:
    """Nano-dollars of a request at a model that has so many tokens of it in its cache."""
    price = price_at(model, AT)
    if price is None:
        raise AssertionError(f"{model.id} has no price")
    if "cached_input" not in price.classes:
        cached = 0
    output = request.shape.answer + THINKING[level(model, request.inbound.effort)]
    usage = Usage(input=request.tokens - cached, cached_input=cached, output=output)
    return charge(price, usage).cost


def meets(model: Model, request: Asked) -> bool:
    """Whether its tier is the stated one or above; unrated models count as light."""
    return max(1, tier_of(model)) >= tiers.number_of(request.shape.tier)


Choose = Callable[[Asked], Model]


def replay(table: RoutingTable, begin: Callable[[], Choose]) -> Outcome:
    """All conversations, each with a chooser of its own."""
    nano = met = requests = 0
    if table.auto is None:
        raise AssertionError("the table has no smart choice")
    for conversation in conversations(table.auto.id):
        choose = begin()
        last, kept = "", 0
        for request in conversation:
            model = choose(request)
            nano += cost(model, request, kept if model.id == last else 0)
            met += meets(model, request)
            requests += 1
            last, kept = model.id, request.tokens
    return Outcome(nano / 1e9, met / requests, requests)


def smart(table: RoutingTable) -> Callable[[], Choose]:
    """The rule itself, with a conversation's model remembered."""

    def begin() -> Choose:
        affinity = Affinity()

        def choose(request: Asked) -> Model:
            plan = make_plan(
                table,
                request.inbound,
                may_use=KEY.may_use,
                health=Health(),
                affinity=affinity,
                account=KEY.account,
                now=0.0,
                draw=lambda: 0.5,
                key=KEY,
                wall=lambda: AT,
            )
            first = plan.candidates[0]
            if plan.conversation is not None:
                affinity.remember(plan.conversation, first.route.id, 0.0)
            return first.model

        return choose

    return begin


def able(table: RoutingTable, request: Asked) -> list[Model]:
    """The models that can do a request, whatever their tier."""
    if table.auto is None:
        raise AssertionError("the table has no smart choice")
    pool = pool_for(table, table.auto, Caller(KEY.account, KEY.may_use, KEY))
    shape = shape_of(pool, features(request.inbound), request.inbound.needs, 1, AT)
    return [row.routes[0].model or row.entry.served.model for row in shape.rows.values()]


def tier_of(model: Model) -> int:
    stated = tiers.standard().get(model.id)
    return 0 if stated is None else stated.tier


def cheapest(table: RoutingTable) -> Callable[[], Choose]:
    """The least cost of all that can do it."""

    def choose(request: Asked) -> Model:
        return min(able(table, request), key=lambda model: cost(model, request, 0))

    return lambda: choose


def best(table: RoutingTable) -> Callable[[], Choose]:
    """The highest tier there is, and the least cost inside it."""

    def choose(request: Asked) -> Model:
        return min(
            able(table, request), key=lambda model: (-tier_of(model), cost(model, request, 0))
        )

    return lambda: choose


def at_random(table: RoutingTable) -> Outcome:
    """What choosing by chance comes to in the mean, each time anew."""
    usd = met = requests = 0.0
    if table.auto is None:
        raise AssertionError("the table has no smart choice")
    for conversation in conversations(table.auto.id):
        for request in conversation:
            models = able(table, request)
            usd += sum(cost(model, request, 0) for model in models) / len(models) / 1e9
            met += sum(meets(model, request) for model in models) / len(models)
            requests += 1
    return Outcome(usd, met / requests, int(requests))


def outcomes(kinds: Sequence[str]) -> dict[str, Outcome]:
    """Every way to choose, for a gateway with keys of those vendors."""
    table = serving(kinds)
    return {
        "zurelay-auto": replay(table, smart(table)),
        "always the cheapest": replay(table, cheapest(table)),
        "always the best": replay(table, best(table)),
        "at random": at_random(table),
    }


def rows() -> Iterator[tuple[str, str, str, str, str]]:
    """The table that is printed, and that the documentation shows."""
    for name, kinds in CONFIGURATIONS.items():
        found = outcomes(kinds)
        top = found["always the best"].usd
        for way, outcome in found.items():
            per_thousand = outcome.usd / outcome.requests * 1000
            yield (
                name,
                way,
                f"{per_thousand:.2f}",
                f"{outcome.usd / top:.0%}",
                f"{outcome.met:.0%}",
            )
