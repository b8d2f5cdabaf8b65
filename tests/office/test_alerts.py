from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.office.people import ACCOUNT, ADMIN, MEMBER, OWNER, READER, STRANGER, audited, refusal
from tests.office.spending import spend
from tests.store.rows import Clock, a_key
from zurelay.access.accounts import Budget
from zurelay.access.keys import Key
from zurelay.office.alerts import (
    TargetForm,
    TargetSet,
    count_open,
    get_target,
    list_alerts,
    list_deliveries,
    list_of_operators,
    renew_secret,
    send_trial,
    set_target,
)
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.keys import revoke_key
from zurelay.office.pages import Page
from zurelay.office.rights import Actor
from zurelay.office.telling import Recipients
from zurelay.office.watching import Sighting, raise_seen, raise_spending
from zurelay.store.keys import add_key
from zurelay.store.members import Member, add_member
from zurelay.store.outbox import claim, finish, put_back

HOOK = "https://hooks.example.com/a?token=b"
KEEPER = Actor("person:ann", "admin", ACCOUNT.id)
"""An admin of the account alone."""
ALL = Page(100)


@pytest.fixture
def mailing(desk: Desk) -> Desk:
    return replace(desk, letters=lambda: Letterhead("https://ai.example.com", "Acme", ""))


def put(desk: Desk, actor: Actor = KEEPER, **fields: Any) -> TargetSet:
    return set_target(desk, actor, ACCOUNT.id, TargetForm(**fields))


def a_spender(desk: Desk, seed: int = 1) -> Key:
    """A key of which 80 percent of the budget are spent."""
    key = a_key(seed, budget=Budget(10**9, "month"))
    with desk.store.write() as connection:
        add_key(connection, key)
    spend(desk, key, str(8 * 10**8))
    return key


def test_those_who_keep_an_account_get_a_mail_until_it_is_said_otherwise(mailing: Desk) -> None:
    with mailing.store.write() as connection:
        add_member(connection, Member("m1", ACCOUNT.id, "ann@example.com", "", "owner", 1))
    found = get_target(mailing, MEMBER, ACCOUNT.id)
    assert (found.emails, found.mailed, found.webhook) == (None, ["ann@example.com"], None)
    found = put(mailing, emails=["Bob@Example.com", "bob@example.com"]).target
    assert found.emails == found.mailed == ["bob@example.com"]
    assert put(mailing, emails=[]).target.mailed == []
    assert put(mailing).target.mailed == ["ann@example.com"]


def test_without_a_server_of_mail_nobody_is_mailed(desk: Desk) -> None:
    found = put(desk, emails=["bob@example.com"]).target
    assert (found.emails, found.mailed, found.mail) == (["bob@example.com"], [], False)


def test_a_webhooks_secret_is_shown_when_it_is_made_and_never_again(desk: Desk) -> None:
    made = put(desk, webhook=HOOK)
    assert made.secret is not None
    assert made.secret.startswith("whsec_")
    assert put(desk, webhook="https://other.example.com").secret is None
    renewed = renew_secret(desk, KEEPER, ACCOUNT.id).secret
    assert renewed not in (None, made.secret)
    put(desk, webhook=None)
    assert refusal(renew_secret, desk, KEEPER, ACCOUNT.id).status == 409
    assert put(desk, webhook=HOOK).secret not in (None, renewed)
    shown = msgspec.json.encode(audited(desk)).decode()
    assert "whsec_" not in shown
    assert "token=b" not in shown
    assert "https://hooks.example.com" in shown


def test_who_may_not_change_it_sees_no_more_of_the_webhook_than_its_host(desk: Desk) -> None:
    put(desk, webhook=HOOK)
    for actor in (KEEPER, MEMBER):
        assert get_target(desk, actor, ACCOUNT.id).webhook == HOOK
    assert get_target(desk, READER, ACCOUNT.id).webhook == "https://hooks.example.com/…"


def test_who_may_say_where_alerts_go(desk: Desk) -> None:
    for actor in (OWNER, ADMIN, KEEPER, MEMBER):
        put(desk, actor)
    assert refusal(put, desk, READER).status == 403
    assert refusal(send_trial, desk, READER, ACCOUNT.id).status == 403
    assert refusal(renew_secret, desk, READER, ACCOUNT.id).status == 403
    other = replace(KEEPER, account="acct_other")
    assert refusal(put, desk, other).status == 404
    assert refusal(get_target, desk, STRANGER, ACCOUNT.id).status == 404


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com",
        "example.com/hook",
        "https://ann:secret@example.com",
        "https://example.com:8443/hook",
        "http://127.0.0.1/",
        "http://localhost/",
        "http://a.localhost/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "https://example.com/\x7f",
        "https://example.com/" + "a" * 2000,
        "https://",
    ],
)
def test_a_webhook_lies_on_the_public_internet(desk: Desk, url: str) -> None:
    problem = refusal(put, desk, webhook=url)
    assert (problem.status, problem.param) == (400, "webhook")


@pytest.mark.parametrize("emails", [["nobody"], [f"{n}@example.com" for n in range(11)]])
def test_addresses_are_addresses_and_not_too_many(desk: Desk, emails: list[str]) -> None:
    problem = refusal(put, desk, emails=emails)
    assert problem.status == 400
    assert (problem.param or "").startswith("emails")


