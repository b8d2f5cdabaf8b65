from dataclasses import replace

import pytest

from tests.office.people import ACCOUNT, ADMIN, MEMBER, OWNER, READER, STRANGER, audited, refusal
from tests.store.rows import a_record, entry
from zurelay.access.keys import Key
from zurelay.meter.wallets import Want, purse_of
from zurelay.office import values as v
from zurelay.office.accounts import (
    AccountChange,
    NewAccount,
    change_account,
    create_account,
    get_account,
    list_accounts,
    resume_account,
    stop_account,
)
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.pages import Page
from zurelay.store.accounts import find_account
from zurelay.store.counters import ACCESS, read_counter
from zurelay.store.keys import list_keys
from zurelay.store.requests import add_requests
from zurelay.store.wallets import draw

ALL = NewAccount(
    "team",
    prepaid=True,
    budget=v.BudgetForm("20", "month"),
    zone="Europe/Brussels",
    rpm=60,
    tpm=2**40,
    concurrency=5,
    markup="1.25",
)


def version(desk: Desk) -> int:
    with desk.store.read() as connection:
        return read_counter(connection, ACCESS)


def test_an_account_comes_back_as_it_was_made(desk: Desk) -> None:
    before = version(desk)
    made = create_account(desk, ADMIN, ALL)
    assert version(desk) > before, "servers hear of it"
    assert get_account(desk, READER, "team") == made
    assert get_account(desk, READER, made.id) == made
    assert (made.prepaid, made.zone, made.rpm, made.markup) == (True, "Europe/Brussels", 60, "1.25")
    assert made.budget == v.BudgetView("20", "month")
    assert (made.balance_usd, made.budget_left_usd, made.stopped) == ("0", "20", None)
    assert made.created == "2026-11-29T12:00:00Z"
    (line,) = audited(desk)
    assert (line.action, line.target, line.account) == ("account.create", made.id, made.id)
    assert line.detail["budget"] == {"usd": "20", "period": "month"}


def test_a_name_is_taken_once(desk: Desk) -> None:
    problem = refusal(create_account, desk, ADMIN, NewAccount("default"))
    assert (problem.status, problem.param) == (409, "name")
    create_account(desk, ADMIN, NewAccount("team"))
    rename = AccountChange(name="default")
    assert refusal(change_account, desk, ADMIN, "team", rename).status == 409
    assert change_account(desk, ADMIN, "team", AccountChange(name="crew")).name == "crew"


def test_terms_change_one_by_one_and_the_log_tells_what(desk: Desk) -> None:
    made = create_account(desk, ADMIN, ALL)
    changed = change_account(desk, ADMIN, "team", AccountChange(rpm=None, tpm=7))
    assert (changed.rpm, changed.tpm, changed.concurrency) == (None, 7, 5)
    assert audited(desk)[-1].detail == {"rpm": [60, None], "tpm": [2**40, 7]}
    lines = len(audited(desk))
    assert change_account(desk, ADMIN, "team", AccountChange()) == changed
    assert len(audited(desk)) == lines
    form = AccountChange(prepaid=None, budget=None, zone=None, concurrency=None, markup=None)
    bare = change_account(desk, ADMIN, made.id, form)
    assert (bare.prepaid, bare.budget, bare.zone, bare.markup) == (None, None, None, None)


def test_a_budget_that_changes_counts_from_the_period_that_runs(desk: Desk) -> None:
    made = create_account(desk, ADMIN, ALL)
    with desk.store.write() as connection:  # its wallet is there, and some of it is spent
        key = Key("key_1", "k", made.id, "team", b"h", "abcd", 1)

        owner = find_account(connection, made.id)
        purse = purse_of(replace(key, owner=owner), desk.clock(), prepaid=False)
        budget = next(w for w in purse.wallets if w.budget is not None)
        draw(connection, "node", 1, [Want(budget, 5_000_000_000)], desk.clock(), alone=True)
    smaller = AccountChange(budget=v.BudgetForm("12", "month"))
    assert change_account(desk, ADMIN, "team", smaller).budget_left_usd == "12"
    larger = AccountChange(budget=v.BudgetForm("50", "month"))
    assert change_account(desk, ADMIN, "team", larger).budget_left_usd == "50"


