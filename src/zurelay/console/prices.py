"""Prices: what each model costs now, the mark-up on it, and prices that operators set by day.

Amounts are in dollars per million tokens. Knows no request.
"""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from zurelay.catalogue.model import Model, Price
from zurelay.catalogue.money import NO_MARKUP, format_factor
from zurelay.catalogue.price import CatalogueError, parse_price, price_at
from zurelay.catalogue.view import price_view
from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import OPERATORS, Form, Html, Page, Redirect, Reply, Visit, read
from zurelay.console.parts import ConsoleParts
from zurelay.office import prices
from zurelay.office.desk import no_such
from zurelay.office.prices import PriceForm, PriceView

HOME: Final = "/console/prices"
CLASSES: Final = {
    "input": N_("Input"),
    "cached_input": N_("Cached input"),
    "cache_write": N_("Written to the cache"),
    "cache_write_long": N_("Written to the cache for an hour"),
    "audio_input": N_("Audio input"),
    "image_input": N_("Image input"),
    "output": N_("Output"),
    "audio_output": N_("Audio output"),
    "image_output": N_("Image output"),
    "per_request": N_("Each request"),
}
_AMOUNT = N_("Write dollars, such as 4 or 0.25.")
_NEEDED = N_("Write dollars, such as 4 or 0.25; a price has input and output at least.")
FAULTS: Final = {
    "model": N_("No model of that name is served here."),
    "since": N_("Write a date such as 2026-12-31."),
    "price": _NEEDED,
    **{f"price.{name}": _AMOUNT for name in CLASSES},
    "price.input": _NEEDED,
    "price.output": _NEEDED,
}
_ROWS = 60


@dataclass(frozen=True, slots=True)
class Row:
    """A model and its price. Amounts by class, before the mark-up and with it.

    Attributes:
        shaped: the price differs by size of prompt, tier or hour.
        ours: it is one that an operator set.
    """

    id: str
    name: str
    plain: dict[str, Any]
    paid: dict[str, Any]
    factor: str | None
    shaped: bool
    free: bool
    ours: bool


def served(parts: ConsoleParts) -> list[Model]:
    """Every model that is served; to be called on the event loop."""
    return [one.model for one in parts.table().models.values()]


def index(visit: Visit) -> Reply:
    """What models cost, and what was set."""
    query = visit.query
    changed = prices.list_prices(visit.parts.desk, visit.actor)
    sought = query.get("q", "").lower()
    found = [one for one in visit.gathered if sought in f"{one.id} {one.name}".lower()]
    first = int(query["from"]) if query.get("from", "").isdecimal() else 0
    more = None
    if len(found) > first + _ROWS:
        more = f"{HOME}?{urlencode({'q': sought, 'from': first + _ROWS})}"
    now = visit.parts.wall()
    return Html(
        "prices.html",
        {
            "form": Form.of(q=query.get("q", "")),
            "rows": [row(one, now, changed) for one in found[first : first + _ROWS]],
            "count": len(found),
            "changed": changed,
            "classes": CLASSES,
            "more": more,
        },
    )


def new(visit: Visit) -> Reply:
    """Asks for a price, filled with what holds now."""
    model = next((one for one in visit.gathered if one.id == visit.query.get("model")), None)
    if model is None:
        return _form(visit, Form.of(model=visit.query.get("model", "")))
    price = price_at(model, visit.parts.wall())
    fields: dict[str, object] = {"model": model.id}
    if price is not None:
        view = price_view(price)
        fields |= {f"price.{name}": view[name] for name in CLASSES if name in view}
    return _form(visit, Form.of(**fields))


def create(visit: Visit) -> Reply:
    """Sets a price."""
    form = visit.form
    amounts = {name: form.dollars(f"price.{name}") for name in CLASSES}
    price: object = {name: amount for name, amount in amounts.items() if amount}
    if form.get("free"):
        price = "free"
    try:
        fields = {"model": form.get("model"), "price": price, "since": form.optional("since")}
        made = prices.set_price(visit.parts.desk, visit.actor, read(PriceForm, fields))
    except Refused as refused:
        if refused.problem.status != 400:
            raise
        return _form(visit, form.failed(refused).explain(visit, FAULTS), 400)
    return Redirect(HOME, visit.gettext("The price of %(model)s is set.", model=made.model))


def delete(visit: Visit) -> Reply:
    """Takes a price back."""
    model, since = visit.form.get("model"), visit.form.optional("since")
    prices.delete_price(visit.parts.desk, visit.actor, model, since)
    return Redirect(HOME, visit.gettext("That price of %(model)s counts no more.", model=model))


def row(model: Model, now: float, changed: list[PriceView]) -> Row:
    """A model's price as it is now."""
    price = price_at(model, now)
    return Row(
        id=model.id,
        name=model.name,
        plain={} if price is None else price_view(price),
        paid={} if price is None else price_view(price, model.markup),
        factor=None if model.markup == NO_MARKUP else format_factor(model.markup),
        shaped=_shaped(price),
        free=price is not None and not price.most_input and not price.most_output,
        ours=any(one.model == model.id and _same(price, one) for one in changed),
    )


# Our own.


def _shaped(price: Price | None) -> bool:
    return price is not None and bool(price.above or price.tiers or price.hours)


def _same(price: Price | None, one: PriceView) -> bool:
    """Whether the price that holds is the one that was set."""
    try:
        return price is not None and parse_price(one.price).classes == price.classes
    except CatalogueError:
        return False


def _form(visit: Visit, form: Form, status: int = 200) -> Reply:
    model = next((one for one in visit.gathered if one.id == form.get("model")), None)
    if model is None and not form.get("model"):
        raise no_such("model", "")
    price = None if model is None else price_at(model, visit.parts.wall())
    shaped = _shaped(price)
    return Html("prices_new.html", {"form": form, "classes": CLASSES, "shaped": shaped}, status)


PAGES = (
    Page("GET", HOME, OPERATORS, index, served),
    Page("POST", HOME, OPERATORS, create, served),
    Page("GET", f"{HOME}/new", OPERATORS, new, served),
    Page("POST", f"{HOME}/delete", OPERATORS, delete),
)
