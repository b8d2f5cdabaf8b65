"""Models, providers and routes for stories about plans."""

from collections.abc import Sequence

from zurelay.catalogue.model import Model, Price, Reasoning
from zurelay.chat.profile import Profile
from zurelay.plan.route import Route, RoutingTable, ServedModel
from zurelay.providers.base import Kind, Provider

LEVELS = Reasoning(("low", "medium", "high"), "medium")


def provider(
    name: str = "p",
    base_url: str = "",
    *,
    keys: tuple[str, ...] = ("k",),
    most: int | None = None,
    profile: Profile | None = None,
) -> Provider:
    kind = Kind("openai", "OpenAI", "openai_chat", "", profile=profile or Profile())
    return Provider(
        name, kind, base_url or f"https://{name}.example/v1", keys, max_concurrency=most
    )


def route(
    by: Provider | str = "p",
    upstream: str = "u",
    *,
    priority: int = 1,
    weight: float = 1.0,
    model: Model | None = None,
) -> Route:
    owner = provider(by) if isinstance(by, str) else by
    return Route(f"{owner.name}:{upstream}", 1, owner, upstream, priority, weight, model)


def model(
    model_id: str = "m",
    *,
    vendor: str = "v",
    context: int | None = None,
    kinds: tuple[str, ...] = (),
    reasoning: Reasoning | None = LEVELS,
    tools: bool | None = None,
    price: tuple[int, int] | None = None,
) -> Model:
    return Model(
        id=model_id,
        name=model_id,
        vendor=vendor,
        upstream=model_id,
        context=context,
        input=kinds,
        reasoning=reasoning,
        tools=tools,
        price=Price({"input": price[0], "output": price[1]}) if price else None,
    )


def served(
    of: Model | str, routes: Sequence[Route] = (), fallbacks: tuple[str, ...] = ()
) -> ServedModel:
    known = model(of) if isinstance(of, str) else of
    return ServedModel(known, tuple(routes) or (route("p", known.id),), fallbacks)


def table(*models: ServedModel) -> RoutingTable:
    return RoutingTable({one.model.id: one for one in models})
