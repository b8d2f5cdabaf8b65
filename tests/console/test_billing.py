"""Billing in the console: balances, budgets, payments and statements."""

import json
import time
from collections.abc import Callable

from tests.console.history import requests, write
from tests.console.people import OWNER, Person
from zurelay.office.accounts import NewAccount, create_account, get_account
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.money import Payment, credit
from zurelay.office.values import BudgetForm
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/billing"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


def this_month() -> str:
    return time.strftime("%Y-%m", time.gmtime())


async def test_a_member_sees_balance_payments_and_budgets_of_their_account(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    credit(desk, OWNER, "default", Payment("1234.5", "invoice-7", "October"))
    create_key(desk, OWNER, NewKey("nightly", budget=BudgetForm("20", "week")))
    seen = await people("member").get(HOME)
    assert seen.status == 200
    for text in ("$1,234.50", "invoice-7", "October", "nightly", "$0.00 of $20.00", this_month()):
        assert text in seen.text
    assert "Add credit" not in seen.text
    assert "Add credit" in (await people("admin").get(HOME)).text


async def test_a_statement_is_shown_and_downloaded_as_csv_and_json(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    account = get_account(desk, OWNER, "default")
    key = create_key(desk, OWNER, NewKey("tool")).details
    write(gateway.store, requests(time.time(), 30, account.id, (key.id,), days=0.001))
    credit(desk, OWNER, "default", Payment("7", "pay-1"))
    member = people("member")
    home = f"{HOME}/{account.id}/{this_month()}"
    seen = await member.get(home)
    assert seen.status == 200
    assert "Balance now" in seen.text
    assert "+ $7.00" in seen.text
    assert "claude-haiku-5" in seen.text
    csv = await member.get(f"{home}/csv")
    assert csv.headers["content-type"].startswith("text/csv")
    name = f'filename="statement-{account.id}-{this_month()}.csv"'
    assert name in csv.headers["content-disposition"]
    assert csv.text.startswith("day,kind,model,")
    made = json.loads((await member.get(f"{home}/json")).text)
    assert (made["account"], made["credits_usd"]) == (account.id, "7")


async def test_an_operator_chooses_the_account_and_a_member_cannot(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    other = create_account(desk, OWNER, NewAccount("other"))
    credit(desk, OWNER, "other", Payment("77", "theirs"))
    owner, member = people("owner"), people("member")
    assert "theirs" in (await owner.get(f"{HOME}?account={other.id}")).text
    assert f'value="{other.id}"' in (await owner.get(HOME)).text
    month = this_month()
    for path in (f"?account={other.id}", f"/{other.id}/{month}", f"/{other.id}/{month}/csv"):
        assert (await member.get(f"{HOME}{path}")).status == 404
    assert "other" not in (await member.get(HOME)).text.partition("<main")[2]


async def test_what_is_no_month_has_no_statement(people: Of, gateway: RunningGateway) -> None:
    account = get_account(Desk(gateway.store), OWNER, "default")
    for month in ("2026-13", "soon", "1999-01"):
        assert (await people("member").get(f"{HOME}/{account.id}/{month}")).status == 404


async def test_a_used_up_balance_is_said(people: Of, gateway: RunningGateway) -> None:
    desk = Desk(gateway.store)
    other = create_account(desk, OWNER, NewAccount("empty", prepaid=True))
    assert (
        "The balance is used up." in (await people("owner").get(f"{HOME}?account={other.id}")).text
    )
    assert "The balance is used up." not in (await people("member").get(HOME)).text


async def test_notes_and_names_are_text_and_nothing_else(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    credit(desk, OWNER, "default", Payment("1", "<script>", NASTY))
    create_key(desk, OWNER, NewKey(NASTY, budget=BudgetForm("1", "total")))
    account = get_account(desk, OWNER, "default")
    for path in (HOME, f"{HOME}/{account.id}/{this_month()}"):
        seen = await people("member").get(path)
        assert "<script>alert" not in seen.text
        assert "&lt;script&gt;alert(1)" in seen.text


async def test_usage_is_downloaded_by_days_that_count_whole(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    account = get_account(desk, OWNER, "default")
    key = create_key(desk, OWNER, NewKey("tool")).details
    now = time.time()
    write(gateway.store, requests(now, 5, account.id, (key.id,), days=0))
    member = people("member")
    assert f"{HOME}/usage" in (await member.get(HOME)).text
    day = time.strftime("%Y-%m-%d", time.gmtime(now))
    seen = await member.get(f"{HOME}/usage?account={account.id}&since={day}&until={day}")
    assert seen.headers["content-type"] == "text/csv; charset=utf-8"
    assert seen.headers["content-disposition"] == 'attachment; filename="usage.csv"'
    lines = seen.text.splitlines()
    assert lines[0].startswith("hour,account,account_name,key,")
    assert len(lines) > 1
    seen = await member.get(f"{HOME}/usage?format=jsonl&since={day}")
    assert sum(json.loads(line)["requests"] for line in seen.text.splitlines()) == 5
    before = await member.get(f"{HOME}/usage?until=2020-01-01")
    assert len(before.text.splitlines()) == 1
    seen = await member.get(f"{HOME}/usage?since=soon")
    assert (seen.url.partition("?")[0].endswith(HOME), "Write days such as" in seen.text) == (
        True,
        True,
    )


async def test_a_member_downloads_no_other_account_s_usage(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    other = create_account(desk, OWNER, NewAccount("other"))
    key = create_key(desk, OWNER, NewKey("theirs", account="other")).details
    write(gateway.store, requests(time.time(), 3, other.id, (key.id,), days=0))
    member = people("member")
    assert (await member.get(f"{HOME}/usage?account={other.id}")).status == 404
    assert "theirs" not in (await member.get(f"{HOME}/usage")).text
    assert "theirs" in (await people("admin").get(f"{HOME}/usage")).text
