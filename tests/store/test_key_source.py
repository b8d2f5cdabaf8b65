import re
from collections.abc import Iterator

import pytest

from tests.store.rows import a_key, a_record, entry
from zurelay.access.tokens import AdminToken
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.key_source import StoredKeys, StoredTokens
from zurelay.store.keys import add_key, revoke_key
from zurelay.store.log import StoredLog
from zurelay.store.tokens import add_token, revoke_token


@pytest.fixture
def keys(store: Store) -> Iterator[StoredKeys]:
    source = StoredKeys(store)
    yield source
    source.close()


def test_the_version_rises_with_keys_and_stands_still_otherwise(
    store: Store, keys: StoredKeys
) -> None:
    first = keys.version()
    assert keys.version() == first
    StoredLog(store).apply("j", 1, [entry(a_record())])
    assert keys.version() == first
    with store.write() as connection:
        add_key(connection, a_key(1))
    second = keys.version()
    assert second > first
    with store.write() as connection:
        revoke_key(connection, "key 1", 5)
    assert keys.version() > second
    assert [key.revoked for key in keys.load()] == [5]


def test_a_change_by_another_program_is_seen(store: Store, keys: StoredKeys) -> None:
    before = keys.version()
    other = open_store(store.data, store.url)
    with other.write() as connection:
        add_key(connection, a_key(2))
    other.close()
    assert keys.version() > before


def test_use_is_written_down(store: Store, keys: StoredKeys) -> None:
    with store.write() as connection:
        add_key(connection, a_key(1))
    before = keys.version()
    keys.touch({a_key(1).id: 77.0})
    assert keys.version() == before
    assert keys.load()[0].last_used == 77


def test_a_closed_store_is_told_in_one_line(store: Store, keys: StoredKeys) -> None:
    keys.close()
    with pytest.raises(StoreError, match=re.escape(f"{store.name}: closed")):
        keys.version()


def test_admin_tokens_are_heard_of_likewise(store: Store) -> None:
    tokens = StoredTokens(store)
    before = tokens.version()
    made = AdminToken("tok_1", "one", "admin", b"h" * 32, "abcd", 1)
    with store.write() as connection:
        add_token(connection, made)
    after = tokens.version()
    assert after > before
    assert tokens.load() == [made]
    with store.write() as connection:
        revoke_token(connection, "one", 5)
    assert tokens.version() > after
    tokens.close()
