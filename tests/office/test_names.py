from tests.office.people import ACCOUNT, MEMBER, OWNER, STRANGER
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.links import follow, member_link
from zurelay.office.members import NewMember, add
from zurelay.office.names import names_of, spender


def test_people_are_called_by_name_among_those_who_may_know_them(desk: Desk) -> None:
    add(desk, OWNER, ACCOUNT.id, NewMember("ann@example.com", "Ann", "member"))
    _, text = member_link(desk, OWNER, ACCOUNT.id, "ann@example.com")
    visitor = follow(desk, text, "test", name="Ann", password="correct horse")
    told = [f"person:{visitor.person.id}", "person:per_gone", "token:ci (tok_1)"]
    assert names_of(desk, OWNER, told) == {told[0]: "Ann"}
    assert names_of(desk, MEMBER, told) == {told[0]: "Ann"}
    assert names_of(desk, STRANGER, told) == {}
    assert names_of(desk, OWNER, ["token:ci (tok_1)"]) == {}


def test_an_account_or_its_key_is_called_by_name_while_it_is_there(desk: Desk) -> None:
    key = create_key(desk, OWNER, NewKey("ci")).details.id
    with desk.store.read() as connection:
        assert spender(connection, ACCOUNT.id, None) == ACCOUNT.name
        assert spender(connection, ACCOUNT.id, key) == f"{ACCOUNT.name}, ci"
        assert spender(connection, ACCOUNT.id, "key_gone") == f"{ACCOUNT.name}, key_gone"
        assert spender(connection, "acct_gone", None) == "acct_gone"
