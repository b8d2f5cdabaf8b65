from pathlib import Path

import pytest

from tests.store.rows import a_key, text_of
from zurelay.access.accounts import Budget
from zurelay.access.auto import AutoTerms, Ceiling
from zurelay.store.accounts import ensure_account
from zurelay.store.counters import ACCESS, read_counter
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.keys import add_key, find_key, list_keys, revoke_key, touch_keys


def test_a_key_comes_back_as_it_was_made(store: Store) -> None:
    plain = a_key(1)
    limited = a_key(
        2,
        models=("gpt-6-sol", "openai/*"),
        expires=5000,
        budget=Budget(10**18, "week"),
        rpm=1,
        tpm=2**40,
        concurrency=3,
        auto=AutoTerms(("a", "b*"), (), Ceiling(10**12, None)),
    )
    nothing_allowed = a_key(3, models=())
    with store.write() as connection:
        for key in (plain, limited, nothing_allowed):
            add_key(connection, key)
    with store.read() as connection:
        assert list_keys(connection) == [plain, limited, nothing_allowed]


def test_a_keys_text_is_nowhere_in_the_folder(store: Store, tmp_path: Path) -> None:
    with store.write() as connection:
        add_key(connection, a_key(7))
    secret = text_of(7)[3:-6].encode()
    assert not any(secret in path.read_bytes() for path in (tmp_path / "data").iterdir())


def test_keys_are_listed_by_account(store: Store) -> None:
    with store.write() as connection:
        team = ensure_account(connection, "team", "acct_2", 1)
        add_key(connection, a_key(1))
        add_key(connection, a_key(2, account=team.id, account_name=team.name))
        assert [key.name for key in list_keys(connection, team.id)] == ["key 2"]


def test_a_key_is_found_by_id_prefix_or_name(store: Store) -> None:
    one, two = a_key(1, id="key_ab1"), a_key(2, id="key_ab2", name="key_%")
    with store.write() as connection:
        add_key(connection, one)
        add_key(connection, two)
        for wanted in ("key_ab1", "ab1", "key 1"):
            assert find_key(connection, wanted) == one
        assert find_key(connection, "key_%") == two
        for wanted, why in (
            ("ab", "several"),
            ("key_", "several"),
            ("c", "no key"),
            ("%", "no key"),
        ):
            with pytest.raises(StoreError, match=why):
                find_key(connection, wanted)


def test_a_whole_id_wins_over_a_longer_one_that_begins_with_it(store: Store) -> None:
    with store.write() as connection:
        add_key(connection, a_key(1, id="key_a"))
        add_key(connection, a_key(2, id="key_ab"))
        assert find_key(connection, "key_a").name == "key 1"


def test_revoking_is_for_ever_and_tells_servers_once(store: Store) -> None:
    with store.write() as connection:
        add_key(connection, a_key(1))
        before = read_counter(connection, ACCESS)
        assert revoke_key(connection, "key 1", 2000.7).revoked == 2000
        assert revoke_key(connection, "key 1", 3000).revoked == 2000
        assert read_counter(connection, ACCESS) == before + 1


def test_making_a_key_tells_servers(store: Store) -> None:
    with store.write() as connection:
        before = read_counter(connection, ACCESS)
        add_key(connection, a_key(1))
        assert read_counter(connection, ACCESS) == before + 1


def test_use_is_noted_without_telling_servers(store: Store) -> None:
    with store.write() as connection:
        add_key(connection, a_key(1))
        before = read_counter(connection, ACCESS)
        touch_keys(connection, {a_key(1).id: 2000.9, "key_gone": 1.0})
        touch_keys(connection, {})
        assert list_keys(connection)[0].last_used == 2000
        assert read_counter(connection, ACCESS) == before


@pytest.mark.parametrize("name", ["", " ", "a\x1b[31m", "x" * 201])
def test_a_name_that_would_spoil_a_table_is_refused(store: Store, name: str) -> None:
    with pytest.raises(StoreError, match="name"), store.write() as connection:
        add_key(connection, a_key(1, name=name))
