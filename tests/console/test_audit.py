"""The audit log in the console: filtered, paged, and confined to one's account."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from tests.console.people import OWNER, Person
from zurelay import office
from zurelay.console.audit import ACTIONS, details
from zurelay.office.accounts import AccountChange, NewAccount, change_account, create_account
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.stops import Kind
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/audit"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


async def test_changes_are_told_and_narrowed_down(people: Of, gateway: RunningGateway) -> None:
    desk = Desk(gateway.store)
    made = create_key(desk, OWNER, NewKey("nightly")).details
    change_account(desk, OWNER, "default", AccountChange(rpm=60))
    admin = people("admin")
    text = (await admin.get(HOME)).text
    assert made.id in text
    assert "none → 60" in text
    text = (await admin.get(f"{HOME}?action=account")).text
    assert "none → 60" in text
    assert made.id not in text
    text = (await admin.get(f"{HOME}?target={made.id}&by=test")).text
    assert "key.create" in text
    assert "account.change" not in text
    assert "Nothing passes this filter" in (await admin.get(f"{HOME}?by=somebody")).text
    assert (await admin.get(f"{HOME}?account=nothing")).status == 400


async def test_a_long_log_has_pages(people: Of, gateway: RunningGateway) -> None:
    desk = Desk(gateway.store)
    made = [create_key(desk, OWNER, NewKey(f"key {number}")).details.id for number in range(60)]
    admin = people("admin")
    text = (await admin.get(f"{HOME}?action=key")).text
    assert made[-1] in text
    assert made[0] not in text
    more = text.partition(f'class="more"><a class="button" href="{HOME}')[2].partition('"')[0]
    assert made[0] in (await admin.get(HOME + more.replace("&amp;", "&"))).text


async def test_a_member_sees_no_changes_of_other_accounts(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    create_account(desk, OWNER, NewAccount("other"))
    theirs = create_key(desk, OWNER, NewKey("theirs", account="other")).details
    mine = create_key(desk, OWNER, NewKey(NASTY)).details
    seen = await people("member").get(HOME)
    assert mine.id in seen.text
    assert theirs.id not in seen.text
    assert "<script>alert" not in seen.text
    assert "&lt;script&gt;alert(1)" in seen.text
    assert (await people("member").get(f"{HOME}?account=other")).status == 400


@pytest.mark.parametrize(
    ("detail", "told"),
    [
        ({"rpm": [None, 60]}, [("rpm", "none → 60")]),
        ({"note": "", "role": "admin"}, [("role", "admin")]),
        (
            {"price": {"input": "1", "tiers": {"flex": "0.5"}}},
            [("price", "input 1, tiers flex 0.5")],
        ),
        ({"prepaid": [True, None]}, [("prepaid", "true → none")]),
    ],
)
def test_details_read_as_before_and_after(
    detail: dict[str, object], told: list[tuple[str, str]]
) -> None:
    assert details(detail, "key.change") == told


def test_two_things_that_were_not_changed_are_no_before_and_after() -> None:
    assert details({"models": ["a", "b"]}, "key.create") == [("models", "a, b")]
    assert details({"last4": ["a", "b"]}, "key.rotate") == [("last4", "a → b")]


def test_every_kind_of_change_can_be_asked_for() -> None:
    source = "".join(path.read_text() for path in Path(office.__file__).parent.glob("*.py"))
    written = set(re.findall(r"\.did\(\s*f?\"([a-z]+)\.", source))
    written |= set(re.findall(r"_note\(change, subject, \"([a-z]+)\.", source))
    assert {"account", "key", "personal", "token"} <= written
    assert written | set(get_args(Kind)) <= set(ACTIONS)
