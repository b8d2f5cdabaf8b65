"""Links into the console, on SQLite and on PostgreSQL."""

import pytest

from tests.office.people import ACCOUNT, ADMIN, MEMBER, OWNER, READER, audited, refusal
from tests.store.rows import Clock
from zurelay.access.tokens import Role
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.desk import Desk
from zurelay.office.links import (
    FIRST_OWNER,
    LIFE_S,
    change_profile,
    first_link,
    follow,
    look,
    member_link,
    owner_link,
    set_language,
)
from zurelay.office.members import NewMember, add, list_members, remove_member
from zurelay.office.pages import Page
from zurelay.office.rights import Actor
from zurelay.office.sessions import Visitor, resume, sign_in

PASSWORD = "correct horse"


def first_owner(desk: Desk) -> Visitor:
    return follow(desk, first_link(desk) or "", "Firefox")


def invited(desk: Desk, email: str, role: Role = "member") -> Visitor:
    add(desk, OWNER, ACCOUNT.id, NewMember(email, "Somebody", role))
    _, text = member_link(desk, OWNER, ACCOUNT.id, email)
    return follow(desk, text, "Firefox", password=PASSWORD)


def test_the_first_link_makes_the_owner_and_works_once(desk: Desk) -> None:
    text = first_link(desk)
    assert text is not None
    assert look(desk, text).kind == "sign-in"
    visitor = follow(desk, text, "Firefox")
    assert visitor.runs_the_gateway
    assert visitor.actor(None).role == "owner"
    assert visitor.person.email == FIRST_OWNER
    assert resume(desk, visitor.text) is not None
    assert refusal(follow, desk, text, "x").status == 404
    assert refusal(look, desk, text).status == 404
    assert first_link(desk) is None


def test_only_the_newest_first_link_is_good(desk: Desk) -> None:
    old, new = first_link(desk) or "", first_link(desk) or ""
    assert refusal(look, desk, old).status == 404
    assert look(desk, new).kind == "sign-in"


@pytest.mark.parametrize("kind", ["sign-in", "invitation"])
def test_links_are_good_for_their_time(desk: Desk, clock: Clock, kind: str) -> None:
    if kind == "sign-in":
        text = first_link(desk) or ""
    else:
        add(desk, OWNER, ACCOUNT.id, NewMember("ann@example.com", "Ann"))
        _, text = member_link(desk, OWNER, ACCOUNT.id, "ann@example.com")
    clock.now += LIFE_S[kind] - 1
    assert look(desk, text).kind == kind
    clock.now += 1
    assert refusal(look, desk, text).status == 404
    assert refusal(follow, desk, text, "x", password=PASSWORD).status == 404


def test_an_owner_gets_in_again_by_a_link_without_a_password(desk: Desk) -> None:
    first = first_owner(desk)
    again = follow(desk, owner_link(desk, OWNER), "Safari")
    assert again.person.id == first.person.id
    assert resume(desk, first.text) is not None
    problem = refusal(owner_link, desk, OWNER, "eve@example.com")
    assert problem.status == 404
    invited(desk, "olga@example.com", "owner")
    third = follow(desk, owner_link(desk, OWNER, "Olga@Example.com"), "x")
    assert third.person.email == "olga@example.com"


@pytest.mark.parametrize("actor", [ADMIN, MEMBER, READER])
def test_only_owners_make_links_for_owners(desk: Desk, actor: Actor) -> None:
    first_owner(desk)
    assert refusal(owner_link, desk, actor).status == 403
    assert refusal(member_link, desk, actor, ACCOUNT.id, FIRST_OWNER).status == 403


def test_an_invitation_sets_name_and_password_and_signs_in(desk: Desk) -> None:
    add(desk, OWNER, ACCOUNT.id, NewMember("ann@example.com", "Ann"))
    kind, text = member_link(desk, ADMIN, ACCOUNT.id, "Ann@example.com")
    assert kind == "invitation"
    found = look(desk, text)
    assert (found.email, found.name, found.known) == ("ann@example.com", "Ann", False)
    assert refusal(follow, desk, text, "x").param == "password"
    assert refusal(follow, desk, text, "x", password="short").param == "password"
    visitor = follow(desk, text, "x", name="Anna", password=PASSWORD, language="nl")
    assert (visitor.person.name, visitor.person.language) == ("Anna", "nl")
    assert [one.name for one in visitor.memberships] == ["Anna"]
    assert sign_in(desk, "ann@example.com", PASSWORD, "x").person.name == "Anna"
    assert refusal(follow, desk, text, "x", password=PASSWORD).status == 404


