"""Sessions of the console, on SQLite and on PostgreSQL."""

import pytest

from tests.office.people import ACCOUNT, OWNER, audited, refusal
from tests.store.rows import Clock
from zurelay.access.tokens import Role
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.desk import Desk
from zurelay.office.links import follow, member_link
from zurelay.office.members import MemberChange, NewMember, add, change_member, remove_member
from zurelay.office.sessions import (
    IDLE_S,
    LIFE_S,
    Visitor,
    accounts_of,
    digest,
    form_token,
    good_form_token,
    resume,
    sessions_of,
    set_password,
    sign_in,
    sign_out,
    sign_out_elsewhere,
    where,
)

PASSWORD = "correct horse"
ANN = "ann@example.com"


def signed_in(desk: Desk, role: Role = "member", email: str = ANN) -> Visitor:
    add(desk, OWNER, ACCOUNT.id, NewMember(email, "Ann", role))
    _, text = member_link(desk, OWNER, ACCOUNT.id, email)
    return follow(desk, text, "Firefox", password=PASSWORD)


def test_who_knows_address_and_password_is_in(desk: Desk) -> None:
    first = signed_in(desk)
    visitor = sign_in(desk, " Ann@Example.com ", PASSWORD, "Safari")
    assert visitor.text != first.text
    again = resume(desk, visitor.text)
    assert again is not None
    assert (again.person.email, again.session.agent) == (ANN, "Safari")
    assert again.actor(None).account == ACCOUNT.id
    assert audited(desk)[-1].action == "session.begin"


def test_a_session_is_kept_as_a_hash(desk: Desk) -> None:
    visitor = signed_in(desk)
    assert len(visitor.text) == 43
    assert visitor.session.hash == digest(visitor.text)
    assert resume(desk, visitor.text[:-1]) is None
    assert resume(desk, "") is None
    assert resume(desk, "\ud800") is None


def test_every_reason_to_stay_outside_is_told_the_same(desk: Desk) -> None:
    person = signed_in(desk).person
    add(desk, OWNER, ACCOUNT.id, NewMember("new@example.com", "New"))
    told = {
        refusal(sign_in, desk, email, password, "x")
        for email, password in (
            (ANN, "wrong"),
            ("nobody@example.com", PASSWORD),
            ("new@example.com", ""),
            (person.id, PASSWORD),  # ids are no names to sign in with
        )
    }
    assert len(told) == 1
    assert told.pop().status == 401


def test_a_session_ends_after_twelve_hours_without_use(desk: Desk, clock: Clock) -> None:
    visitor = signed_in(desk)
    for _ in range(3):
        clock.now += IDLE_S - 1
        assert resume(desk, visitor.text) is not None
    clock.now += IDLE_S
    assert resume(desk, visitor.text) is None
    clock.now -= IDLE_S
    assert resume(desk, visitor.text) is None, "it is gone, not only hidden"


def test_a_session_ends_after_seven_days_however_much_it_is_used(desk: Desk, clock: Clock) -> None:
    visitor = signed_in(desk)
    end = clock.now + LIFE_S
    while clock.now + IDLE_S < end:
        clock.now += IDLE_S - 60
        assert (resume(desk, visitor.text) is None) == (clock.now >= end)
    clock.now = end
    assert resume(desk, visitor.text) is None


def test_signing_out_ends_it(desk: Desk) -> None:
    visitor = signed_in(desk)
    other = sign_in(desk, ANN, PASSWORD, "x")
    sign_out(desk, visitor)
    assert resume(desk, visitor.text) is None
    assert resume(desk, other.text) is not None


def test_the_other_sessions_can_be_ended(desk: Desk) -> None:
    visitor = signed_in(desk)
    others = [sign_in(desk, ANN, PASSWORD, f"browser {number}") for number in range(2)]
    assert len(sessions_of(desk, visitor)) == 3
    sign_out_elsewhere(desk, visitor)
    assert [resume(desk, one.text) for one in others] == [None, None]
    assert [one.hash for one in sessions_of(desk, visitor)] == [visitor.session.hash]


@pytest.mark.parametrize("what", ["role", "removal", "second account"])
def test_a_change_of_roles_ends_every_session(desk: Desk, what: str) -> None:
    visitor = signed_in(desk)
    match what:
        case "role":
            change_member(desk, OWNER, ACCOUNT.id, ANN, MemberChange(role="read-only"))
        case "removal":
            remove_member(desk, OWNER, ACCOUNT.id, ANN)
        case _:
            create_account(desk, OWNER, NewAccount("second"))
            add(desk, OWNER, "second", NewMember(ANN, "Ann"))
    assert resume(desk, visitor.text) is None


def test_a_name_is_no_role(desk: Desk) -> None:
    visitor = signed_in(desk)
    change_member(desk, OWNER, ACCOUNT.id, ANN, MemberChange(name="Anna"))
    assert resume(desk, visitor.text) is not None


def test_a_new_password_ends_every_session_and_begins_one(desk: Desk) -> None:
    visitor = signed_in(desk)
    other = sign_in(desk, ANN, PASSWORD, "x")
    problem = refusal(set_password, desk, visitor, "wrong", "another horse", "x")
    assert (problem.status, problem.param) == (400, "old")
    assert refusal(set_password, desk, visitor, PASSWORD, "short", "x").param == "new"
    begun = set_password(desk, visitor, PASSWORD, "another horse", "x")
    assert [resume(desk, one.text) for one in (visitor, other)] == [None, None]
    assert resume(desk, begun.text) is not None
    assert refusal(sign_in, desk, ANN, PASSWORD, "x").status == 401
    assert sign_in(desk, ANN, "another horse", "x").person.email == ANN


def test_a_member_of_nothing_is_told_so_only_with_the_right_password(desk: Desk) -> None:
    signed_in(desk)
    remove_member(desk, OWNER, ACCOUNT.id, ANN)
    assert refusal(sign_in, desk, ANN, PASSWORD, "x").status == 403
    assert refusal(sign_in, desk, ANN, "wrong", "x").status == 401


def test_members_act_in_the_account_they_look_at_and_in_no_other(desk: Desk) -> None:
    second = create_account(desk, OWNER, NewAccount("second"))
    third = create_account(desk, OWNER, NewAccount("third"))
    add(desk, OWNER, second.id, NewMember(ANN, "Ann", "read-only"))
    visitor = signed_in(desk)
    assert {one.name for one in accounts_of(desk, visitor)} == {"default", "second"}
    first = visitor.memberships[0].account
    for chosen in ("", third.id, "nonsense"):
        assert where(desk, visitor, chosen) == first
        assert visitor.actor(chosen).account == first
    assert where(desk, visitor, second.id) == second.id
    actor = visitor.actor(second.id)
    assert (actor.role, actor.account) == ("read-only", second.id)
    assert visitor.actor(ACCOUNT.id).role == "member"


def test_who_runs_the_gateway_sees_all_accounts(desk: Desk) -> None:
    second = create_account(desk, OWNER, NewAccount("second"))
    visitor = signed_in(desk, "admin")
    assert (visitor.actor(second.id).role, visitor.actor(second.id).account) == ("admin", None)
    assert len(accounts_of(desk, visitor)) == 2
    assert where(desk, visitor, "") is None
    assert where(desk, visitor, second.id) == second.id
    assert where(desk, visitor, "nonsense") is None


def test_a_form_belongs_to_the_cookie_it_was_made_for() -> None:
    token = form_token("one")
    assert good_form_token("one", token)
    for text, shown in (("two", token), ("one", ""), ("one", token + "0"), ("one", "é")):
        assert not good_form_token(text, shown)
