"""Prices of models, set at run time. The configuration file beats them; they beat the catalogue."""

from datetime import date
from typing import Any

import msgspec
from msgspec import Struct

from zurelay.catalogue.price import CatalogueError, parse_price
from zurelay.chat.nearest import did_you_mean
from zurelay.office import values as v
from zurelay.office.desk import Desk, no_such, wrong
from zurelay.office.rights import Actor
from zurelay.store.prices import PriceRow
from zurelay.store.prices import delete_price as write_deleted
from zurelay.store.prices import list_prices as read_prices
from zurelay.store.prices import set_price as write_price


class PriceForm(Struct, forbid_unknown_fields=True):
    """A price, in USD per million tokens by class: as `price` in the configuration, or "free".

    It counts for requests that begin on the day `since` or later, in UTC; without it always.
    """

    model: v.ModelName
    price: dict[str, Any] | str
    since: v.Day | None = None


class PriceView(Struct):
    """A price that was set."""

    model: str
    since: str | None
    price: dict[str, Any] | str
    actor: str
    created: str


def set_price(desk: Desk, actor: Actor, form: PriceForm) -> PriceView:
    """Set what a model costs, in the place of what was set for the same day.

    Raises:
        Refused: 400, 403.
    """
    with desk.change(actor, "prices.change") as change:
        known = desk.models()
        if known is not None and form.model not in known:
            hint = did_you_mean(form.model, known)
            raise wrong("model", f"model: '{v.shown(form.model)}' is not served here.{hint}")
        v.name_of(form.model, "model")
        since = _day(form.since)
        _check(form.price)
        row = PriceRow(
            form.model,
            since,
            msgspec.json.encode(form.price).decode(),
            change.actor.name[:200],
            int(change.now),
        )
        write_price(change.connection, row)
        detail = {"since": since or None, "price": form.price}
        change.did("price.set", form.model, None, detail)
        return view(row)


def list_prices(desk: Desk, actor: Actor, model: str | None = None) -> list[PriceView]:
    """Prices that were set, by model and day; of one model if one is given."""
    with desk.read(actor, "prices.read") as connection:
        return [view(row) for row in read_prices(connection, model)]


def delete_price(desk: Desk, actor: Actor, model: str, since: str | None = None) -> None:
    """Let the catalogue's price count again, or that of another day. Raises Refused: 403, 404."""
    with desk.change(actor, "prices.change") as change:
        day = _day(since)
        if not write_deleted(change.connection, model, day):
            raise no_such("price set for", f"{model} since {since}" if since else model)
        change.did("price.delete", model, None, {"since": since})


def view(row: PriceRow) -> PriceView:
    """A price as it is shown."""
    return PriceView(
        model=row.model,
        since=row.since or None,
        price=msgspec.json.decode(row.price),
        actor=row.actor,
        created=v.iso_of(row.created),
    )


def _day(text: str | None) -> str:
    if text is None:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise wrong("since", "since: write a date such as 2026-12-31.") from None


def _check(price: dict[str, Any] | str) -> None:
    if isinstance(price, dict) and "since" in price:
        raise wrong("price.since", "price.since: write the day beside the price, as 'since'.")
    try:
        parse_price(price)
    except CatalogueError as error:
        raise wrong(error.path, f"{error.path}: {error.problem}.") from None
