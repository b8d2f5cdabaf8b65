"""Upgrades of databases that older releases made and filled."""

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text

from tests.servers import PostgreSQL
from tests.store.rows import ACCOUNT, NOON, a_key, a_record, entry
from zurelay.store import migrate
from zurelay.store.engine import FILE, Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.keys import list_keys
from zurelay.store.postgresql import postgresql_engine
from zurelay.store.requests import Filter, add_requests, list_requests
from zurelay.store.usage import usage_by

COPY = f"{FILE}.before-{migrate.HEAD}"
OLD_HOUR = (
    "INSERT INTO usage_hour (hour, account, api_key, model, requests, errors, estimated, cost,"
    " input, cached_input, cache_write, cache_write_long, audio_input, output, audio_output,"
    " reasoning) VALUES (:hour, 'acct_1', 'key_1', :model, 1, 0, 0, :cost, 1, 2, 3, 4, 5, 6, 7, 8)"
)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Of an empty database."""
    if request.param == "sqlite":
        yield ""
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    with server.database("template0") as made:
        yield made


def engine_of(data: Path, url: str) -> Engine:
    return postgresql_engine(url)[0] if url else create_engine(f"sqlite:///{data / FILE}")


def filled(data: Path, url: str, revision: str) -> None:
    """A database of that revision, with an account, a key, a request and its sums."""
    data.mkdir(exist_ok=True)
    engine = engine_of(data, url)
    with engine.begin() as connection:
        migrate._upgrade(connection, revision)
        connection.execute(text("DELETE FROM meta"))  # older releases had no such counter
        connection.execute(text("INSERT INTO account VALUES ('acct_1', 'default', 1000)"))
        key = a_key(1)
        connection.execute(
            text(
                "INSERT INTO api_key (id, name, account, hash, last4, created)"
                " VALUES (:id, :name, 'acct_1', :hash, :last4, :created)"
            ),
            {
                "id": key.id,
                "name": key.name,
                "hash": key.hash,
                "last4": key.last4,
                "created": key.created,
            },
        )
        record, document = entry(a_record(NOON))
        connection.execute(
            text(
                "INSERT INTO request (at_ms, id, account, api_key, model, status, cost,"
                " cost_estimated, record) VALUES (:at, :id, 'acct_1', 'key_1', 'm', 'ok', 5,"
                " :no, :record)"
            ),
            {"at": int(NOON * 1000), "id": record.id, "no": False, "record": document.decode()},
        )
        for hours in (0, 1, 13):
            given = {"hour": int(NOON) // 3600 + hours, "model": "m", "cost": 10**hours}
            connection.execute(text(OLD_HOUR), given)
    engine.dispose()


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_what_an_older_release_wrote_is_there_and_its_sums_are_made_by_day(
    tmp_path: Path, url: str, revision: str
) -> None:
    data = tmp_path / "data"
    filled(data, url, revision)
    with closing(open_store(data, url)) as store, store.write() as connection:
        assert [key.id for key in list_keys(connection)] == [a_key(1).id]
        assert [record.created for record in list_requests(connection, Filter(), 9)] == [NOON]
        by_day = [(row.group, row.requests, row.cost) for row in usage_by(connection, "day")]
        assert by_day == [("2026-11-29", 2, 11), ("2026-11-30", 1, 10**13)]
        assert [row.cost for row in usage_by(connection, "key")] == [10**13 + 11]
        assert [row.cost for row in usage_by(connection, "model")] == [10**13 + 11]
        one_hour = usage_by(connection, "key", NOON + 3600, NOON + 7200)
        assert [(row.cost, row.tokens["reasoning"]) for row in one_hour] == [(10, 8)]
        add_requests(connection, [entry(a_record(NOON + 1, cost=4))])
        assert sum(row.cost for row in usage_by(connection, "day")) == 15 + 10**13


def test_a_file_that_holds_something_is_copied_before_it_is_changed(tmp_path: Path) -> None:
    filled(tmp_path, "", "0002")
    open_store(tmp_path).close()
    copy = tmp_path / COPY
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0002",)
        assert connection.execute("SELECT count(*) FROM request").fetchone() == (1,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    before = copy.stat().st_mtime_ns
    open_store(tmp_path).close()
    assert copy.stat().st_mtime_ns == before


def test_a_new_file_and_another_database_are_not_copied(tmp_path: Path, store_url: str) -> None:
    open_store(tmp_path, store_url).close()
    assert not (tmp_path / COPY).exists()


def test_a_copy_that_cannot_be_made_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    filled(tmp_path, "", "0002")
    (tmp_path / COPY).mkdir()
    with pytest.raises(StoreError, match=f"before-{migrate.HEAD}: Is a directory"):
        open_store(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0002",)


def test_nodes_that_start_at_once_upgrade_once(tmp_path: Path, url: str) -> None:
    filled(tmp_path, url, "0002")
    program = (
        "import pathlib; from zurelay.store.engine import open_store;"
        f"open_store(pathlib.Path({str(tmp_path)!r}), {url!r}).close()"
    )
    running = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    assert [process.wait(30) for process in running] == [0, 0, 0]


@pytest.fixture
def old(tmp_path: Path, postgresql: PostgreSQL) -> Iterator[str]:
    with postgresql.database("template0") as url:
        filled(tmp_path, url, "0002")
        yield url


def test_an_upgrade_gives_way_to_a_table_in_use_and_tries_again(
    tmp_path: Path, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_LOCK_TIMEOUT", "20ms"), ("_PAUSE_S", 0.01), ("_TRIES", 10_000)):
        monkeypatch.setattr(migrate, name, value)
    engine = engine_of(tmp_path, old)
    opened: list[Store] = []
    with engine.begin() as reader:
        reader.execute(text("SELECT count(*) FROM api_key"))
        upgrade = threading.Thread(target=lambda: opened.append(open_store(tmp_path, old)))
        upgrade.start()
        until = time.monotonic() + 0.3
        while time.monotonic() < until:  # the old node's requests go on all the while
            with engine.begin() as other:
                other.execute(text("UPDATE api_key SET last_used = 1"))
        assert opened == []
    upgrade.join(30)
    with opened[0].read() as connection:
        assert migrate.revision(connection) == migrate.HEAD
    opened[0].close()
    engine.dispose()


def test_an_upgrade_that_never_gets_a_table_is_told(
    tmp_path: Path, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_LOCK_TIMEOUT", "20ms"), ("_PAUSE_S", 0.01), ("_TRIES", 2)):
        monkeypatch.setattr(migrate, name, value)
    engine = engine_of(tmp_path, old)
    with engine.begin() as reader:
        reader.execute(text("SELECT count(*) FROM api_key"))
        with pytest.raises(StoreError, match="lock timeout"):
            open_store(tmp_path, old)
    engine.dispose()


def test_a_release_too_old_for_the_tables_refuses_to_start(
    tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(tmp_path, store_url).close()
    monkeypatch.setattr(migrate, "HEAD", "0001")
    with pytest.raises(
        StoreError, match=r"too new for this one, which knows 0001; upgrade"
    ) as told:
        open_store(tmp_path, store_url)
    assert "\n" not in str(told.value)


def test_what_the_tests_fill_belongs_to_their_account() -> None:
    assert ACCOUNT.id == "acct_1"
