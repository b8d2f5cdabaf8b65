import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.servers import PostgreSQL
from tests.store.filled import fill
from tests.store.rows import NOON, a_key, a_record, entry, with_account
from zurelay.store.archive import GENERATION, KeyChange, backup, generation, restore
from zurelay.store.copying import sums, tables
from zurelay.store.counters import ACCESS, read_counter
from zurelay.store.engine import FILE, Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.keys import add_key, list_keys, revoke_key, touch_keys
from zurelay.store.log import StoredLog
from zurelay.store.outbox import Waiting, add_waiting, claim, of_account
from zurelay.store.requests import Filter
from zurelay.store.route_reports import list_reports

CHANGING = {"wallet", "lease", "node", "route_report", "meta", "outbox"}
"""Leases return, nodes are others, counters rise, and nothing is sent twice."""


@pytest.fixture(params=["sqlite", "postgresql"])
def other(request: pytest.FixtureRequest) -> Iterator[str]:
    """`storage.url` of another, empty store, of the same kind or the other."""
    if request.param == "sqlite":
        yield ""
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    with server.database() as url:
        yield url


def held(store: Store) -> dict[str, object]:
    with store.read() as connection:
        return {
            table.name: sums(connection, table) for table in tables() if table.name not in CHANGING
        }


def test_a_backup_of_either_database_is_restored_into_either(
    store: Store, other: str, tmp_path: Path
) -> None:
    fill(store)
    file = tmp_path / "store.backup"
    assert backup(store, file, NOON) == file.stat().st_size > 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == ["store.backup"]
    restored = restore(tmp_path / "other", other, file)
    assert (restored.made, restored.changes, restored.kept) == (int(NOON), [], None)
    with closing(open_store(tmp_path / "other", other)) as new:
        assert held(new) == held(store)
        assert StoredLog(new).recent(Filter(), 10) == StoredLog(store).recent(Filter(), 10)
        with new.read() as connection, store.read() as before:
            assert read_counter(connection, GENERATION) == generation(new) == 1
            assert read_counter(connection, ACCESS) > read_counter(before, ACCESS)
            assert connection.execute(text("SELECT count(*) FROM lease")).scalar_one() == 0
            assert list_reports(connection) == []


def test_a_backup_is_one_moment_of_a_store_in_use(store: Store, tmp_path: Path) -> None:
    log = StoredLog(store)
    done = threading.Event()

    def write() -> None:
        number = 0
        while not done.is_set():
            number += 1
            log.apply("j", number, [entry(a_record(NOON + number)) for _ in range(3)])

    writer = threading.Thread(target=write)
    writer.start()
    for number in range(3):
        backup(store, tmp_path / f"{number}.backup", NOON)
    done.set()
    writer.join()
    for number in range(3):
        restore(tmp_path / f"at {number}", "", tmp_path / f"{number}.backup")
        with closing(open_store(tmp_path / f"at {number}")) as then:
            entries = len(StoredLog(then).recent(Filter(), 10**6))
            assert entries == 3 * StoredLog(then).applied("j")


