"""Tables, requests and choices for stories about the smart choice."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tests.plan.made import provider, route
from zurelay.access.auto import AutoRules
from zurelay.access.keys import Key
from zurelay.catalogue.model import Model, Price, Reasoning
from zurelay.formats.base import Inbound
from zurelay.formats.openai_chat.front import ChatFront
from zurelay.plan.affinity import Affinity
from zurelay.plan.auto.choose import Caller, Choice, choose
from zurelay.plan.auto.pool import Named
from zurelay.plan.health import Health
from zurelay.plan.route import Auto, Route, RoutingTable, ServedModel

AUTO = "zurelay-auto"
AT = 1_795_900_000.0  # 2026-11-28
USD = 10**12
"""1e-18 USD per token in one USD per million tokens."""

LEVELS = Reasoning(("low", "medium", "high"), "medium")
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "x", "schema": {"type": "object", "properties": {}}},
}
IMAGE = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is it?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ],
    }
]


def usd(of_input: float, of_output: float, **more: Any) -> Price:
    return Price({"input": int(of_input * USD), "output": int(of_output * USD)}, **more)


def a_model(
    model_id: str,
    price: Price | None = None,
    *,
    vendor: str = "v",
    context: int | None = 100_000,
    max_output: int | None = 50_000,
    kinds: tuple[str, ...] = ("text", "image"),
    reasoning: Reasoning | None = LEVELS,
    tools: bool | None = True,
    **more: Any,
) -> Model:
    return Model(
        id=model_id,
        name=model_id,
        vendor=vendor,
        upstream=model_id,
        context=context,
        max_output=max_output,
        input=kinds,
        reasoning=reasoning,
        price=price,
        tools=tools,
        mode="chat",
        **more,
    )


def serving(
    *models: Model,
    rules: AutoRules | None = None,
    routes: Mapping[str, Sequence[Route]] = MappingProxyType({}),
) -> RoutingTable:
    return RoutingTable(
        {
            one.id: ServedModel(
                one, tuple(routes.get(one.id, [route(provider(f"at-{one.id}"), one.id)]))
            )
            for one in models
        },
        Auto(AUTO, rules or AutoRules()),
    )


def tiered(**tiers: str) -> AutoRules:
    """Rules that give models their tiers by id."""
    words = ("light", "standard", "strong", "frontier")
    return AutoRules(tiers=tuple((name, words.index(tier) + 1) for name, tier in tiers.items()))


def asking(content: str = "Hello", model: str = AUTO, **fields: Any) -> Inbound:
    body = {"model": model, "messages": [{"role": "user", "content": content}], **fields}
    return ChatFront().read(json.dumps(body).encode())


def a_key(**terms: Any) -> Key:
    return Key("key_1", "k", "acct", "default", b"", "1234", 0, **terms)


def chosen(
    table: RoutingTable,
    inbound: Inbound,
    *,
    among: Sequence[str] | None = None,
    health: Health | None = None,
    affinity: Affinity | None = None,
    key: Key | None = None,
    now: float = 0.0,
    at: float = AT,
) -> Choice:
    assert table.auto is not None
    key = key or a_key()
    named = None if among is None else [Named(table.models[name]) for name in among]
    return choose(
        table,
        table.auto,
        inbound,
        named,
        Caller("acct", key.may_use, key),
        health=health or Health(),
        affinity=affinity or Affinity(),
        now=now,
        at=at,
    )


def ids(choice: Choice) -> list[str]:
    return [row.entry.id for row in choice.rows]
