from dataclasses import replace

import pytest

from tests.store.rows import ACCOUNT, a_key
from zurelay.access.accounts import Account, Budget
from zurelay.store.accounts import find_account
from zurelay.store.counters import ACCESS, read_counter
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.keys import add_key, find_key
from zurelay.store.terms import (
    add_account,
    budget_columns,
    change_account,
    change_key,
    page_of_accounts,
    page_of_keys,
)

TEAM = Account(
    "acct_2", "team", 2000, True, Budget(5, "week"), "Asia/Tokyo", 1, 2**40, 3, "1.2", stopped=9
)


def test_an_account_comes_back_with_all_its_terms(store: Store) -> None:
    with store.write() as connection:
        before = read_counter(connection, ACCESS)
        add_account(connection, TEAM)
        assert find_account(connection, "team") == TEAM
        assert read_counter(connection, ACCESS) == before + 1
        change_account(connection, TEAM.id, {"stopped": None, **budget_columns(None)})
        assert find_account(connection, "team") == replace(TEAM, stopped=None, budget=None)
        assert read_counter(connection, ACCESS) == before + 2
        change_account(connection, TEAM.id, {})
        assert read_counter(connection, ACCESS) == before + 2
    with pytest.raises(StoreError, match="name"), store.write() as connection:
        add_account(connection, replace(TEAM, name=""))


def test_a_keys_columns_change_and_tell_servers(store: Store) -> None:
    with store.write() as connection:
        add_key(connection, a_key(1))
        before = read_counter(connection, ACCESS)
        change_key(connection, a_key(1).id, {"rpm": 5, **budget_columns(Budget(1, "day"))})
        found = find_key(connection, "key 1")
        assert (found.rpm, found.budget) == (5, Budget(1, "day"))
        assert read_counter(connection, ACCESS) == before + 1


def test_pages_of_accounts_and_keys(store: Store) -> None:
    with store.write() as connection:
        add_account(connection, TEAM)
        for n in (1, 2, 3):
            add_key(connection, a_key(n))
        add_key(connection, a_key(4, account=TEAM.id, account_name="team"))
        assert [one.id for one in page_of_accounts(connection, None, None, 5)] == [
            ACCOUNT.id,
            TEAM.id,
        ]
        assert page_of_accounts(connection, TEAM.id, None, 5) == [TEAM]
        assert page_of_accounts(connection, None, (1000, ACCOUNT.id), 5) == [TEAM]
        first = page_of_keys(connection, None, None, 2)
        mark = (first[-1].created, first[-1].id)
        rest = page_of_keys(connection, None, mark, 5)
        assert [key.name for key in first + rest] == ["key 1", "key 2", "key 3", "key 4"]
        (theirs,) = page_of_keys(connection, TEAM.id, None, 5)
        assert (theirs.name, theirs.owner) == ("key 4", TEAM)
