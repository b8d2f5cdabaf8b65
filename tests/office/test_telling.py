from dataclasses import replace

import msgspec
import pytest

from tests.office.people import ACCOUNT, NOON
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.notices import FIRST_OWNER, Notice
from zurelay.office.telling import Recipients, happening, of_account, spending, trial
from zurelay.store.alerts import Alert, Target, set_target
from zurelay.store.members import Member, add_member
from zurelay.store.people import Person, add_person

HEAD = Letterhead("https://ai.example.com", "Acme", "help@example.com")
TO = Recipients(("ann@example.com", "bob@example.com"), "https://example.com/in", "whsec_x")
BUDGET = Alert(
    "budget:key_1:2026-11:10:80",
    "budget",
    ACCOUNT.id,
    int(NOON * 1000),
    None,
    '{"level":80,"period":"2026-11","key":"key_1","budget":"10","spent":"8"}',
    "budget:key_1:2026-11",
)
DISK = Alert(
    "disk:n1@1", "disk", None, int(NOON * 1000), None, '{"node":"n1","percent":81}', "disk:n1"
)


@pytest.fixture
def mailing(desk: Desk) -> Desk:
    with desk.store.write() as connection:
        add_person(connection, Person("p1", "bob@example.com", "", None, "nl", 0))
    return replace(desk, letters=lambda: HEAD)


def of_budget(desk: Desk, alert: Alert = BUDGET, to: Recipients = TO) -> list[Notice]:
    with desk.store.read() as connection:
        return spending(desk, connection, to, alert, "research, docs")


def of_disk(desk: Desk, alert: Alert = DISK) -> list[Notice]:
    with desk.store.read() as connection:
        return happening(desk, connection, TO, alert)


def test_each_is_told_in_their_language_with_a_link_to_the_page(mailing: Desk) -> None:
    ann, bob, hook = of_budget(mailing)
    assert (ann.target, ann.account) == ("ann@example.com", ACCOUNT.id)
    assert ann.subject == "80% of a budget is spent: $8.00 of $10.00 (research, docs)."
    assert f"\n\nhttps://ai.example.com/console/billing/alerts?account={ACCOUNT.id}" in ann.body
    assert "refused" not in ann.body
    assert bob.subject.startswith("80% van een budget is uitgegeven")
    assert (hook.target, hook.secret, hook.subject) == (TO.webhook, "whsec_x", "budget.reached")
    assert msgspec.json.decode(hook.body) == {
        "type": "budget.reached",
        "id": BUDGET.event,
        "created": "2026-11-29T12:00:00Z",
        "data": {
            "account": ACCOUNT.id,
            "level": 80,
            "period": "2026-11",
            "key": "key_1",
            "budget": "10",
            "spent": "8",
            "currency": "USD",
        },
    }


def test_a_budget_that_is_spent_says_what_that_means(mailing: Desk) -> None:
    spent = replace(BUDGET, detail=BUDGET.detail.replace("80", "100"))
    ann, *_ = of_budget(mailing, spent)
    assert ann.subject.startswith("A budget is spent")
    assert "Requests that it pays for are refused" in ann.body


def test_without_a_server_of_mail_only_the_webhook_is_told(desk: Desk) -> None:
    assert [one.kind for one in of_budget(desk)] == ["webhook"]
    assert of_budget(desk, to=Recipients()) == []


def test_operators_are_told_of_the_beginning_and_of_the_end(mailing: Desk) -> None:
    ann, bob, hook = of_disk(mailing)
    assert ann.subject == "Alert: The disk of n1 is 81% full."
    assert "Since 2026-11-29 12:00 (UTC)." in ann.body
    assert "Acme" in ann.body
    assert "help@example.com" not in ann.body
    assert bob.subject == "Melding: De schijf van n1 is voor 81% vol."
    assert (hook.account, hook.subject) == (None, "alert.raised")
    over, *_, ended = of_disk(mailing, replace(DISK, ended_ms=int(NOON * 1000) + 120_000))
    assert over.subject == "Over: The disk of n1 is 81% full."
    assert "From 2026-11-29 12:00 to 2026-11-29 12:02 (UTC)." in over.body
    assert msgspec.json.decode(ended.body)["data"] == {
        "kind": "disk",
        "since": "2026-11-29T12:00:00Z",
        "node": "n1",
        "percent": 81,
        "ended": "2026-11-29T12:02:00Z",
    }


def test_those_who_keep_an_account_are_told_until_somebody_says_otherwise(desk: Desk) -> None:
    with desk.store.write() as connection:
        assert of_account(connection, ACCOUNT.id) == Recipients()
        add_member(connection, Member("m2", ACCOUNT.id, "bob@example.com", "", "member", 1))
        assert of_account(connection, ACCOUNT.id) == Recipients(("bob@example.com",))
        add_member(connection, Member("m1", ACCOUNT.id, "ann@example.com", "", "owner", 1))
        assert of_account(connection, ACCOUNT.id) == Recipients(("ann@example.com",))
        hook = Target(ACCOUNT.id, None, "https://example.com", "whsec_x", 0)
        set_target(connection, hook)
        told = of_account(connection, ACCOUNT.id)
        assert told == Recipients(("ann@example.com",), "https://example.com", "whsec_x")
        set_target(connection, replace(hook, emails=("eve@example.com",), webhook=None))
        assert of_account(connection, ACCOUNT.id).emails == ("eve@example.com",)
        set_target(connection, replace(hook, emails=(), webhook=None, secret=None))
        assert of_account(connection, ACCOUNT.id) == Recipients()


def test_a_trial_says_what_it_is(mailing: Desk) -> None:
    with mailing.store.read() as connection:
        ann, _, hook = trial(mailing, connection, TO, ACCOUNT.id, "research")
    assert ann.subject == "A test of alerts for research"
    assert msgspec.json.decode(hook.body)["type"] == "test"


def test_the_first_owner_without_an_address_gets_no_mail(mailing: Desk) -> None:
    assert of_budget(mailing, to=Recipients((FIRST_OWNER,))) == []
