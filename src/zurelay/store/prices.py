"""Prices set at run time: one row per model and the day from which it counts."""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from zurelay.store import schema
from zurelay.store.counters import raise_counter

PRICES = "prices"
"""The counter that rises with every change of a price, so that servers read them again."""

_TABLE = schema.price


@dataclass(frozen=True, slots=True)
class PriceRow:
    """A price.

    Attributes:
        model: public id.
        since: ISO date in UTC; empty for always.
        price: JSON, as `catalogue.price.parse_price` reads it.
        actor: who set it; `created` when, in Unix seconds.
    """

    model: str
    since: str
    price: str
    actor: str
    created: int


def set_price(connection: Connection, row: PriceRow) -> None:
    """Write a price, in the place of the one of that model and day."""
    _delete(connection, row.model, row.since)
    connection.execute(
        insert(_TABLE).values(
            model=row.model,
            since=row.since,
            price=row.price,
            actor=row.actor,
            created=row.created,
        )
    )
    raise_counter(connection, PRICES)


def delete_price(connection: Connection, model: str, since: str) -> bool:
    """Delete the price of that model and day; tells whether there was one."""
    deleted = _delete(connection, model, since)
    if deleted:
        raise_counter(connection, PRICES)
    return deleted


def list_prices(connection: Connection, model: str | None = None) -> list[PriceRow]:
    """Prices by model and day; of one model if one is given."""
    query = select(_TABLE).order_by(_TABLE.c.model, _TABLE.c.since)
    if model is not None:
        query = query.where(_TABLE.c.model == model)
    return [PriceRow(**row) for row in connection.execute(query).mappings()]


def _delete(connection: Connection, model: str, since: str) -> bool:
    statement = delete(_TABLE).where(_TABLE.c.model == model, _TABLE.c.since == since)
    return connection.execute(statement).rowcount > 0
