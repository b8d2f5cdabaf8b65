import pytest

from zurelay.access.accounts import Account
from zurelay.store.accounts import ensure_account, find_account, list_accounts
from zurelay.store.counters import ACCESS, read_counter
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError


def test_an_account_is_made_once_and_found_by_name_or_id(store: Store) -> None:
    with store.write() as connection:
        made = ensure_account(connection, "team", "acct_2", 2000.9)
        again = ensure_account(connection, "team", "acct_3", 3000)
    assert made == again == Account("acct_2", "team", 2000)
    with store.read() as connection:
        assert find_account(connection, "team") == find_account(connection, "acct_2") == made
        assert find_account(connection, "nobody") is None
        assert [account.name for account in list_accounts(connection)] == ["default", "team"]


def test_servers_hear_of_a_new_account(store: Store) -> None:
    with store.write() as connection:
        before = read_counter(connection, ACCESS)
        ensure_account(connection, "team", "acct_2", 1)
        ensure_account(connection, "team", "acct_2", 1)
        assert read_counter(connection, ACCESS) == before + 1


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_a_name_that_would_spoil_a_table_is_refused(store: Store, name: str) -> None:
    with pytest.raises(StoreError, match="name"), store.write() as connection:
        ensure_account(connection, name, "acct_2", 1)
