import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError

from zurelay.store.engine import Store, _sqlite_engine, make_private_file, open_store
from zurelay.store.errors import StoreError


def test_folder_and_files_are_their_owners_alone(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    store = open_store(data)
    with store.write() as connection:
        connection.execute(text("INSERT INTO meta VALUES ('x', 1)"))
    modes = {path.name: path.stat().st_mode & 0o777 for path in data.iterdir()}
    store.close()
    assert data.stat().st_mode & 0o777 == 0o700
    assert modes["zurelay.db"] == 0o600
    assert set(modes.values()) == {0o600}
    assert "zurelay.db-wal" in modes


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "zurelay.db"
    path.touch(mode=0o644)
    make_private_file(path)
    assert path.stat().st_mode & 0o777 == 0o600


_LOOK = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    print(connection.execute("SELECT value FROM meta WHERE name = 'x'").fetchone()[0])
connection.close()
"""


def test_a_second_store_of_this_process_does_not_cost_the_first_one_its_log(tmp_path: Path) -> None:
    """`zurelay serve` opens one for its banner; what came after was lost to other processes."""

    def seen_from_outside() -> str:
        command = [sys.executable, "-c", _LOOK, str(tmp_path / "zurelay.db")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    with closing(open_store(tmp_path)) as store:
        with store.write() as connection:
            connection.execute(text("INSERT INTO meta VALUES ('x', 1)"))
        open_store(tmp_path).close()
        assert seen_from_outside() == "1"
        assert (tmp_path / "zurelay.db-wal").exists()
        with store.write() as connection:
            connection.execute(text("UPDATE meta SET value = 2 WHERE name = 'x'"))
        assert seen_from_outside() == "2"


def test_those_who_meet_a_new_file_at_once_wait_for_each_other(tmp_path: Path) -> None:
    """One in seven such meetings ended with "database is locked"."""
    problems: list[BaseException] = []

    def meet(path: Path, all_here: threading.Barrier) -> None:
        engine = _sqlite_engine(path)
        all_here.wait()
        try:
            engine.connect().close()
        except OperationalError as error:
            problems.append(error)
        engine.dispose()

    for number in range(60):
        path, all_here = tmp_path / str(number), threading.Barrier(4)
        threads = [threading.Thread(target=meet, args=(path, all_here)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert problems == []


def test_what_was_written_is_there_when_the_store_opens_again(
    tmp_path: Path, store_url: str
) -> None:
    first = open_store(tmp_path, store_url)
    with first.write() as connection:
        connection.execute(text("INSERT INTO meta VALUES ('x', 1)"))
    first.close()
    again = open_store(tmp_path, store_url)
    with again.read() as connection:
        written = text("SELECT value FROM meta WHERE name = 'x'")
        assert connection.execute(written).scalar_one() == 1
    again.close()


def test_an_error_in_a_transaction_undoes_all_of_it(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.write() as connection:
        connection.execute(text("INSERT INTO meta VALUES ('x', 1)"))
        raise ZeroDivisionError
    with store.read() as connection:
        assert connection.execute(text("SELECT 1 FROM meta WHERE name = 'x'")).first() is None


def test_two_writers_wait_for_each_other_and_lose_nothing(store: Store) -> None:
    with store.write() as connection:
        connection.execute(text("INSERT INTO meta VALUES ('n', 0)"))

    def add() -> None:
        for _ in range(50):
            with store.write() as connection:
                n = connection.execute(text("SELECT value FROM meta WHERE name = 'n'")).scalar_one()
                connection.execute(
                    text("UPDATE meta SET value = :n WHERE name = 'n'"), {"n": n + 1}
                )

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as connection:
        counted = connection.execute(text("SELECT value FROM meta WHERE name = 'n'")).scalar_one()
    assert counted == 100


def test_readers_see_one_moment_and_do_not_wait_for_a_writer(store: Store) -> None:
    with store.read() as reader:
        before = reader.execute(text("SELECT count(*) FROM meta")).scalar_one()
        with store.write() as writer:
            writer.execute(text("INSERT INTO meta VALUES ('y', 1)"))
        assert reader.execute(text("SELECT count(*) FROM meta")).scalar_one() == before


def test_the_journal_mode_and_keys_are_set_on_every_connection(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store, store.read() as connection:
        asked = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert asked == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1}


def test_a_broken_rule_of_the_tables_stays_what_it_is(store: Store) -> None:
    with pytest.raises(IntegrityError), store.write() as connection:
        connection.execute(
            text("INSERT INTO account (id, name, created) VALUES ('acct_2', 'default', 1)")
        )


def test_a_damaged_file_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "zurelay.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(StoreError, match=r"zurelay\.db: file is not a database"):
        open_store(tmp_path)


def test_a_folder_that_cannot_be_made_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"zurelay\.db"):
        open_store(tmp_path / "file" / "data")


def test_a_writer_that_waited_too_long_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.store.engine._BUSY_S", 0.01)
    store = open_store(tmp_path)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"), store.write():
        pass
    other.close()
    store.close()


def test_its_size_is_told_and_that_it_is_whole(store: Store) -> None:
    size, damage = store.examine()
    assert size >= 4096
    assert damage == ""


def test_a_connection_in_use_when_the_store_closes_is_closed_afterwards(store: Store) -> None:
    with store.read() as connection:
        driver = connection.connection.driver_connection
        store.close()
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    with store.read() as late:  # by a thread that had not heard of it
        another = late.connection.driver_connection
    for left in (driver, another):
        assert left is not None
        with pytest.raises((sqlite3.ProgrammingError, psycopg.OperationalError)):
            left.execute("SELECT 1")
