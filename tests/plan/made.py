"""Models, providers, routes and their fates, for stories about plans."""

from collections.abc import Sequence

from zurelay.catalogue.model import Model, Price, Reasoning
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.plan.health import Health
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


def fault(kind: FaultKind, retry_after: float | None = None) -> Fault:
    return Fault(kind, "words", status=500, retry_after=retry_after)


def fail(
    health: Health,
    of: Route,
    kind: FaultKind,
    now: float = 0.0,
    times: int = 1,
    retry_after: float | None = None,
) -> None:
    for _ in range(times):
        health.began(of, now)
        health.failed(of, fault(kind, retry_after), now, "account")


def succeed(health: Health, of: Route, now: float = 0.0, first: float = 1.0) -> None:
    health.began(of, now)
    health.succeeded(of, now, first, "account")
