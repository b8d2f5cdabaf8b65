"""Rows of messages: written once, found, expired, erased; on both databases."""

from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import event

from tests.store.rows import ACCOUNT, NOON, a_key, a_record
from zurelay.meter.content import DAY_S, Content, Stored, expires_at
from zurelay.store.content import (
    StoredContents,
    contents_of,
    count_contents,
    delete_expired,
    erase_contents,
    erase_contents_of_key,
    find_content,
    shorten,
)
from zurelay.store.engine import Store, open_store
from zurelay.store.personal import Subject
from zurelay.store.sealing import Sealer

SEALER = Sealer(["k" * 32])
CONTENT = Content("openai_chat", b'{"messages":"the moon"}', b"\xff\x00answer", ended=True)


def write(
    store: Store,
    request: str,
    *,
    days: int = 10,
    at: float = NOON,
    key: str = "key_1",
    user: str | None = None,
    account: str = ACCOUNT.id,
) -> None:
    contents = StoredContents(store)
    contents.sealer = SEALER
    stored = Stored(request, at, account, key, user, expires_at(at, days), CONTENT)
    contents.add([(stored, contents.seal(stored))])


def ids(store: Store) -> list[str]:
    with store.read() as connection:
        return [one.request for one in contents_of(connection, Subject(None, None), None, 100)]


def test_what_was_written_is_found_and_opens(store: Store) -> None:
    write(store, "req_1", user="ann\0")
    write(store, "req_1", days=20)
    with store.read() as connection:
        found = find_content(connection, "req_1")
        assert find_content(connection, "req_2") is None
    assert found is not None
    assert (found.account, found.key, found.expires) == (ACCOUNT.id, "key_1", NOON + 10 * DAY_S)
    assert found.opened(SEALER) == CONTENT
    assert b"moon" not in found.sealed


def test_it_goes_when_it_is_over_or_the_log_is(store: Store) -> None:
    write(store, "req_1", days=1)
    write(store, "req_2", days=3)
    write(store, "req_3", days=3)
    old = a_record(NOON - 10 * DAY_S).id
    write(store, old, days=30, at=NOON - 10 * DAY_S)
    with store.write() as connection:
        assert delete_expired(connection, NOON + DAY_S - 1, None, 10) == 0
        assert delete_expired(connection, NOON + DAY_S, None, 10) == 1
    assert ids(store) == [old, "req_2", "req_3"]
    with store.write() as connection:
        assert delete_expired(connection, NOON + DAY_S, NOON - 10 * DAY_S, 10) == 0
        assert delete_expired(connection, NOON + DAY_S, NOON - 10 * DAY_S + 0.001, 10) == 1
        assert delete_expired(connection, NOON + 3 * DAY_S, None, 1) == 1
    assert len(ids(store)) == 1


def test_what_is_over_is_found_without_reading_what_is_not(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store, store.write() as connection:
        steps: list[str] = []

        @event.listens_for(connection, "before_cursor_execute")
        def explain(_: Any, cursor: Any, statement: str, parameters: Any, *__: Any) -> None:
            plan = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps.extend(row[3] for row in plan)

        delete_expired(connection, NOON, NOON, 50)
    assert steps
    assert not [step for step in steps if step.startswith("SCAN")]


def test_shorter_times_count_for_what_is_there(store: Store) -> None:
    write(store, "req_1", days=10)
    write(store, "req_2", days=2)
    write(store, "req_3", days=10, key="key_2")
    with store.write() as connection:
        shorten(connection, "key_1", 5)
        ends = [one.expires for one in contents_of(connection, Subject(None, None), None, 10)]
        assert ends == [NOON + 5 * DAY_S, NOON + 2 * DAY_S, NOON + 10 * DAY_S]
        assert count_contents(connection, "key_1", NOON) == 2
        assert count_contents(connection, "key_1", NOON + 2 * DAY_S) == 1


def test_it_is_erased_by_account_user_or_key(store: Store) -> None:
    write(store, "req_1", user="ann")
    write(store, "req_2", user="ann", account="acct_other")
    write(store, "req_3", account="acct_other", key="key_2")
    write(store, "req_4")
    with store.write() as connection:
        assert erase_contents(connection, Subject(ACCOUNT.id, "ann")) == 1
    assert ids(store) == ["req_2", "req_3", "req_4"]
    with store.write() as connection:
        assert erase_contents(connection, Subject(None, "ann")) == 1
        assert erase_contents_of_key(connection, "key_2") == 1
    assert ids(store) == ["req_4"]
    with store.write() as connection:
        assert erase_contents(connection, Subject(ACCOUNT.id, None)) == 1
    assert ids(store) == []


def test_pages_go_on_after_an_id(store: Store) -> None:
    for number in range(5):
        write(store, f"req_{number}")
    with store.read() as connection:
        found = contents_of(connection, Subject(ACCOUNT.id, None), "req_1", 2)
    assert [one.request for one in found] == ["req_2", "req_3"]


def test_a_key_remembers_how_long_it_stores(store: Store) -> None:
    from zurelay.store.keys import add_key, find_key, list_keys

    with store.write() as connection:
        add_key(connection, a_key(1, store_days=30))
        add_key(connection, a_key(2))
    with store.read() as connection:
        assert find_key(connection, a_key(1).id).store_days == 30
        assert [key.store_days for key in list_keys(connection)] == [30, None]