def test_a_budget_that_was_away_for_a_while_counts_all_of_its_period(desk: Desk) -> None:
    made = create_account(desk, ADMIN, ALL)
    change_account(desk, ADMIN, "team", AccountChange(budget=v.BudgetForm("30", "month")))
    change_account(desk, ADMIN, "team", AccountChange(budget=None))
    record = a_record(desk.clock(), account=made.id, cost=4_000_000_000)
    with desk.store.write() as connection:
        add_requests(connection, [entry(record)])
    for budget, left in (
        (v.BudgetForm("10", "month"), "6"),
        (v.BudgetForm("50", "day"), "46"),
        (v.BudgetForm("20", "month"), "16"),
    ):
        seen = change_account(desk, ADMIN, "team", AccountChange(budget=budget))
        assert seen.budget_left_usd == left


def test_a_stopped_account_has_no_live_keys_until_it_is_resumed(desk: Desk) -> None:
    create_key(desk, ADMIN, NewKey("alice"))

    def state() -> str:
        with desk.store.read() as connection:
            return list_keys(connection)[0].state(desk.clock())

    before = version(desk)
    assert stop_account(desk, ADMIN, "default").stopped == "2026-11-29T12:00:00Z"
    assert version(desk) > before
    assert state() == "stopped"
    stop_account(desk, ADMIN, "default")
    assert resume_account(desk, ADMIN, "default").stopped is None
    assert state() == "live"
    actions = [line.action for line in audited(desk)]
    assert actions == ["key.create", "account.stop", "account.resume"]


def test_accounts_are_listed_in_pages_without_gaps(desk: Desk) -> None:
    names = ["default", *(create_account(desk, ADMIN, NewAccount(f"a{n}")).name for n in range(4))]
    seen: list[str] = []
    cursor = None
    while True:
        page = list_accounts(desk, READER, Page(2, cursor))
        seen += [one.name for one in page.data]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(names)
    assert seen[0] == "default"


def test_a_member_sees_its_own_account_alone(desk: Desk) -> None:
    create_account(desk, ADMIN, NewAccount("team"))
    assert [one.name for one in list_accounts(desk, MEMBER, Page()).data] == ["default"]
    assert get_account(desk, MEMBER, ACCOUNT.id).name == "default"
    assert refusal(get_account, desk, MEMBER, "team").status == 404
    assert list_accounts(desk, STRANGER, Page()).data == []


@pytest.mark.parametrize("actor", [MEMBER, READER])
def test_who_may_not_change_accounts_is_refused(desk: Desk, actor: object) -> None:
    for call, *rest in (
        (create_account, NewAccount("x")),
        (change_account, "default", AccountChange(rpm=1)),
        (stop_account, "default"),
        (resume_account, "default"),
    ):
        assert refusal(call, desk, actor, *rest).status == 403
    assert audited(desk) == []


def test_faults_name_their_field(desk: Desk) -> None:
    for form, param in (
        (NewAccount(" "), "name"),
        (NewAccount("a", zone="Mars/Olympus"), "zone"),
        (NewAccount("a", markup="x"), "markup"),
        (NewAccount("a", budget=v.BudgetForm("x", "day")), "budget.usd"),
    ):
        assert refusal(create_account, desk, OWNER, form).param == param
    assert refusal(get_account, desk, OWNER, "nobody").status == 404


def test_a_mark_up_is_told_to_no_member(desk: Desk) -> None:
    assert change_account(desk, ADMIN, ACCOUNT.id, AccountChange(markup="1.5")).markup == "1.5"
    assert get_account(desk, READER, ACCOUNT.id).markup == "1.5"
    assert get_account(desk, MEMBER, ACCOUNT.id).markup is None
    assert [one.markup for one in list_accounts(desk, MEMBER, Page()).data] == [None]
