"""Alerts in the console: who is told, what was told, and what operators should know."""

import time
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import insert

from tests.console.people import OWNER, Person
from zurelay.office.accounts import NewAccount, create_account, get_account
from zurelay.office.alerts import get_target
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.telling import Recipients
from zurelay.office.values import BudgetForm
from zurelay.office.watching import Sighting, raise_seen
from zurelay.store import schema
from zurelay.store.alerts import Alert, add_alert
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/billing/alerts"
OPERATION = "/console/routes/alerts"
HOOK = "https://hooks.example.com/in?token=abc"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


def the_account(desk: Desk) -> str:
    return get_account(desk, OWNER, "default").id


async def test_a_member_says_who_is_told_and_sees_the_secret_once(
    people: Of, gateway: RunningGateway
) -> None:
    desk, member = Desk(gateway.store), people("member")
    account = the_account(desk)
    seen = await member.get(HOME)
    assert seen.status == 200
    assert "This gateway sends no mail" in seen.text
    fields = {"account": account, "who": "listed", "emails": "ann@example.com\r\nbob@example.com"}
    seen = await member.post(HOME, fields | {"webhook": HOOK})
    assert "whsec_" in seen.text
    assert get_target(desk, OWNER, account).emails == ["ann@example.com", "bob@example.com"]
    seen = await member.get(HOME)
    assert "whsec_" not in seen.text
    assert HOOK.replace("&", "&amp;") in seen.text
    seen = await member.post(HOME, fields | {"webhook": HOOK})
    assert "Saved." in seen.text
    seen = await member.post(f"{HOME}/secret", {"account": account})
    assert "whsec_" in seen.text
    seen = await member.post(HOME, {"account": account, "who": "nobody"})
    assert get_target(desk, OWNER, account).emails == []
    seen = await member.post(f"{HOME}/secret", {"account": account})
    assert "There is no webhook." in seen.text
    await member.post(HOME, {"account": account, "who": "keepers"})
    assert get_target(desk, OWNER, account).emails is None


async def test_what_is_wrong_stands_beside_its_field(people: Of, gateway: RunningGateway) -> None:
    member, account = people("member"), the_account(Desk(gateway.store))
    for fields, said in (
        ({"who": "listed", "emails": ""}, "Write 1 to 10 addresses"),
        ({"who": "listed", "emails": f"nobody {NASTY}"}, "Write 1 to 10 addresses"),
        ({"who": "nobody", "webhook": "http://127.0.0.1/"}, "on the public internet"),
    ):
        seen = await member.post(HOME, {"account": account, **fields})
        assert seen.status == 400
        assert said in seen.text
        assert "<script>alert" not in seen.text


async def test_a_test_is_sent_and_what_becomes_of_it_is_shown(
    people: Of, gateway: RunningGateway
) -> None:
    member, account = people("member"), the_account(Desk(gateway.store))
    seen = await member.post(f"{HOME}/test", {"account": account})
    assert "Nobody would get it now" in seen.text
    await member.post(HOME, {"account": account, "who": "nobody", "webhook": HOOK})
    seen = await member.post(f"{HOME}/test", {"account": account})
    assert "A test is on its way" in seen.text
    assert "https://hooks.example.com" in seen.text


async def test_what_a_receiver_answered_does_no_harm(people: Of, gateway: RunningGateway) -> None:
    member, account = people("member"), the_account(Desk(gateway.store))
    await member.post(HOME, {"account": account, "who": "nobody", "webhook": HOOK})
    now = int(time.time() * 1000)
    row = {"id": "out_1", "created_ms": now, "kind": "webhook", "target": HOOK, "account": account}
    over = {"subject": "", "body": "", "tries": 6, "secret": "", "problem": f"100% {NASTY}"}
    with gateway.store.write() as connection:
        connection.execute(insert(schema.outbox).values(row | over))
    seen = await member.get(HOME)
    assert "100% &lt;script&gt;alert(1)" in seen.text
    assert "<script>alert" not in seen.text


async def test_who_only_reads_sees_it_and_changes_nothing(
    people: Of, gateway: RunningGateway
) -> None:
    account = the_account(Desk(gateway.store))
    await people("member").post(HOME, {"account": account, "who": "nobody", "webhook": HOOK})
    seen = await people("read-only").get(HOME)
    assert seen.status == 200
    assert "https://hooks.example.com/…" in seen.text
    assert "token=abc" not in seen.text
    assert "Send a test" not in seen.text
    assert (await people("read-only").post(HOME, {"account": account})).status == 403


async def test_a_member_reaches_no_other_account(people: Of, gateway: RunningGateway) -> None:
    other = create_account(Desk(gateway.store), OWNER, NewAccount("other"))
    member = people("member")
    assert (await member.get(f"{HOME}?account={other.id}")).status == 404
    for path in (HOME, f"{HOME}/test", f"{HOME}/secret"):
        assert (await member.post(path, {"account": other.id, "who": "nobody"})).status == 404
    seen = await people("owner").get(f"{HOME}?account={other.id}")
    assert '<option value="' in seen.text


async def test_alerts_are_told_with_names_that_do_no_harm(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    key = create_key(desk, OWNER, NewKey(NASTY, budget=BudgetForm("10", "month"))).details
    detail = f'{{"level":80,"period":"2026-11","key":"{key.id}","budget":"10","spent":"8.5"}}'
    alert = Alert("e", "budget", key.account, 1000, None, detail, "budget:x")
    gone = '{"level":100,"credit":"10","left":"-1"}'
    with gateway.store.write() as connection:
        add_alert(connection, alert)
        add_alert(connection, replace(alert, event="f", kind="balance", detail=gone))
    seen = await people("member").get(HOME)
    assert "80% of a budget is spent: $8.50 of $10.00" in seen.text
    assert "<script>alert" not in seen.text
    assert "&lt;script&gt;alert(1)" in seen.text
    assert "holds" in seen.text
    assert "The balance is used up (default)." in seen.text


async def test_operators_see_what_needs_them_from_three_pages(
    people: Of, gateway: RunningGateway
) -> None:
    owner = people("owner")
    seen = await owner.get(OPERATION)
    assert "All is well" in seen.text
    assert "disk_percent" in seen.text
    disk = Sighting("disk", NASTY, {"node": NASTY, "percent": 85})
    raise_seen(Desk(gateway.store), [disk], Recipients())
    seen = await owner.get(OPERATION)
    assert "is 85% full." in seen.text
    assert "<script>alert" not in seen.text
    assert OPERATION in (await owner.get("/console")).text
    assert OPERATION in (await owner.get("/console/routes")).text
    assert "needs somebody" in (await owner.get("/console")).text
    for role in ("member", "read-only"):
        assert "needs somebody" not in (await people(role).get("/console")).text
        assert (await people(role).get(OPERATION)).status == 403
