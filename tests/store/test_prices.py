from dataclasses import replace

from zurelay.store.counters import read_counter
from zurelay.store.engine import Store
from zurelay.store.prices import PRICES, PriceRow, delete_price, list_prices, set_price

ROW = PriceRow("gpt-6", "", '"free"', "cli:a", 5)


def test_a_price_takes_the_place_of_the_one_of_its_day(store: Store) -> None:
    later = replace(ROW, since="2027-01-01", price="{}")
    with store.write() as connection:
        for row in (later, ROW, replace(ROW, actor="b")):
            set_price(connection, row)
        set_price(connection, replace(ROW, model="other"))
        assert list_prices(connection, "gpt-6") == [replace(ROW, actor="b"), later]
        assert [row.model for row in list_prices(connection)] == ["gpt-6", "gpt-6", "other"]
        assert list_prices(connection, "x") == []


def test_servers_hear_of_every_change(store: Store) -> None:
    with store.write() as connection:
        set_price(connection, ROW)
        assert read_counter(connection, PRICES) == 1
        assert delete_price(connection, "gpt-6", "")
        assert read_counter(connection, PRICES) == 2
        assert not delete_price(connection, "gpt-6", "")
        assert read_counter(connection, PRICES) == 2
