"""Mails about support, on SQLite and on PostgreSQL."""

from dataclasses import replace

import pytest

from tests.office.people import ACCOUNT, MEMBER, OWNER
from tests.office.test_links import invited
from tests.office.test_links_mailed import mails
from tests.store.rows import Clock
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.links import first_link, follow, set_language
from zurelay.office.members import remove_member
from zurelay.office.sessions import Visitor
from zurelay.office.support import Question, ThreadView, answer, ask, read

HEAD = Letterhead("https://ai.example.com", "Acme", "Help@example.com")


@pytest.fixture
def mailing(desk: Desk) -> Desk:
    return replace(desk, letters=lambda: HEAD)


@pytest.fixture
def olga(desk: Desk) -> Visitor:
    return invited(desk, "olga@example.com", "admin")


@pytest.fixture
def ann(desk: Desk) -> Visitor:
    return invited(desk, "ann@example.com")


def asked(desk: Desk, who: Visitor, body: str = "Why?\n\nAnn") -> ThreadView:
    form = Question(ACCOUNT.id, "Slow answers", body)
    return ask(desk, who.actor(ACCOUNT.id), who.person.name, form)


def told(desk: Desk) -> list[str]:
    """Who gets a mail for what happened since the last time."""
    return sorted(one.target for one in mails(desk))


def test_a_question_goes_to_whoever_runs_the_gateway(
    mailing: Desk, olga: Visitor, ann: Visitor
) -> None:
    follow(mailing, first_link(mailing) or "", "x")  # gave no address yet: nobody's mailbox
    set_language(mailing, olga, "fr")
    made = asked(mailing, ann)
    found = {one.target: one for one in mails(mailing)}
    assert sorted(found) == ["help@example.com", "olga@example.com"]
    mail = found["help@example.com"]
    assert (mail.account, mail.subject) == (
        ACCOUNT.id,
        f"A question from {ACCOUNT.name}: Slow answers",
    )
    assert "\n\nWhy?\n\nAnn\n\n" in mail.body
    assert f"\nhttps://ai.example.com/console/support/{made.id}\n" in mail.body
    assert found["olga@example.com"].subject.startswith("Une question de")


def test_one_mail_a_side_until_it_was_read(
    mailing: Desk, olga: Visitor, ann: Visitor, clock: Clock
) -> None:
    operators = ["help@example.com", "olga@example.com"]
    made = asked(mailing, ann)
    assert told(mailing) == operators
    clock.now += 1
    answer(mailing, ann.actor(ACCOUNT.id), "Ann", made.id, "Still there?")
    assert told(mailing) == []
    clock.now += 1
    read(mailing, olga.actor(None), made.id)
    answer(mailing, ann.actor(ACCOUNT.id), "Ann", made.id, "Hello?")
    assert told(mailing) == operators
    clock.now += 1
    for _ in range(2):
        answer(mailing, olga.actor(None), "Olga", made.id, "Because.")
    assert told(mailing) == ["ann@example.com"]
    clock.now += 1
    read(mailing, ann.actor(ACCOUNT.id), made.id)
    clock.now += 1
    answer(mailing, olga.actor(None), "Olga", made.id, "Anything else?")
    assert told(mailing) == ["ann@example.com"]


def test_an_answer_goes_to_all_who_wrote_for_the_account_and_still_belong_to_it(
    mailing: Desk, olga: Visitor, ann: Visitor, desk: Desk, clock: Clock
) -> None:
    bob, eve = (invited(desk, f"{name}@example.com") for name in ("bob", "eve"))
    made = asked(mailing, ann)
    for one in (bob, eve):
        answer(mailing, one.actor(ACCOUNT.id), "x", made.id, "Me too.")
    remove_member(mailing, OWNER, ACCOUNT.id, "eve@example.com")
    invited(desk, "dan@example.com")
    mails(mailing)
    clock.now += 1
    set_language(mailing, bob, "nl")
    answer(mailing, olga.actor(None), "Olga", made.id, "Because.")
    found = {one.target: one for one in mails(mailing)}
    assert sorted(found) == ["ann@example.com", "bob@example.com"]
    assert found["bob@example.com"].subject == "Een antwoord op uw vraag: Slow answers"
    assert found["ann@example.com"].account == ACCOUNT.id
    assert "Because." not in found["ann@example.com"].body


def test_what_operators_begin_goes_to_the_accounts_members(
    mailing: Desk, olga: Visitor, ann: Visitor
) -> None:
    asked(mailing, olga)
    assert told(mailing) == ["ann@example.com"]


def test_a_program_may_ask_too(mailing: Desk, olga: Visitor) -> None:
    ask(mailing, MEMBER, "", Question(ACCOUNT.id, "Slow", "Why?"))
    found = mails(mailing)
    assert "token:team of the account" in found[0].body


def test_without_a_server_of_mail_nobody_is_told(desk: Desk, olga: Visitor, ann: Visitor) -> None:
    asked(desk, ann)
    assert told(desk) == []
