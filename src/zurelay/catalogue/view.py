"""Models as callers see them: the answers of `GET /v1/models` in both shapes.

Shapes only. Which models a key may see, and which routes are up, is told by the caller; no
upstream name and no provider ever stands in a view.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from zurelay.catalogue.model import Model, Price, Reasoning
from zurelay.catalogue.money import NANO, NO_MARKUP
from zurelay.catalogue.price import CALLS, CLASSES, decimal_text, per_million, price_at
from zurelay.chat.effort import clamp

Shape = dict[str, Any]


class PageError(ValueError):
    """A cursor or a limit of a list that cannot be used; `param` names it."""

    def __init__(self, param: str, problem: str) -> None:
        super().__init__(problem)
        self.param = param
        self.problem = problem


def model_view(
    model: Model, routes_up: int, now: float, owner: str, markup: int | None = None
) -> Shape:
    """A model in OpenAI's shape, with what this gateway adds.

    Args:
        model: the model.
        routes_up: how many of its routes can be tried now.
        now: Unix time, for the price in force.
        owner: `owned_by` of models that are in no vendor's catalogue.
        markup: of the key that asks, in millionths; None for the model's own.
    """
    price = price_at(model, now)
    reasoning = model.reasoning
    factor = model.markup if markup is None else markup
    return {
        "id": model.id,
        "object": "model",
        "created": _released(model),
        "owned_by": model.vendor or owner,
        "name": model.name,
        "context": model.context,
        "max_output": model.max_output,
        "input_modalities": list(model.input),
        "reasoning": None
        if reasoning is None
        else {"levels": list(reasoning.levels), "default": reasoning.default},
        "price": None if price is None else price_view(price, factor),
        "routes_up": routes_up,
    }


def levels_text(reasoning: Reasoning, mark: str) -> str:
    """Effort levels on one line, the default with `mark`; empty for a model without them."""
    return " ".join(
        level + mark if level == reasoning.default else level for level in reasoning.levels
    )


def off_text(reasoning: Reasoning) -> str:
    """What `none` comes to on a model: off, or the level used because it cannot stop thinking."""
    used = clamp("none", reasoning.levels)
    return "off" if used == "none" else used


def model_list(views: Sequence[Shape]) -> Shape:
    """OpenAI's list of models."""
    return {"object": "list", "data": list(views)}


def price_view(price: Price, markup: int = NO_MARKUP) -> Shape:
    """A price as decimal strings of USD per million tokens, by token class.

    `above` lists the prices of prompts longer than `prompt_tokens`, `tiers` those of other service
    tiers; `per_request`, and `per_call` by tool, are in USD. All with `markup`, in millionths.
    """
    view = _sized(price, markup)
    unit = NANO * NO_MARKUP
    if price.per_request:
        view["per_request"] = decimal_text(price.per_request * markup, unit)
    if price.per_call:
        fees = ((name, price.per_call[name]) for name in CALLS if name in price.per_call)
        view["per_call"] = {name: decimal_text(fee * markup, unit) for name, fee in fees}
    if price.tiers:
        view["tiers"] = {name: _sized(tier, markup) for name, tier in price.tiers.items()}
    return view


def range_view(prices: Iterable[tuple[Price, int]]) -> Shape | None:
    """The least and the most that each class of token costs over several prices; None for none.

    `prices`: each with its mark-up in millionths. The amounts are those of the shortest prompts.
    """
    amounts: dict[str, list[int]] = {}
    for price, markup in prices:
        for name in CLASSES:
            if name in price.classes:
                amounts.setdefault(name, []).append(price.classes[name] * markup)
    if not amounts:
        return None
    known = [name for name in CLASSES if name in amounts]
    return {
        end: {name: per_million(pick(amounts[name]), 1) for name in known}
        for end, pick in (("from", min), ("to", max))
    }


def _sized(price: Price, markup: int) -> Shape:
    """Amounts, and those of longer prompts."""
    view = _amounts(price, markup)
    if price.above:
        view["above"] = [
            {"prompt_tokens": step, **_amounts(over, markup)} for step, over in price.above
        ]
    return view


def messages_model_view(model: Model) -> Shape:
    """A model in Anthropic's shape."""
    created = datetime.fromtimestamp(_released(model), UTC)
    view: Shape = {
        "type": "model",
        "id": model.id,
        "display_name": model.name,
        "created_at": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lifecycle": "deprecated" if model.retires else "active",
    }
    if model.retires:
        view["retires_at"] = f"{model.retires}T00:00:00Z"
    if model.context is not None:
        view["max_input_tokens"] = model.context
    if model.max_output is not None:
        view["max_tokens"] = model.max_output
    return view


def messages_model_list(models: Sequence[Model], query: Mapping[str, str]) -> Shape:
    """One page of Anthropic's list of models, by `after_id`, `before_id` and `limit`.

    Raises:
        PageError: a cursor that is no model of the list, or a limit outside 1 to 1000.
    """
    limit = _limit(query.get("limit", "20"))
    first, last = 0, len(models)
    if "after_id" in query:
        first = _place(models, query["after_id"], "after_id") + 1
    if "before_id" in query:
        last = _place(models, query["before_id"], "before_id")
    window = models[first:last]
    backwards = "before_id" in query and "after_id" not in query
    page = window[-limit:] if backwards else window[:limit]
    return {
        "data": [messages_model_view(model) for model in page],
        "has_more": len(window) > len(page),
        "first_id": page[0].id if page else None,
        "last_id": page[-1].id if page else None,
    }


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= 1000):
        raise PageError("limit", "limit must be a number from 1 to 1000")
    return int(text)


def _place(models: Sequence[Model], model_id: str, param: str) -> int:
    for place, model in enumerate(models):
        if model.id == model_id:
            return place
    raise PageError(param, f"{param} is no model of this list")


def _amounts(price: Price, markup: int) -> Shape:
    found = price.classes
    return {name: per_million(found[name], markup) for name in CLASSES if name in found}


def _released(model: Model) -> int:
    if not model.released:
        return 0
    return int(datetime.fromisoformat(model.released).replace(tzinfo=UTC).timestamp())
