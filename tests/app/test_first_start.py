"""What a new data folder gets before its first request."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from zurelay.access.keys import hash_key
from zurelay.app.first_start import FIRST_KEY_FILE, ensure_first_key, write_first_key
from zurelay.store.accounts import DEFAULT
from zurelay.store.audit import list_audit
from zurelay.store.engine import Store, open_store
from zurelay.store.keys import list_keys


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def test_the_first_key_is_made_once_and_only_its_hash_is_kept(store: Store) -> None:
    text = ensure_first_key(store, 1000.0)
    assert text is not None
    assert ensure_first_key(store, 2000.0) is None
    with store.read() as connection:
        [key] = list_keys(connection)
        lines = list_audit(connection, limit=5)
    assert (key.hash, key.created, key.account_name) == (hash_key(text), 1000, DEFAULT)
    assert text.endswith(key.last4)
    assert [(line.actor, line.action, line.target) for line in lines] == [
        ("gateway", "key.create", key.id)
    ]


def test_the_key_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = write_first_key(tmp_path, "zk-text")
    assert path == tmp_path / FIRST_KEY_FILE
    assert path.read_text() == "zk-text\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
