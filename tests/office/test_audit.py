from tests.office.people import ACCOUNT, ADMIN, MEMBER, OWNER, READER, STRANGER, refusal
from zurelay.office.accounts import (
    AccountChange,
    NewAccount,
    change_account,
    create_account,
    stop_account,
)
from zurelay.office.audit import list_audit
from zurelay.office.desk import Desk
from zurelay.office.keys import KeyChange, NewKey, change_key, create_key, revoke_key
from zurelay.office.pages import Page


def test_changes_are_listed_newest_first_in_pages(desk: Desk) -> None:
    for n in range(4):
        create_key(desk, ADMIN, NewKey(f"k{n}"))
    first = list_audit(desk, READER, Page(3))
    rest = list_audit(desk, READER, Page(3, first.next_cursor))
    names = [line.detail["name"] for line in first.data + rest.data]
    assert names == ["k3", "k2", "k1", "k0"]
    assert rest.next_cursor is None


def test_changes_are_found_by_account_actor_action_and_target(desk: Desk) -> None:
    team = create_account(desk, OWNER, NewAccount("team"))
    key = create_key(desk, ADMIN, NewKey("a", account="team")).details
    create_key(desk, ADMIN, NewKey("b"))
    revoke_key(desk, OWNER, key.id)
    stop_account(desk, ADMIN, "default")

    def actions(**wanted: str) -> list[str]:
        return [line.action for line in list_audit(desk, READER, Page(), **wanted).data[::-1]]

    assert actions(account="team") == ["account.create", "key.create", "key.revoke"]
    assert actions(account=team.id, by="token:ci") == ["key.create"]
    assert actions(action="key") == ["key.create", "key.create", "key.revoke"]
    assert actions(action="key.revoke") == ["key.revoke"]
    assert actions(action="ke") == []
    assert actions(target=key.id) == ["key.create", "key.revoke"]
    assert refusal(list_audit, desk, READER, Page(), account="nobody").status == 404


def test_a_member_sees_the_changes_of_its_account(desk: Desk) -> None:
    create_account(desk, OWNER, NewAccount("team"))
    create_key(desk, ADMIN, NewKey("b"))
    seen = list_audit(desk, MEMBER, Page()).data
    assert [(line.action, line.account) for line in seen] == [("key.create", ACCOUNT.id)]
    assert list_audit(desk, STRANGER, Page()).data == []
    assert refusal(list_audit, desk, MEMBER, Page(), account="team").status == 404


def test_mark_ups_stand_in_no_line_that_a_member_reads(desk: Desk) -> None:
    create_key(desk, ADMIN, NewKey("x", account=ACCOUNT.id, markup="1.5", rpm=7))
    change_key(desk, ADMIN, "x", KeyChange(markup="1.7", rpm=6))
    change_account(desk, ADMIN, ACCOUNT.id, AccountChange(markup="2"))
    told = [line.detail for line in list_audit(desk, ADMIN, Page()).data]
    assert [one["markup"] for one in told] == [[None, "2.0"], ["1.5", "1.7"], "1.5"]
    seen = [line.detail for line in list_audit(desk, MEMBER, Page()).data]
    assert not any("markup" in one for one in seen)
    assert [one.get("rpm") for one in seen] == [None, [7, 6], 7]