def test_a_new_password_by_link_ends_what_went_on_with_the_old_one(desk: Desk) -> None:
    visitor = invited(desk, "ann@example.com")
    kind, text = member_link(desk, ADMIN, ACCOUNT.id, visitor.memberships[0].id)
    assert kind == "password"
    follow(desk, text, "x", name="ignored", password="another horse")
    assert resume(desk, visitor.text) is None
    assert refusal(sign_in, desk, "ann@example.com", PASSWORD, "x").status == 401
    assert sign_in(desk, "ann@example.com", "another horse", "x").person.name == "Somebody"


def test_an_admin_of_one_account_makes_no_link_for_who_is_elsewhere_too(desk: Desk) -> None:
    second = create_account(desk, OWNER, NewAccount("second"))
    add(desk, OWNER, second.id, NewMember("ann@example.com", "Ann"))
    add(desk, OWNER, ACCOUNT.id, NewMember("ann@example.com", "Ann"))
    confined = Actor("token:x", "admin", ACCOUNT.id)
    assert refusal(member_link, desk, confined, ACCOUNT.id, "ann@example.com").status == 403
    assert member_link(desk, ADMIN, ACCOUNT.id, "ann@example.com")


def test_who_was_removed_meanwhile_is_not_let_in(desk: Desk) -> None:
    add(desk, OWNER, ACCOUNT.id, NewMember("ann@example.com", "Ann"))
    _, text = member_link(desk, OWNER, ACCOUNT.id, "ann@example.com")
    remove_member(desk, OWNER, ACCOUNT.id, "ann@example.com")
    assert refusal(member_link, desk, OWNER, ACCOUNT.id, "ann@example.com").status == 404
    assert refusal(follow, desk, text, "x", password=PASSWORD).status == 403
    assert refusal(member_link, desk, OWNER, ACCOUNT.id, "eve@example.com").status == 404


def test_the_audit_log_tells_of_links_and_sessions_without_their_text(desk: Desk) -> None:
    text = first_link(desk) or ""
    visitor = follow(desk, text, "Firefox")
    lines = audited(desk)
    assert {"link.use", "session.begin"} <= {line.action for line in lines}
    assert all(text not in str(line) and visitor.text not in str(line) for line in lines)


def test_a_new_address_moves_every_membership_and_keeps_the_session(desk: Desk) -> None:
    visitor = first_owner(desk)
    change_profile(desk, visitor, name=" Olga ", email="Olga@Example.com")
    again = resume(desk, visitor.text)
    assert again is not None
    assert (again.person.name, again.person.email) == ("Olga", "olga@example.com")
    members = list_members(desk, OWNER, ACCOUNT.id, Page()).data
    assert [one.email for one in members] == ["olga@example.com"]


def test_nobody_takes_the_address_of_another(desk: Desk) -> None:
    invited(desk, "ann@example.com")
    add(desk, OWNER, ACCOUNT.id, NewMember("bob@example.com", "Bob"))
    add(desk, OWNER, ACCOUNT.id, NewMember("gone@example.com", "Gone"))
    remove_member(desk, OWNER, ACCOUNT.id, "gone@example.com")
    visitor = first_owner(desk)
    for email in ("ann@example.com", "bob@example.com", "gone@example.com"):
        problem = refusal(change_profile, desk, visitor, name="Olga", email=email)
        assert (problem.status, problem.param) == (409, "email")
    for name, email, param in (("", "o@example.com", "name"), ("Olga", "nothing", "email")):
        assert refusal(change_profile, desk, visitor, name=name, email=email).param == param


def test_the_language_is_kept(desk: Desk) -> None:
    visitor = first_owner(desk)
    set_language(desk, visitor, "nl")
    again = resume(desk, visitor.text)
    assert again is not None
    assert again.person.language == "nl"
