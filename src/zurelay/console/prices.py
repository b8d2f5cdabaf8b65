"""Prices: what each model costs now, the mark-up on it, and prices that operators set by day.

Amounts are in dollars per million tokens. Knows no request.
"""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from zurelay.catalogue.model import Model, Price
from zurelay.catalogue.money import NO_MARKUP, format_factor
from zurelay.catalogue.price import CatalogueError, day_price, parse_price, price_at
from zurelay.catalogue.view import price_view
from zurelay.catalogue.written import price_table
from zurelay.chat.problems import Refused
from zurelay.console import prices_form
from zurelay.console.languages import N_
from zurelay.console.models import FEES
from zurelay.console.page import OPERATORS, Form, Html, Page, Redirect, Reply, Visit, read
from zurelay.console.parts import ConsoleParts
from zurelay.office import prices
from zurelay.office.desk import no_such
from zurelay.office.names import names_of
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
FAULTS: Final = {
    "model": N_("No model of that name is served here."),
    "since": N_("Write a date such as 2026-12-31."),
}
_USUAL = ("input", "cached_input", "output")
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
    first = visit.start
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
            "who": names_of(visit.parts.desk, visit.actor, (one.actor for one in changed)),
            "classes": CLASSES,
            "more": more,
        },
    )


def new(visit: Visit) -> Reply:
    """Asks for a price, filled with what holds now, or with one that was set for a day."""
    wanted, day = visit.query.get("model", ""), visit.query.get("since")
    model = next((one for one in visit.gathered if one.id == wanted), None)
    if day is not None:
        known = prices.list_prices(visit.parts.desk, visit.actor, wanted)
        set_ = next((one for one in known if (one.since or "") == day), None)
        if set_ is None:
            raise no_such("price set for", wanted)
        form = prices_form.filled(wanted, set_.price, day)
    else:
        price = None if model is None else day_price(model, visit.parts.wall())
        form = prices_form.filled(wanted, None if price is None else price_table(price))
    return _form(visit, form)


def create(visit: Visit) -> Reply:
    """Sets a price; or shows the form with a row more or less, or with what it comes to."""
    form, do = visit.form, visit.form.get("do")
    if do:
        return _form(visit, prices_form.changed(form, do), added=do)
    form = prices_form.tidied(form)
    if prices_form.unnamed(visit, form):
        return _form(visit, form, 400)
    price = prices_form.written(form)
    try:
        fields = {"model": form.get("model"), "price": price, "since": form.optional("since")}
        made = prices.set_price(visit.parts.desk, visit.actor, read(PriceForm, fields))
    except Refused as refused:
        if refused.problem.status != 400:
            raise
        if (refused.problem.param or "") in FAULTS:
            return _form(visit, form.failed(refused).explain(visit, FAULTS), 400)
        return _form(visit, prices_form.explained(visit, form, refused), 400)
    return Redirect(
        HOME,
        visit.gettext("The price of %(model)s is set, and holds in a second.", model=made.model),
    )


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


def _form(visit: Visit, form: Form, status: int = 200, added: str = "") -> Reply:
    if not form.get("model"):
        raise no_such("model", "")
    model = next((one for one in visit.gathered if one.id == form.get("model")), None)
    markup = NO_MARKUP if model is None else model.markup
    price = prices_form.readable(form)
    what, _, kind = added.partition(" ")
    within = kind.removesuffix("above") if kind.endswith("above") else ""
    rows = prices_form.rows_of(form, kind.removeprefix(within), within) if what == "add" else []
    return Html(
        "prices_new.html",
        {
            "form": form,
            "classes": CLASSES,
            "rare": [name for name in CLASSES if name not in _USUAL],
            "fees": FEES,
            "steps": prices_form.steps(form),
            "tiers": prices_form.rows_of(form, "tiers"),
            "stretches": prices_form.stretches(form),
            "examples": [] if price is None else list(prices_form.examples(price, markup)),
            "sampled": prices_form.SAMPLED,
            "factor": None if markup == NO_MARKUP else format_factor(markup),
            "added": rows[-1] if rows else "",
        },
        status,
    )


PAGES = (
    Page("GET", HOME, OPERATORS, index, served),
    Page("POST", HOME, OPERATORS, create, served),
    Page("GET", f"{HOME}/new", OPERATORS, new, served),
    Page("POST", f"{HOME}/delete", OPERATORS, delete),
)
