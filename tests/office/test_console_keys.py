"""The key under which the console asks models, on SQLite and on PostgreSQL."""

from dataclasses import replace

import pytest

from tests.office.people import ACCOUNT, MEMBER, NOON, OWNER, READER, STRANGER, audited, refusal
from zurelay.access.keys import CONSOLE_ID
from zurelay.access.keys import PREFIX as TEXT
from zurelay.chat.problems import Refused
from zurelay.office.console_keys import NAME, console_key
from zurelay.office.desk import Desk
from zurelay.office.keys import (
    KeyChange,
    NewKey,
    change_key,
    create_key,
    list_keys,
    revoke_key,
    rotate_key,
)
from zurelay.office.pages import Page


def test_it_is_made_at_its_first_use_and_found_from_then_on(desk: Desk) -> None:
    made = console_key(desk, MEMBER, ACCOUNT.id)
    assert made.id.startswith(CONSOLE_ID)
    assert (made.name, made.account) == (NAME, ACCOUNT.id)
    again = console_key(desk, OWNER, ACCOUNT.name)
    assert (again.id, again.hash) == (made.id, made.hash)
    assert [line.action for line in audited(desk)] == ["key.create"]


def test_it_stands_in_the_list_and_is_limited_like_any_other(desk: Desk) -> None:
    made = console_key(desk, MEMBER, ACCOUNT.id)
    change_key(desk, MEMBER, made.id, KeyChange(rpm=7))
    assert [key.id for key in list_keys(desk, MEMBER, Page(9)).data] == [made.id]
    assert console_key(desk, MEMBER, ACCOUNT.id).rpm == 7


def test_a_key_of_somebodys_own_is_none(desk: Desk) -> None:
    own = create_key(desk, MEMBER, NewKey("Playground", account=ACCOUNT.id)).details
    assert not own.id.startswith(CONSOLE_ID)
    assert console_key(desk, MEMBER, ACCOUNT.id).id != own.id


def test_once_revoked_or_expired_another_is_made(desk: Desk) -> None:
    first = console_key(desk, MEMBER, ACCOUNT.id)
    revoke_key(desk, MEMBER, first.id)
    second = console_key(desk, MEMBER, ACCOUNT.id)
    assert second.id != first.id
    change_key(desk, MEMBER, second.id, KeyChange(expires="2999-01-01"))
    assert console_key(desk, MEMBER, ACCOUNT.id).id == second.id
    later = replace(desk, clock=lambda: NOON + 1000 * 366 * 86_400)
    assert console_key(later, MEMBER, ACCOUNT.id).id != second.id


def test_who_may_not_make_keys_does_not_get_one(desk: Desk) -> None:
    assert refusal(console_key, desk, READER, ACCOUNT.id).status == 403
    assert refusal(console_key, desk, STRANGER, ACCOUNT.id).status == 404


def test_nobody_is_ever_shown_its_text(desk: Desk) -> None:
    made = console_key(desk, MEMBER, ACCOUNT.id)
    assert refusal(rotate_key, desk, MEMBER, made.id).status == 409
    assert TEXT not in str(audited(desk)) + repr(list_keys(desk, OWNER, Page(9)))
    with pytest.raises(Refused):
        rotate_key(desk, OWNER, made.id, 0)
    assert console_key(desk, MEMBER, ACCOUNT.id).hash == made.hash
