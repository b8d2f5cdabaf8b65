"""Refunds in the console: asked for by an operator, given once."""

import re
from collections.abc import Callable

import pytest

from tests.console.history import logged
from tests.console.people import OWNER, Person, Seen
from zurelay.meter.record import RequestRecord
from zurelay.office.desk import Desk
from zurelay.office.money import Payment, credit, list_transfers
from zurelay.office.pages import Page
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/billing/refund"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


@pytest.fixture
def charged(gateway: RunningGateway) -> RequestRecord:
    """A request that cost two dollars."""
    return logged(gateway.store, cost=2 * 10**9, status="ok")


def given(gateway: RunningGateway) -> list[tuple[str, str]]:
    found = list_transfers(Desk(gateway.store), OWNER, Page(50)).data
    return [(one.amount_usd, one.note) for one in found if one.kind == "refund"]


def own_ref(seen: Seen) -> str:
    found = re.search(r'name="own_ref" value="([^"]+)"', seen.text)
    assert found
    return found.group(1)


async def test_a_request_is_found_by_its_id_and_given_back_in_parts(
    people: Of, gateway: RunningGateway, charged: RequestRecord
) -> None:
    admin = people("admin")
    assert 'name="request"' in (await admin.get(HOME)).text
    seen = await admin.get(f"{HOME}?request={charged.id}")
    assert "$2.00" in seen.text
    form = {"request": charged.id, "own_ref": own_ref(seen), "amount_usd": "0,50", "note": "slow"}
    seen = await admin.post(HOME, form)
    assert "$0.50 was given back." in seen.text
    assert "$1.50" in seen.text
    await admin.post(HOME, form)  # sent twice by mistake
    assert given(gateway) == [("0.5", "slow")]
    seen = await admin.post(HOME, {"request": charged.id, "own_ref": own_ref(seen)})
    assert "$1.50 was given back." in seen.text
    assert given(gateway) == [("1.5", ""), ("0.5", "slow")]
    assert 'name="amount_usd"' not in seen.text
    seen = await admin.post(HOME, {"request": charged.id, "own_ref": "another"})
    assert seen.text.count("Nothing is left of what this request cost.") == 2
    assert len(given(gateway)) == 2


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("amount_usd", "3", "no more than is left"),
        ("amount_usd", "0", "Write dollars above 0"),
        ("amount_usd", "much", "Write dollars above 0"),
        ("amount_usd", "1,000", "Write dollars above 0"),
        ("ref", "a b", "Write 1 to 200 letters"),
        ("ref", "invoice-7", "Money was moved with this reference before"),
        ("note", "x" * 501, "Write at most 500"),
    ],
)
async def test_a_fault_stands_beside_its_field_and_nothing_is_given(
    field: str,
    value: str,
    said: str,
    people: Of,
    gateway: RunningGateway,
    charged: RequestRecord,
) -> None:
    credit(Desk(gateway.store), OWNER, "default", Payment("5", "invoice-7"))
    form = {"request": charged.id, "own_ref": "console-1", field: value}
    seen = await people("owner").post(HOME, form)
    assert seen.status == 400
    place = re.search(rf'name="{field}".*?<p class="fault"[^>]*>([^<]*)', seen.text, re.DOTALL)
    assert place
    assert said in place.group(1)
    assert given(gateway) == []


async def test_a_form_that_was_used_for_another_amount_gets_a_reference_of_its_own(
    people: Of, gateway: RunningGateway, charged: RequestRecord
) -> None:
    owner = people("owner")
    form = {"request": charged.id, "own_ref": "console-1", "amount_usd": "0.5"}
    await owner.post(HOME, form)
    seen = await owner.post(HOME, form | {"amount_usd": "0.6"})
    assert seen.status == 400
    assert own_ref(seen) != "console-1"
    await owner.post(HOME, form | {"amount_usd": "0.6", "own_ref": own_ref(seen)})
    assert [amount for amount, _ in given(gateway)] == ["0.6", "0.5"]


async def test_what_is_no_request_is_said_beside_the_field(people: Of) -> None:
    for wanted in ("nothing", "req_" + "0" * 32, NASTY):
        seen = await people("owner").get(f"{HOME}?request={wanted}")
        assert seen.status == 404
        assert "There is no request with this id." in seen.text
        assert "<script>alert" not in seen.text


async def test_a_member_gives_nothing_back(
    people: Of, gateway: RunningGateway, charged: RequestRecord
) -> None:
    member = people("member")
    assert (await member.get(f"{HOME}?request={charged.id}")).status == 403
    assert (await member.post(HOME, {"request": charged.id})).status == 403
    assert HOME not in (await member.get("/console/billing")).text
    assert HOME in (await people("admin").get("/console/billing")).text
    assert given(gateway) == []
