"""The console's own keys, on SQLite and on PostgreSQL."""

from dataclasses import replace

from tests.store.rows import ACCOUNT, a_key
from zurelay.access.keys import CONSOLE_ID, Key
from zurelay.store.console_keys import console_keys
from zurelay.store.engine import Store
from zurelay.store.keys import add_key, revoke_key


def made(number: int, id_: str) -> Key:
    return replace(a_key(), id=id_, hash=bytes([number]) * 32, created=number)


def test_those_that_work_are_found_newest_first(store: Store) -> None:
    with store.write() as connection:
        add_key(connection, made(1, f"{CONSOLE_ID}1"))
        add_key(connection, made(2, f"{CONSOLE_ID}2"))
        add_key(connection, made(3, f"{CONSOLE_ID}3"))
        add_key(connection, made(4, "key_consoleX4"))
        revoke_key(connection, f"{CONSOLE_ID}2", 9.0)
        found = console_keys(connection, ACCOUNT, CONSOLE_ID)
    assert [one.id for one in found] == [f"{CONSOLE_ID}3", f"{CONSOLE_ID}1"]
    assert found[0].owner == ACCOUNT


def test_those_of_other_accounts_are_not(store: Store) -> None:
    with store.write() as connection:
        add_key(connection, made(1, f"{CONSOLE_ID}1"))
        assert console_keys(connection, replace(ACCOUNT, id="acct_other"), CONSOLE_ID) == []
