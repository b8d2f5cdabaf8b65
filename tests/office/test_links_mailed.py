"""Links that are mailed to whom they are for, on SQLite and on PostgreSQL."""

import re
from dataclasses import replace

import pytest

from tests.office.people import ACCOUNT, ADMIN, OWNER, audited
from tests.office.test_links import invited
from tests.store.rows import Clock
from zurelay.chat.problems import Refused
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.links import ASKED_S, follow, forgot, look, member_link, set_language
from zurelay.office.members import NewMember, add, remove_member
from zurelay.office.rights import Actor
from zurelay.office.sessions import sign_in, sign_in_as
from zurelay.store.outbox import Waiting, claim

HEAD = Letterhead("https://ai.example.com", "Acme", "help@example.com")


@pytest.fixture
def mailing(desk: Desk) -> Desk:
    return replace(desk, letters=lambda: HEAD)


def mails(desk: Desk) -> list[Waiting]:
    """Those that wait, each once."""
    with desk.store.write() as connection:
        return claim(connection, int(desk.clock() * 1000), 2**50, ["mail"], 100)


def link_in(mail: Waiting) -> str:
    (found,) = re.findall(
        r"^https://ai.example.com/console/link/([\w-]{43})$", mail.body, re.MULTILINE
    )
    return str(found)


def test_an_invitation_is_mailed_in_the_inviters_language(mailing: Desk) -> None:
    olga = invited(replace(mailing, letters=lambda: None), "olga@example.com", "admin")
    set_language(mailing, olga, "nl")
    add(mailing, OWNER, ACCOUNT.id, NewMember("ann@example.com", "Ann"))
    _, text = member_link(mailing, olga.actor(None), ACCOUNT.id, "ann@example.com")
    (mail,) = mails(mailing)
    assert (mail.target, mail.account) == ("ann@example.com", ACCOUNT.id)
    assert mail.subject == "U bent uitgenodigd voor Acme"
    assert f"Somebody nodigt u uit voor Acme, voor het account {ACCOUNT.name}." in mail.body
    assert link_in(mail) == text
    assert look(mailing, text).kind == "invitation"


def test_a_new_password_is_mailed_in_the_members_language(mailing: Desk) -> None:
    ann = invited(mailing, "ann@example.com")
    mails(mailing)
    set_language(mailing, ann, "fr")
    _, text = member_link(mailing, ADMIN, ACCOUNT.id, "ann@example.com")
    (mail,) = mails(mailing)
    assert mail.subject == "Un nouveau mot de passe pour Acme"
    assert link_in(mail) == text


def test_without_a_server_of_mail_nothing_is_mailed(desk: Desk) -> None:
    invited(desk, "ann@example.com")
    forgot(desk, "ann@example.com")
    assert mails(desk) == []


def test_whoever_forgot_their_password_gets_a_link_by_mail(mailing: Desk) -> None:
    invited(mailing, "ann@example.com")
    mails(mailing)
    forgot(mailing, " Ann@Example.com ")
    (mail,) = mails(mailing)
    assert (mail.target, mail.account) == ("ann@example.com", None)
    follow(mailing, link_in(mail), "x", password="another horse")
    assert sign_in(mailing, "ann@example.com", "another horse", "x").person.name == "Somebody"
    lines = [line for line in audited(mailing) if line.action == "link.ask"]
    assert len(lines) == 1
    assert "ann@example.com" not in str(lines)


def test_who_chose_no_language_gets_it_in_that_of_the_page(mailing: Desk) -> None:
    invited(mailing, "ann@example.com")
    mails(mailing)
    forgot(mailing, "ann@example.com", "fr")
    (mail,) = mails(mailing)
    assert "Ouvrez ce lien" in mail.body


def test_asking_again_and_again_sends_one_mail_in_ten_minutes(mailing: Desk, clock: Clock) -> None:
    invited(mailing, "ann@example.com")
    mails(mailing)
    for _ in range(3):
        forgot(mailing, "ann@example.com")
    assert len(mails(mailing)) == 1
    clock.now += ASKED_S
    forgot(mailing, "ann@example.com")
    assert len(mails(mailing)) == 1


def test_whoever_has_no_password_or_no_account_gets_none(mailing: Desk) -> None:
    ann = invited(mailing, "ann@example.com")
    add(mailing, OWNER, ACCOUNT.id, NewMember("bob@example.com", "Bob"))
    sign_in_as(mailing, "bob@example.com", "Bob", "x")  # by another provider: never had one
    add(mailing, OWNER, ACCOUNT.id, NewMember("eve@example.com", "Eve"))
    mails(mailing)
    for address in ("bob@example.com", "eve@example.com", "nobody@example.com", ann.person.id, ""):
        forgot(mailing, address)
    remove_member(mailing, OWNER, ACCOUNT.id, "ann@example.com")
    forgot(mailing, "ann@example.com")
    assert mails(mailing) == []


def test_a_refused_link_mails_nothing(mailing: Desk) -> None:
    invited(mailing, "olga@example.com", "owner")
    mails(mailing)
    with pytest.raises(Refused):
        member_link(mailing, Actor("token:x", "admin"), ACCOUNT.id, "olga@example.com")
    assert mails(mailing) == []
