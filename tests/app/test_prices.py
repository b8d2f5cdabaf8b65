"""Prices set at run time are in force within a second, for callers and for bills."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.conftest import Caller, Start
from zurelay.app.prices import StoredPrices
from zurelay.catalogue.price import per_million
from zurelay.store.accounts import list_accounts
from zurelay.store.engine import Store, open_store
from zurelay.store.prices import PriceRow, delete_price, set_price
from zurelay.store.terms import change_account, change_key
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
    store = caller.gateway.store
    for model in ("test-model", "fixed"):
        await asyncio.to_thread(put, store, model, '{"input": "2", "output": "10"}')
    async with asyncio.timeout(20):
        while (await caller.get("/v1/models/test-model")).json["price"] is None:
            await asyncio.sleep(0.02)
    shown = (await caller.get("/v1/models/test-model")).json["price"]
    assert shown == {"input": "3.00", "output": "15.00"}
    fixed = (await caller.get("/v1/models/fixed")).json["price"]
    assert fixed == {"input": "1.50", "output": "1.50"}
    upstream.enqueue(json_reply(chat_reply("Hi", usage=chat_usage(1000, 100))))
    entry = await caller.logged(await caller.chat())
    assert entry["cost_usd"] == "0.0045"


async def test_the_markup_of_a_key_stands_in_place_of_its_accounts_and_that_of_the_models(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    store = caller.gateway.store
    key = (await caller.get("/v1/key")).json

    async def shown(change: Callable[..., None], of: str, markup: str, price: str) -> str:
        """Set a mark-up, wait until it is shown, and tell what a request costs then."""

        def write() -> None:
            with store.write() as connection:
                change(connection, of, {"markup": markup})

        await asyncio.to_thread(write)
        async with asyncio.timeout(20):
            while (await caller.get("/v1/models/fixed")).json["price"]["input"] != price:
                await asyncio.sleep(0.02)
        upstream.enqueue(json_reply(chat_reply("Hi", usage=chat_usage(1000, 0))))
        entry = await caller.logged(await caller.chat(model="fixed"))
        return str(entry["cost_usd"])

    with store.read() as connection:
        (owner,) = [one.id for one in list_accounts(connection)]
    assert await shown(change_account, owner, "2", "2.00") == "0.002"
    assert await shown(change_key, key["id"], "0.5", "0.50") == "0.0005"


async def test_a_search_that_anthropic_runs_is_paid_by_the_search(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(
        f"""
[providers.a]
kind = "anthropic"
base_url = "{upstream.base_url}"
api_key = "SECRET-1234"
[models."claude-free-of-fees"]
routes = [{{ provider = "a", model = "claude-opus-5-5" }}]
price = {{ input = "1", output = "1" }}
"""
    )
    usage = {
        "input_tokens": 1000,
        "output_tokens": 100,
        "server_tool_use": {"web_search_requests": 3},
        "service_tier": "standard",
    }
    content = [{"type": "text", "text": "found"}]
    answer = {"type": "message", "role": "assistant", "content": content}
    upstream.enqueue(json_reply({**answer, "stop_reason": "end_turn", "usage": usage}))
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 4000,
        "output_config": {"effort": "low"},
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}],
    }
    headers = dict(caller.gateway.headers)
    told = await caller.send("POST", "/v1/messages", json.dumps(body).encode(), headers)
    assert told.status == 200, told.body
    assert upstream.requests[0].json["tools"] == body["tools"]
    entry = await caller.logged(told)
    assert entry["cost_usd"] == "0.036"  # 1000 x 4 + 100 x 20 USD a million, and 3 x 0.01
    body["model"] = "claude-free-of-fees"
    refused = await caller.send("POST", "/v1/messages", json.dumps(body).encode(), headers)
    assert (refused.status, len(upstream.requests)) == (400, 1)
