"""Prices in the console: what holds, what was set, and the mark-up."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.console.people import OWNER, Person
from zurelay.catalogue.model import Model
from zurelay.catalogue.price import parse_price
from zurelay.console.prices import row
from zurelay.office.desk import Desk
from zurelay.office.prices import PriceView, list_prices
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/prices"


def test_a_row_tells_price_mark_up_and_what_callers_pay() -> None:
    price = parse_price({"input": "4", "output": "20"})
    model = Model("m", "M", "vendor", "m", price=price, markup=1_250_000)
    mine = PriceView("m", None, {"input": "4.00", "output": "20"}, "ann", "2026-11-29")
    found = row(model, 0.0, [mine])
    assert (found.plain["input"], found.paid["output"], found.factor) == ("4.00", "25.00", "1.25")
    assert (found.ours, found.free, found.shaped) == (True, False, False)
    assert not row(replace(model, price=parse_price("free")), 0.0, [mine]).ours
    assert row(replace(model, price=parse_price("free")), 0.0, []).free
    assert row(replace(model, price=None), 0.0, []).plain == {}


async def test_a_dated_price_is_set_and_taken_back(people: Of, gateway: RunningGateway) -> None:
    admin, desk = people("admin"), Desk(gateway.store)
    assert "sandbox/echo" in (await admin.get(f"{HOME}?q=echo")).text
    seen = await admin.get(f"{HOME}/new?model=sandbox/echo")
    assert 'name="price.input"' in seen.text
    form = {
        "model": "sandbox/echo",
        "since": "2099-01-01",
        "price.input": "1,5",
        "price.output": "$6",
    }
    seen = await admin.post(HOME, form)
    assert "The price of sandbox/echo is set, and holds in a second." in seen.text
    assert "1 Jan 2099" in seen.text
    [made] = list_prices(desk, OWNER)
    assert (made.since, made.price) == ("2099-01-01", {"input": "1.5", "output": "6"})
    gone = {"model": "sandbox/echo", "since": "2099-01-01"}
    assert "counts no more" in (await admin.post(f"{HOME}/delete", gone)).text
    assert list_prices(desk, OWNER) == []
    await admin.post(HOME, {"model": "sandbox/echo", "free": "yes", "price.input": "x"})
    assert [one.price for one in list_prices(desk, OWNER)] == ["free"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("price.input", "", "a price has input and output"),
        ("price.output", "much", "a price has input and output"),
        ("price.cached_input", "-1", "Write dollars"),
        ("since", "soon", "Write a date"),
        ("model", "<script>alert(1)", "No model of that name"),
    ],
)
async def test_a_fault_is_said_and_what_was_written_stays(
    field: str, value: str, said: str, people: Of, gateway: RunningGateway
) -> None:
    form = {"model": "sandbox/echo", "price.input": "7.25", "price.output": "9.75"}
    seen = await people("owner").post(HOME, form | {field: value})
    assert seen.status == 400
    assert said in seen.text
    assert re.search('value="(7.25|9.75)"', seen.text)
    assert "<script>alert" not in seen.text
    assert list_prices(Desk(gateway.store), OWNER) == []


async def test_a_list_that_is_to_go_on_nowhere_begins_anew(people: Of) -> None:
    seen = await people("admin").get(f"{HOME}?from={'9' * 5000}")
    assert (seen.status, "sandbox/echo" in seen.text) == (200, True)
