from zurelay.store.engine import Store
from zurelay.store.members import Member, add_member, change_member, find_member, list_members

ANNA = Member("mem_1", "acct_1", "anna@example.com", "Anna", "member", 5)


def test_members_are_found_by_id_and_address_in_their_account(store: Store) -> None:
    with store.write() as connection:
        add_member(connection, ANNA)
        for wanted in (ANNA.id, ANNA.email):
            assert find_member(connection, "acct_1", wanted) == ANNA
        assert find_member(connection, "acct_2", ANNA.id) is None
        assert list_members(connection, "acct_1", None, 5) == [ANNA]
        assert list_members(connection, "acct_1", (5, "mem_1"), 5) == []


def test_whoever_was_removed_is_found_and_not_listed(store: Store) -> None:
    with store.write() as connection:
        add_member(connection, ANNA)
        change_member(connection, ANNA.id, {"removed": 9, "name": "A"})
        change_member(connection, ANNA.id, {})
        found = find_member(connection, "acct_1", ANNA.id)
        assert found is not None
        assert (found.removed, found.name) == (9, "A")
        assert list_members(connection, "acct_1", None, 5) == []