def test_a_restore_undoes_what_came_later_and_tells_which_keys_it_meets(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    fill(store)
    backup(store, tmp_path / "b", NOON)
    with store.write() as connection:
        revoke_key(connection, a_key(1).id, NOON)
        touch_keys(connection, {a_key(2).id: NOON})
        connection.execute(text("UPDATE api_key SET rpm = 5 WHERE id LIKE '%3'"))
        add_key(connection, a_key(4))
    StoredLog(store).apply("k", 1, [entry(a_record(NOON + 1))])
    with store.read() as connection:
        access = read_counter(connection, ACCESS)
    data = store.data
    store.close()
    with pytest.raises(StoreError, match="is not empty; say that it may be replaced"):
        restore(data, store_url, tmp_path / "b")
    restored = restore(data, store_url, tmp_path / "b", replace=True)
    assert restored.changes is not None
    assert sorted(restored.changes, key=lambda change: change.id) == [
        KeyChange(a_key(1).id, "key 1", "revoked since"),
        KeyChange(a_key(3).id, "key 3", "changed since"),
        KeyChange(a_key(4).id, "key 4", "made since"),
    ]
    assert (restored.kept is None) is bool(store_url)
    with closing(open_store(data, store_url)) as again:
        with again.read() as connection:
            assert [key.revoked for key in list_keys(connection)] == [None] * 3
            assert read_counter(connection, ACCESS) > access
            assert read_counter(connection, GENERATION) == 1
        assert len(StoredLog(again).recent(Filter(), 100)) == 5
    assert restore(data, store_url, tmp_path / "b", replace=True).changes == []
    with closing(open_store(data, store_url)) as again, again.read() as connection:
        assert read_counter(connection, GENERATION) == 2


def test_what_waited_when_the_backup_was_made_is_not_sent_again(
    store: Store, other: str, tmp_path: Path
) -> None:
    waiting = Waiting("out_1", 1, "mail", "a@b.nl", "acct_1", "s", "a link", due_ms=10)
    sent = replace(waiting, id="out_2", due_ms=None, sent_ms=5, body="")
    with store.write() as connection:
        add_waiting(connection, [waiting, sent])
    backup(store, tmp_path / "b", NOON)
    restore(tmp_path / "other", other, tmp_path / "b")
    with closing(open_store(tmp_path / "other", other)) as new, new.write() as connection:
        assert claim(connection, 10**15, 10**15 + 1, ["mail"], 10) == []
        one, two = of_account(connection, "acct_1", [], 10)
        assert (one.body, one.sent_ms) == ("", None)
        assert "restored" in (one.problem or "")
        assert two == sent


def test_the_file_that_was_in_use_is_kept(tmp_path: Path) -> None:
    with closing(with_account(open_store(tmp_path))) as store:
        backup(store, tmp_path / "b", NOON)
        StoredLog(store).apply("j", 1, [entry(a_record())])
    kept = restore(tmp_path, "", tmp_path / "b", replace=True).kept
    assert kept is not None
    with closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("SELECT count(*) FROM request").fetchone() == (1,)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_a_damaged_store_can_be_replaced(tmp_path: Path) -> None:
    with closing(with_account(open_store(tmp_path))) as store:
        backup(store, tmp_path / "b", NOON)
    (tmp_path / FILE).write_bytes(b"this is no database at all" * 100)
    with pytest.raises(StoreError, match="not a database"):
        restore(tmp_path, "", tmp_path / "b")
    restored = restore(tmp_path, "", tmp_path / "b", replace=True)
    assert restored.changes is None
    open_store(tmp_path).close()


def test_a_database_in_use_is_not_replaced(tmp_path: Path, postgresql: PostgreSQL) -> None:
    with postgresql.database() as url, closing(open_store(tmp_path, url)) as store:
        backup(store, tmp_path / "b", NOON)
        with store.read(), pytest.raises(StoreError, match="in use; stop every gateway"):
            restore(tmp_path, url, tmp_path / "b", replace=True)


def test_a_file_that_exists_is_not_written_over(store: Store, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")
    with pytest.raises(StoreError, match="exists; name another file"):
        backup(store, tmp_path / "b", NOON)
    assert (tmp_path / "b").read_text() == "mine"


def test_a_folder_that_does_not_exist_is_told(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file or directory"):
        backup(store, tmp_path / "none" / "b", NOON)


@pytest.mark.parametrize("content", [b"", b"text " * 1000, None])
def test_what_is_no_backup_is_told(store: Store, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "b").write_bytes(content)
    with pytest.raises(StoreError, match=r"is no backup|no such file"):
        restore(store.data, store.url, tmp_path / "b", replace=True)
    with store.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM account")).scalar_one() == 1
