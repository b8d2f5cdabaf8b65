"""`zurelay models`: what this configuration serves, and what it costs."""

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zurelay.cli.options import DATA, Config, Data, Json, example, http_client, opened, settings
from zurelay.cli.terminal import Failed, note, print_json, print_table, progress

if TYPE_CHECKING:
    from zurelay.config.routing import Prices
    from zurelay.config.settings import Settings
    from zurelay.plan.route import RoutingTable, ServedModel


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("models", epilog=example("models --json"))(models)


Reasoning = Annotated[
    bool, typer.Option("--reasoning", help="Effort levels alone, and what `none` comes to.")
]


def models(
    config: Config = None, data: Data = DATA, reasoning: Reasoning = False, as_json: Json = False
) -> None:
    """List the models this configuration serves, with windows, effort levels and prices.

    Prices are in USD per million tokens, mark-up included. Servers of your own are asked for their
    lists.
    """
    table = routing_table(settings(config, data), _prices(config, data))
    now = time.time()
    if as_json:
        print_json([_view(one, now) for one in table.models.values()])
        return
    if reasoning:
        print_table(
            ("model", "levels", "default", "none becomes"),
            [_levels(one) for one in table.models.values()],
            whole=("model",),
            empty="no model is served",
        )
        return
    print_table(
        ("model", "context", "output", "input kinds", "effort", "in $/M", "out $/M", "routes"),
        [_row(one, now) for one in table.models.values()],
        right=("context", "output", "in $/M", "out $/M"),
        spare=("input kinds", "output", "routes"),
        whole=("model",),
        empty="no model is served",
    )


def routing_table(found: "Settings", prices: "Prices | None" = None) -> "RoutingTable":
    """What a configuration serves. Asks servers that tell their own models; notes on stderr.

    `prices`: set at run time.
    """
    from zurelay.config import build_table, load_catalogue, providers

    own = [one.name for one in providers(found) if one.kind.lists_models]
    lists: dict[str, tuple[str, ...]] = {}
    if own:
        with progress(f"asking {', '.join(own)} for models"):
            lists = asyncio.run(_lists(found))
        for name in own:
            if not lists.get(name):
                note(f"note: {name} told no models")
    return build_table(found, load_catalogue(found), lists, prices or {})


def _prices(config: Path | None, data: Path) -> "Prices":
    """Prices set at run time; none where there is no store yet, or it cannot be read."""
    from zurelay.app.prices import StoredPrices
    from zurelay.store.errors import StoreError

    try:
        with opened(config, data) as store:
            stored = StoredPrices(store)
            stored.changed()
            return stored.current
    except Failed:
        return {}
    except StoreError as error:
        note(f"note: prices set at run time are not among these: {error}")
        return {}


async def _lists(found: "Settings") -> dict[str, tuple[str, ...]]:
    from zurelay.app.model_lists import ask_all
    from zurelay.config import providers
    from zurelay.telemetry import logs

    logs.configure("error", "auto", sys.stderr)
    async with http_client() as client:
        return await ask_all(client, providers(found), {})


def _view(one: "ServedModel", now: float) -> dict[str, Any]:
    from zurelay.catalogue.view import model_view

    view = model_view(one.model, len(one.routes), now, "")
    view["routes"] = [route.id for route in one.routes]
    view["fallbacks"] = list(one.fallbacks)
    return view


def _row(one: "ServedModel", now: float) -> tuple[str, ...]:
    from zurelay.catalogue.price import per_million, price_at
    from zurelay.catalogue.view import levels_text

    model = one.model
    price = price_at(model, now)
    effort = "unknown" if model.reasoning is None else levels_text(model.reasoning, mark="*")
    classes = {} if price is None else price.classes
    cost = [
        per_million(classes[side], model.markup) if side in classes else ""
        for side in ("input", "output")
    ]
    return (
        model.id,
        _tokens(model.context),
        _tokens(model.max_output),
        " ".join(model.input),
        effort or "none",
        *cost,
        ", ".join(route.provider.name for route in one.routes),
    )


def _levels(one: "ServedModel") -> tuple[str, ...]:
    from zurelay.catalogue.view import levels_text, off_text

    reasoning = one.model.reasoning
    if reasoning is None:
        return (one.model.id, "unknown", "", "")
    levels = levels_text(reasoning, mark="")
    return (one.model.id, levels or "none", reasoning.default or "", off_text(reasoning))


def _tokens(count: int | None) -> str:
    """Tokens as people say them: 128k, 1M, 1.05M."""
    if count is None:
        return ""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return str(count)
