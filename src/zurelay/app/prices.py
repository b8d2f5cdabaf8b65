"""Prices that were set at run time, as the routing table takes them.

Reading blocks: call it from threads. Whoever asks rebuilds the table when `changed` says so.
"""

import msgspec
import structlog
from sqlalchemy import Connection

from zurelay.catalogue.model import Price
from zurelay.catalogue.price import CatalogueError, parse_price
from zurelay.config.routing import Prices
from zurelay.store.counters import read_counter
from zurelay.store.engine import Store
from zurelay.store.prices import PRICES, PriceRow, list_prices

log = structlog.get_logger("zurelay.app")


class StoredPrices:
    """The prices of one store.

    Attributes:
        current: as they were last read.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = -1
        self.current: Prices = {}

    def changed(self) -> bool:
        """Read them if they changed since the last time; tells whether they did.

        Raises:
            StoreError: the store does not answer.
        """
        with self._store.read() as connection:
            version = read_counter(connection, PRICES)
            if version == self._version:
                return False
            self.current = _prices(connection)
        self._version = version
        return True


def _prices(connection: Connection) -> Prices:
    found: dict[str, dict[str, Price]] = {}
    for row in list_prices(connection):
        price = _price(row)
        if price is not None:
            found.setdefault(row.model, {})[row.since] = price
    return found


def _price(row: PriceRow) -> Price | None:
    """A row's price; one that cannot be read is told and counts as none."""
    try:
        return parse_price(msgspec.json.decode(row.price))
    except (msgspec.DecodeError, CatalogueError) as error:
        log.warning("price_not_read", model=row.model, since=row.since, error=str(error))
        return None
