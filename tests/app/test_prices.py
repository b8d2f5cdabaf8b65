"""Prices set at run time are in force within a second, for callers and for bills."""

import asyncio
from pathlib import Path

import pytest

from tests.app.conftest import Caller
from zurelay.app.prices import StoredPrices
from zurelay.catalogue.price import per_million
from zurelay.store.engine import Store, open_store
from zurelay.store.prices import PriceRow, delete_price, set_price
from zurelay.testing.chat import chat_reply, chat_usage
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream

CONFIG = """
[sandbox]
enabled = false
[billing]
markup = "1.5"
[providers.first]
kind = "groq"
base_url = "{upstream}"
api_key = "SECRET-1234"
catalogue = false
[models."test-model"]
routes = [{{ provider = "first", model = "upstream-name" }}]
context = 100000
[models."fixed"]
routes = ["first"]
price = {{ input = "1", output = "1" }}
"""


@pytest.fixture
def config(upstream: ScriptedUpstream) -> str:
    return CONFIG.format(upstream=upstream.base_url)


def put(store: Store, model: str, price: str, since: str = "") -> None:
    with store.write() as connection:
        set_price(connection, PriceRow(model, since, price, "me", 0))


def test_prices_are_read_again_only_when_they_changed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, "m", '{"input": "2", "output": "3"}')
    put(store, "m", '"free"', "2027-01-01")
    prices = StoredPrices(store)
    assert prices.changed()
    found = prices.current["m"]
    assert (per_million(found[""].classes["input"]), list(found)) == ("2.00", ["", "2027-01-01"])
    assert not prices.changed()
    with store.write() as connection:
        delete_price(connection, "m", "")
    assert prices.changed()
    assert list(prices.current["m"]) == ["2027-01-01"]
    store.close()


def test_a_price_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, "a", "{")
    put(store, "b", '{"input": "x"}')
    put(store, "c", '{"input": "1", "output": "1"}')
    prices = StoredPrices(store)
    assert prices.changed()
    assert list(prices.current) == ["c"]
    store.close()


async def test_a_new_price_is_shown_and_charged_with_mark_up_within_a_second(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    before = (await caller.get("/v1/models/test-model")).json
    assert before["price"] is None
    store = caller.gateway._store
    for model in ("test-model", "fixed"):
        await asyncio.to_thread(put, store, model, '{"input": "2", "output": "10"}')
    async with asyncio.timeout(1):
        while (await caller.get("/v1/models/test-model")).json["price"] is None:
            await asyncio.sleep(0.02)
    shown = (await caller.get("/v1/models/test-model")).json["price"]
    assert shown == {"input": "3.00", "output": "15.00"}
    fixed = (await caller.get("/v1/models/fixed")).json["price"]
    assert fixed == {"input": "1.50", "output": "1.50"}
    upstream.enqueue(json_reply(chat_reply("Hi", usage=chat_usage(1000, 100))))
    entry = await caller.logged(await caller.chat())
    assert entry["cost_usd"] == "0.0045"
