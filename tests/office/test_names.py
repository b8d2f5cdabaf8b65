from tests.office.people import ACCOUNT, MEMBER, OWNER, STRANGER
from zurelay.office.desk import Desk
from zurelay.office.links import follow, member_link
from zurelay.office.members import NewMember, add
from zurelay.office.names import names_of


def test_people_are_called_by_name_among_those_who_may_know_them(desk: Desk) -> None:
    add(desk, OWNER, ACCOUNT.id, NewMember("ann@example.com", "Ann", "member"))
    _, text = member_link(desk, OWNER, ACCOUNT.id, "ann@example.com")
    visitor = follow(desk, text, "test", name="Ann", password="correct horse")
    told = [f"person:{visitor.person.id}", "person:per_gone", "token:ci (tok_1)"]
    assert names_of(desk, OWNER, told) == {told[0]: "Ann"}
    assert names_of(desk, MEMBER, told) == {told[0]: "Ann"}
    assert names_of(desk, STRANGER, told) == {}
    assert names_of(desk, OWNER, ["token:ci (tok_1)"]) == {}
