from tests.office.people import ADMIN, MEMBER, OWNER, READER, STRANGER, audited, refusal
from zurelay.office.desk import Desk
from zurelay.office.members import (
    MemberChange,
    NewMember,
    add,
    change_member,
    list_members,
    remove_member,
)
from zurelay.office.pages import Page

ANNA = NewMember("Anna@Example.com", "Anna")


def test_a_member_comes_goes_and_comes_back_as_the_same(desk: Desk) -> None:
    made = add(desk, ADMIN, "default", ANNA)
    assert (made.email, made.role) == ("anna@example.com", "member")
    assert refusal(add, desk, ADMIN, "default", ANNA).param == "email"
    assert list_members(desk, READER, "default", Page()).data == [made]
    assert remove_member(desk, ADMIN, "default", "ANNA@example.com") == made
    assert list_members(desk, READER, "default", Page()).data == []
    assert refusal(remove_member, desk, ADMIN, "default", made.id).status == 404
    again = add(desk, ADMIN, "default", NewMember("anna@example.com", "Anna B", "read-only"))
    assert (again.id, again.name, again.role) == (made.id, "Anna B", "read-only")
    actions = [line.action for line in audited(desk)]
    assert actions == ["member.add", "member.remove", "member.add"]


def test_the_audit_log_holds_no_address(desk: Desk) -> None:
    add(desk, ADMIN, "default", ANNA)
    assert "anna" not in str(audited(desk)).lower()


def test_name_and_role_change(desk: Desk) -> None:
    made = add(desk, ADMIN, "default", ANNA)
    changed = change_member(desk, ADMIN, "default", made.id, MemberChange("Ann", "read-only"))
    assert (changed.name, changed.role) == ("Ann", "read-only")
    assert change_member(desk, ADMIN, "default", made.id, MemberChange()) == changed
    assert audited(desk)[-1].detail == {"role": ["member", "read-only"], "renamed": True}
    again = MemberChange("Ann", "member")
    assert change_member(desk, ADMIN, "default", made.id, again).role == "member"
    assert audited(desk)[-1].detail == {"role": ["read-only", "member"]}
    assert refusal(change_member, desk, ADMIN, "default", "x", MemberChange()).status == 404


def test_only_owners_make_and_unmake_those_who_run_the_gateway(desk: Desk) -> None:
    boss = NewMember("b@example.com", "B", "owner")
    assert refusal(add, desk, ADMIN, "default", boss).status == 403
    made = add(desk, OWNER, "default", boss)
    demote = MemberChange(role="member")
    assert refusal(change_member, desk, ADMIN, "default", made.id, demote).status == 403
    assert refusal(remove_member, desk, ADMIN, "default", made.id).status == 403
    anna = add(desk, ADMIN, "default", ANNA)
    promote = MemberChange(role="admin")
    assert refusal(change_member, desk, ADMIN, "default", anna.id, promote).status == 403
    assert change_member(desk, OWNER, "default", anna.id, promote).role == "admin"


def test_members_are_seen_by_their_own_account_and_changed_by_admins(desk: Desk) -> None:
    for n in range(3):
        add(desk, ADMIN, "default", NewMember(f"a{n}@example.com", "A"))
    first = list_members(desk, MEMBER, "default", Page(2))
    rest = list_members(desk, MEMBER, "default", Page(2, first.next_cursor))
    assert len(first.data + rest.data) == 3
    assert refusal(list_members, desk, STRANGER, "default", Page()).status == 404
    assert refusal(add, desk, MEMBER, "default", ANNA).status == 403
    assert refusal(remove_member, desk, READER, "default", "a0@example.com").status == 403
