"""Accounts in the console: made, changed, paid in, stopped."""

import re
from collections.abc import Callable

import pytest

from tests.console.people import OWNER, Person
from zurelay.office.accounts import AccountView, NewAccount, create_account, list_accounts
from zurelay.office.desk import Desk
from zurelay.office.money import Payment, credit
from zurelay.office.pages import Page
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/accounts"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


def named(gateway: RunningGateway, name: str) -> AccountView:
    found = list_accounts(Desk(gateway.store), OWNER, Page(100)).data
    return next(one for one in found if one.name == name)


async def test_an_account_is_made_with_its_terms_and_they_are_changed(
    people: Of, gateway: RunningGateway
) -> None:
    admin = people("admin")
    form = {
        "name": "Blue",
        "prepaid": "true",
        "budget": "$12,50",
        "period": "week",
        "rpm": "60",
        "zone": "Europe/Brussels",
        "markup": "1.2",
    }
    seen = await admin.post(HOME, form)
    assert "Blue is made." in seen.text
    made = named(gateway, "Blue")
    assert (made.prepaid, made.rpm, made.markup, made.tpm) == (True, 60, "1.2", None)
    assert made.budget is not None
    assert (made.budget.usd, made.budget.period) == ("12.5", "week")
    assert 'value="Europe/Brussels"' in (await admin.get(f"{HOME}/{made.id}/edit")).text
    seen = await admin.post(f"{HOME}/{made.id}", form | {"name": "Green", "rpm": "", "prepaid": ""})
    assert "Saved." in seen.text
    made = named(gateway, "Green")
    assert (made.prepaid, made.rpm, made.zone) == (None, None, "Europe/Brussels")
    assert "Green" in (await admin.get(HOME)).text


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "Write 1 to 200 characters"),
        ("name", "default", "There is an account of that name"),
        ("budget", "much", "Write dollars"),
        ("rpm", "0", "Write a whole number"),
        ("markup", "x", "Write a factor"),
        ("zone", "Mars", "Write a time zone"),
    ],
)
async def test_a_fault_stands_beside_its_field(
    field: str, value: str, said: str, people: Of, gateway: RunningGateway
) -> None:
    seen = await people("owner").post(HOME, {"name": "kept", "tpm": "7"} | {field: value})
    assert seen.status == 400
    place = re.search(rf'name="{field}".*?<p class="fault"[^>]*>([^<]*)', seen.text, re.DOTALL)
    assert place
    assert place.group(1).startswith(said)
    assert 'value="7"' in seen.text
    assert len(list_accounts(Desk(gateway.store), OWNER, Page(100)).data) == 1


async def test_credit_is_added_once_per_form_and_taken_off_again(
    people: Of, gateway: RunningGateway
) -> None:
    admin = people("admin")
    home = f"{HOME}/{named(gateway, 'default').id}"
    text = (await admin.get(home)).text
    own = re.search(r'name="own_ref" value="([^"]+)"', text)
    assert own
    form = {"amount_usd": "100", "own_ref": own.group(1), "note": "thanks", "kind": "credit"}
    for _ in range(2):
        seen = await admin.post(f"{home}/money", form)
        assert "$100.00 was added to the balance." in seen.text
    assert named(gateway, "default").balance_usd == "100"
    seen = await admin.post(f"{home}/money", {"amount_usd": "30", "ref": "back", "kind": "debit"})
    assert "$30.00 was taken from the balance." in seen.text
    assert named(gateway, "default").balance_usd == "70"
    seen = await admin.post(f"{home}/money", {"amount_usd": "-5", "ref": "x", "kind": "credit"})
    assert (seen.status, "Write dollars above 0" in seen.text) == (400, True)
    seen = await admin.post(f"{home}/money", {"amount_usd": "5", "ref": "back", "kind": "credit"})
    assert (seen.status, named(gateway, "default").balance_usd) == (400, "70")


async def test_an_account_is_stopped_and_resumed(people: Of, gateway: RunningGateway) -> None:
    admin = people("admin")
    home = f"{HOME}/{named(gateway, 'default').id}"
    assert "default is stopped." in (await admin.post(f"{home}/stop")).text
    assert named(gateway, "default").stopped is not None
    assert "default works again." in (await admin.post(f"{home}/resume")).text
    assert named(gateway, "default").stopped is None


async def test_members_open_no_account_not_even_their_own(
    people: Of, gateway: RunningGateway
) -> None:
    member = people("member")
    home = f"{HOME}/{named(gateway, 'default').id}"
    for path in (HOME, home, f"{home}/edit"):
        assert (await member.get(path)).status == 403
    form = {"amount_usd": "5", "ref": "mine", "kind": "credit"}
    assert (await member.post(f"{home}/money", form)).status == 403
    assert named(gateway, "default").balance_usd == "0"


async def test_names_are_text_and_nothing_else(people: Of, gateway: RunningGateway) -> None:
    made = create_account(Desk(gateway.store), OWNER, NewAccount(NASTY))
    for path in ("", f"/{made.id}", f"/{made.id}/edit"):
        seen = await people("owner").get(f"{HOME}{path}")
        assert "<script>alert" not in seen.text
        assert "&lt;script&gt;alert(1)" in seen.text


@pytest.mark.parametrize(
    ("fields", "place", "said"),
    [
        ({"ref": "invoice-7"}, "ref", "Money was moved with this reference before"),
        ({"kind": "debit", "amount_usd": "9"}, "amount_usd", "The balance is too low"),
        ({"amount_usd": "1,000"}, "amount_usd", "Write dollars above 0"),
    ],
)
async def test_why_no_money_is_moved_is_said_beside_its_field(
    fields: dict[str, str], place: str, said: str, people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    made = create_account(desk, OWNER, NewAccount("team", prepaid=True))
    credit(desk, OWNER, "team", Payment("5", "invoice-7"))
    form = {"kind": "credit", "amount_usd": "1", "own_ref": "console-1"} | fields
    seen = await people("owner").post(f"{HOME}/{made.id}/money", form)
    assert seen.status == 400
    found = re.search(rf'name="{place}".*?<p class="fault"[^>]*>([^<]*)', seen.text, re.DOTALL)
    assert found
    assert found.group(1).startswith(said)
    assert named(gateway, "team").balance_usd == "5"
    kept = 'name="own_ref" value="console-1"' in seen.text
    assert kept == (place != "ref")


async def test_an_account_is_looked_at_alone_from_its_page(
    people: Of, gateway: RunningGateway
) -> None:
    made = create_account(Desk(gateway.store), OWNER, NewAccount("far down the list"))
    admin = people("admin")
    seen = await admin.get(f"{HOME}/{made.id}")
    assert f'name="account" value="{made.id}"' in seen.text
    await admin.post("/console/account", {"account": made.id, "back": "/console"})
    assert "far down the list" in (await admin.get("/console/members")).text