def test_a_trial_goes_to_all_of_them_and_not_more_than_once_a_minute(
    mailing: Desk, clock: Clock
) -> None:
    assert refusal(send_trial, mailing, KEEPER, ACCOUNT.id).status == 409  # nobody is there
    put(mailing, emails=["ann@example.com"], webhook=HOOK)
    sent = send_trial(mailing, KEEPER, ACCOUNT.id)
    assert (sent.mails, sent.webhook) == (1, True)
    clock.now += 59
    assert "less than a minute" in refusal(send_trial, mailing, KEEPER, ACCOUNT.id).message
    clock.now += 1
    send_trial(mailing, KEEPER, ACCOUNT.id)
    for _ in range(8):
        clock.now += 60
        send_trial(mailing, KEEPER, ACCOUNT.id)
    clock.now += 60
    assert "24 hours" in refusal(send_trial, mailing, KEEPER, ACCOUNT.id).message
    with mailing.store.write() as connection:
        now = int(clock.now * 1000)
        found = claim(connection, now, now + 1, ["mail", "webhook"], 100)
    assert sorted(one.kind for one in found) == ["mail"] * 10 + ["webhook"] * 10
    assert {one.account for one in found} == {ACCOUNT.id}


def test_alerts_are_told_in_a_sentence_with_names_and_to_programs(desk: Desk) -> None:
    key = a_spender(desk)
    raise_spending(desk)
    (one,) = list_alerts(desk, MEMBER, ALL).data
    assert one.says == "80% of a budget is spent: $0.80 of $1.00 (default, key 1)."
    assert (one.kind, one.account, one.open) == ("budget", ACCOUNT.id, True)
    assert one.ended == "2026-12-01T00:00:00Z"
    assert one.data["key"] == key.id
    (french,) = list_alerts(desk, MEMBER, ALL, language="fr").data
    assert "budget" in french.says
    assert french.says != one.says
    revoke_key(desk, OWNER, key.id)
    assert list_alerts(desk, MEMBER, ALL).data == [one]


def test_each_sees_what_is_theirs(desk: Desk) -> None:
    a_spender(desk)
    raise_spending(desk)
    raise_seen(desk, [Sighting("disk", "n1", {"node": "n1", "percent": 85})], Recipients())

    def kinds(actor: Actor, **only: Any) -> set[str]:
        return {one.kind for one in list_alerts(desk, actor, ALL, **only).data}

    assert kinds(OWNER) == kinds(READER) == {"budget", "disk"}
    assert kinds(OWNER, account="default") == {"budget"}
    assert kinds(OWNER, kind="disk") == {"disk"}
    assert kinds(MEMBER) == kinds(KEEPER) == {"budget"}
    assert kinds(STRANGER) == set()
    assert kinds(Actor("token:x", "member")) == {"budget"}  # of all accounts, not of the gateway
    assert refusal(list_alerts, desk, MEMBER, ALL, "acct_other").status == 404
    assert refusal(list_of_operators, desk, KEEPER, ALL).status == 403
    (disk,) = list_of_operators(desk, OWNER, ALL).data
    assert disk.says == "The disk of n1 is 85% full."
    assert (count_open(desk, OWNER), count_open(desk, KEEPER)) == (1, 0)


def test_lists_are_given_by_whether_it_holds_and_in_pages(desk: Desk, clock: Clock) -> None:
    for seed in (1, 2, 3):
        a_spender(desk, seed)
    raise_spending(desk)
    assert len(list_alerts(desk, MEMBER, ALL, holds=True).data) == 3
    assert list_alerts(desk, MEMBER, ALL, holds=False).data == []
    first = list_alerts(desk, MEMBER, Page(2))
    rest = list_alerts(desk, MEMBER, Page(2, first.next_cursor))
    assert len({one.id for one in first.data + rest.data}) == 3
    clock.now += 31 * 86_400
    assert list_alerts(desk, MEMBER, ALL, holds=True).data == []
    assert [one.open for one in list_alerts(desk, MEMBER, ALL).data] == [False] * 3


def test_what_became_of_mails_and_webhooks_is_shown(mailing: Desk, clock: Clock) -> None:
    put(mailing, emails=["ann@example.com"], webhook=HOOK)
    send_trial(mailing, KEEPER, ACCOUNT.id)
    with mailing.store.write() as connection:
        now = int(clock.now * 1000)
        hook, mail = sorted(
            claim(connection, now, now, ["mail", "webhook"], 9), key=lambda one: one.kind != "mail"
        )[::-1]
        put_back(connection, hook.id, now + 1, "it answers with status 500")
        finish(connection, mail.id, now, None)
    found = {one.kind: one for one in list_deliveries(mailing, MEMBER, ACCOUNT.id)}
    assert (found["mail"].to, found["mail"].state) == ("ann@example.com", "sent")
    assert found["webhook"].to == "https://hooks.example.com"
    assert (found["webhook"].state, found["webhook"].problem) == (
        "failing",
        "it answers with status 500",
    )
    with mailing.store.write() as connection:
        finish(connection, hook.id, None, "gone")
    assert {one.state for one in list_deliveries(mailing, MEMBER, ACCOUNT.id)} == {
        "sent",
        "given_up",
    }
    put(mailing, emails=[])  # what went elsewhere is nobody's matter here any more
    assert list_deliveries(mailing, MEMBER, ACCOUNT.id) == []
