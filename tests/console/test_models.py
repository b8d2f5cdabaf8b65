"""The table of models, and the page of each."""

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.console.history import requests, write
from tests.console.people import Person, person
from zurelay.store.keys import list_keys
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

CONFIG = """
[providers.openai]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
api_key = "x"
catalogue = false

[providers.anthropic]
kind = "anthropic"
api_key = "x"

[models."house-model"]
routes = ["openai"]
reasoning = { levels = ["low", "high"], default = "high" }
context = 123000
max_output = 4567
input = ["text", "pdf"]
price = { input = "9.75", output = "77.00", above = [{ prompt_tokens = 100000, input = "11.25", output = "88" }] }

[models."<script>alert(1)</script>"]
routes = ["openai"]
"""


@pytest.fixture
async def sold(tmp_path: Path) -> AsyncIterator[Person]:
    folder = tmp_path / "sold"
    folder.mkdir()
    async with RunningGateway(folder, CONFIG) as running:
        yield person(running, "member")


def shown(text: str) -> list[str]:
    """Ids of the table, in order."""
    return [part.partition("<")[0] for part in text.split('<span class="soft mono small">')[1:]]


async def test_the_table_has_every_model_with_price_window_and_routes(sold: Person) -> None:
    seen = await sold.get("/console/models?q=house")
    assert shown(seen.text) == ["house-model"]
    for said in ("$9.75", "$77.00", "123K", "4,567", "text, PDF", "low, high", "1 up"):
        assert said in seen.text


async def test_filters_narrow_it_down(sold: Person) -> None:
    async def ids(query: str) -> list[str]:
        return shown((await sold.get(f"/console/models?{query}")).text)

    pdf = await ids("kind=pdf&q=house")
    assert pdf == ["house-model"]
    assert await ids("kind=video&q=house") == []
    assert await ids("reasoning=no&q=house") == []
    assert await ids("reasoning=yes&q=house") == ["house-model"]
    claude = await ids("vendor=anthropic")
    assert claude
    assert all(one.startswith("claude-") for one in claude)
    assert await ids("vendor=anthropic&q=HOUSE") == []


async def test_it_is_put_in_order_and_what_is_not_known_comes_last(sold: Person) -> None:
    seen = shown((await sold.get("/console/models?sort=output")).text)
    assert seen.index("sandbox/echo") < seen.index("house-model")
    assert "script" in seen[-1]
    dear = shown((await sold.get("/console/models?sort=context")).text)
    assert dear.index("house-model") > dear.index("sandbox/echo")


async def test_a_model_has_a_page_with_its_steps_of_price_and_examples(sold: Person) -> None:
    seen = await sold.get("/console/models/house-model")
    assert seen.status == 200
    assert "prompts above 100,000 tokens" in seen.text
    for said in ("$11.25", "$88.00", "<code>high</code> (default)", "4,567 tokens", "Anthropic"):
        assert said in seen.text
    assert "openai:house-model" not in seen.text


async def test_a_name_with_a_slash_has_one_too(people: Of) -> None:
    seen = await people("read-only").get("/console/models/sandbox/echo")
    assert seen.status == 200
    assert "sandbox/echo" in seen.text


async def test_a_model_that_is_not_served_has_none(people: Of) -> None:
    assert (await people("owner").get("/console/models/no-such")).status == 404


async def test_names_of_models_are_text_and_nothing_else(sold: Person) -> None:
    seen = await sold.get("/console/models?q=script")
    assert shown(seen.text)
    assert "<script>alert" not in seen.text
    seen = await sold.get("/console/models?q=%3Cscript%3Ealert(2)")
    assert "<script>alert" not in seen.text


async def test_they_are_the_prices_of_the_account(sold: Person) -> None:
    with sold.gateway.store.write() as connection:
        connection.exec_driver_sql("update account set markup = '2'")
    seen = await sold.get("/console/models?q=house")
    assert "$19.50" in seen.text
    assert "$154.00" in seen.text


async def test_speeds_are_those_of_ones_own_requests(people: Of, gateway: RunningGateway) -> None:
    with gateway.store.read() as connection:
        key = list_keys(connection)[0]
    records = list(requests(time.time(), 60, key.account, (key.id,)))
    for record in records:
        record.answered_by = "sandbox/echo" if record.status == "ok" else None
    write(gateway.store, iter(records))
    seen = await people("member").get("/console/models/sandbox/echo")
    assert "83 tok/s" in seen.text


async def test_the_smart_choice_costs_from_the_least_to_the_most(sold: Person) -> None:
    seen = await sold.get("/console/models")
    assert shown(seen.text)[0] == "zurelay-auto"
    assert "from $" in seen.text
    page = await sold.get("/console/models/zurelay-auto")
    assert page.status == 200
    assert "at least" in page.text
    assert "at most" in page.text
    assert "$77.00" in page.text


async def test_a_model_for_embeddings_has_samples_that_ask_for_them(people: Of) -> None:
    seen = await people("member").get("/console/models/sandbox/embedding")
    assert "/v1/embeddings" in seen.text
    assert "chat.completions" not in seen.text
    assert "/console/playground?model=sandbox/embedding" not in seen.text
