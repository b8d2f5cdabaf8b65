"""A price as a form: what it shows is what it sends."""

import re
from collections.abc import Callable

import pytest

from tests.catalogue.test_written import WHOLE
from tests.console.people import OWNER, Person
from zurelay.catalogue.price import parse_price
from zurelay.console.page import Form
from zurelay.console.prices_form import (
    changed,
    examples,
    filled,
    readable,
    rows_of,
    tidied,
    written,
)
from zurelay.office.desk import Desk
from zurelay.office.prices import PriceForm, list_prices, set_price
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/prices"


def fields(form: Form) -> dict[str, str]:
    return {name: form.get(name) for name in form.names}


def test_everything_a_price_can_be_goes_through_the_form_unchanged() -> None:
    form = filled("m", WHOLE)
    assert written(tidied(form)) == WHOLE
    assert written(tidied(filled("m", "free"))) == "free"
    assert form.get("hours.0.utc") == "Sat-Sun 00:00-24:00, Mon 01:30-04:00"


def test_rows_are_added_and_removed_wherever_they_are() -> None:
    form = changed(filled("m", WHOLE), "add above")
    assert rows_of(form, "above") == ["above.0", "above.1"]
    form = changed(form, "add hours.0.above")
    assert rows_of(form, "above", "hours.0.") == ["hours.0.above.0", "hours.0.above.1"]
    form = changed(form, "remove above.0")
    assert rows_of(form, "above") == ["above.1"]
    form = changed(form, "remove hours.0")
    assert rows_of(form, "hours") == []
    for _ in range(30):
        form = changed(form, "add tiers")
    assert len(rows_of(form, "tiers")) == 20
    for nonsense in ("add price", "add", "remove ", "x", "add hours.x.y"):
        assert fields(changed(form, nonsense)) == fields(form)


def test_empty_rows_are_left_out_and_steps_come_in_order() -> None:
    form = Form.of(
        model="m",
        **{
            "price.input": "1",
            "price.output": "2",
            "above.3.prompt_tokens": "200 000",
            "above.3.input": "5",
            "above.3.output": "6",
            "above.7.prompt_tokens": "1.000",
            "above.7.input": "3",
            "above.7.output": "4",
            "above.9.prompt_tokens": "",
            "tiers.0.name": "",
            "tiers.0.factor": "",
        },
    )
    assert written(tidied(form)) == {
        "input": "1",
        "output": "2",
        "above": [
            {"prompt_tokens": 1000, "input": "3", "output": "4"},
            {"prompt_tokens": 200000, "input": "5", "output": "6"},
        ],
    }


def test_examples_tell_what_differs_with_and_without_the_mark_up() -> None:
    found = [
        (one.kind, one.name, one.prompt, one.plain, one.paid)
        for one in examples(parse_price(WHOLE), 1_500_000)
    ]
    assert found == [
        ("", "", 1000, "0.013", "0.0195"),
        ("", "", 272001, "1.104004", "1.656006"),
        ("tier", "flex", 1000, "0.007", "0.0105"),
        ("tier", "priority", 1000, "0.025", "0.0375"),
        ("hours", "Sat-Sun 00:00-24:00, Mon 01:30-04:00", 1000, "0.0105", "0.01575"),
        ("hours", "Sat-Sun 00:00-24:00, Mon 01:30-04:00", 1001, "0.013003", "0.0195045"),
    ]
    assert readable(Form.of(model="m")) is None


async def test_a_price_with_everything_is_set_by_the_form_alone(
    people: Of, gateway: RunningGateway
) -> None:
    admin = people("admin")
    form = fields(filled("sandbox/echo", WHOLE))
    seen = await admin.post(HOME, form | {"do": "preview"})
    assert seen.status == 200
    assert "$0.013<" in seen.text
    assert list_prices(Desk(gateway.store), OWNER) == []
    seen = await admin.post(HOME, form | {"do": "add tiers"})
    assert 'name="tiers.2.factor"' in seen.text
    seen = await admin.post(HOME, form)
    assert "The price of sandbox/echo is set, and holds in a second." in seen.text
    assert [one.price for one in list_prices(Desk(gateway.store), OWNER)] == [WHOLE]
    seen = await admin.get(f"{HOME}/new?model=sandbox/echo&since=")
    assert 'value="272000"' in seen.text
    assert (await admin.get(f"{HOME}/new?model=sandbox/echo&since=2001-01-01")).status == 404


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("above.0.prompt_tokens", "many", "Write a number of tokens"),
        ("above.0.prompt_tokens", "1.5", "Write a number of tokens"),
        ("above.0.prompt_tokens", "200000.5", "Write a number of tokens"),
        ("above.0.output", "", "a price has input and output"),
        ("above.0.cached_input", "x", "Write dollars"),
        ("tiers.1.factor", "twice", "Write a factor"),
        ("tiers.1.factor", "0.333333333333", "Times this factor"),
        ("tiers.0.name", "", "Write the tier&#39;s name"),
        ("hours.0.utc", "weekends", "Write days and times"),
        ("hours.0.above.0.input", "x", "a price has input and output"),
        ("price.per_call.web_search", "x", "Write dollars"),
        ("price.per_request", "x", "Write dollars"),
    ],
)
async def test_a_fault_stands_beside_the_field_it_is_about(
    field: str, value: str, said: str, people: Of, gateway: RunningGateway
) -> None:
    form = fields(filled("sandbox/echo", WHOLE)) | {field: value}
    seen = await people("owner").post(HOME, form)
    assert seen.status == 400
    id_ = f"f-{field.replace('.', '-')}-hint"
    assert re.search(f'<p class="fault" id="{id_}">[^<]*{said}', seen.text)
    assert list_prices(Desk(gateway.store), OWNER) == []


async def test_names_of_tiers_come_out_escaped(people: Of, gateway: RunningGateway) -> None:
    nasty = "<script>alert(1)</script>"
    price = {"input": "1", "output": "2", "tiers": {nasty: "2"}}
    set_price(Desk(gateway.store), OWNER, PriceForm("sandbox/echo", price))
    seen = await people("admin").get(f"{HOME}/new?model=sandbox/echo&since=")
    assert nasty not in seen.text
    assert "&lt;script&gt;" in seen.text
