import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from zurelay.store import migrate, schema
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError


def is_partition(change: Any) -> bool:
    """PostgreSQL shows the request log's partitions, and their indexes, as tables."""
    kind, what = change[:2]
    table = what if kind == "remove_table" else getattr(what, "table", None)
    return table is not None and table.name.startswith("request_")


def test_the_migrations_make_the_tables_of_the_schema(store: Store) -> None:
    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        found = [
            change
            for change in compare_metadata(context, schema.metadata)
            if not is_partition(change)
        ]
        assert found == []


def test_the_newest_revision_is_the_one_this_release_asks_for() -> None:
    assert ScriptDirectory(str(migrate._SCRIPTS)).get_current_head() == migrate.HEAD


def test_a_database_that_is_up_to_date_needs_no_alembic(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    program = (
        "import sys, pathlib; from zurelay.store.engine import open_store;"
        f"open_store(pathlib.Path({str(tmp_path)!r})).close(); print('alembic' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "False"


def test_a_database_of_a_newer_release_is_left_alone(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    with sqlite3.connect(tmp_path / "zurelay.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("UPDATE meta SET value = 9998 WHERE name = 'oldest'")
    connection.close()
    with pytest.raises(StoreError, match=f"9999.*{migrate.HEAD}"):
        open_store(tmp_path)


def test_a_database_that_a_newer_release_only_added_to_is_used_as_it_is(
    tmp_path: Path, store_url: str
) -> None:
    store = open_store(tmp_path, store_url)
    with store.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    again = open_store(tmp_path, store_url)
    with again.read() as connection:
        assert migrate.revision(connection) == "9999"
    again.close()


def test_processes_that_start_at_once_on_a_new_folder_agree(tmp_path: Path) -> None:
    program = (
        "import pathlib; from zurelay.store.engine import open_store;"
        f"open_store(pathlib.Path({str(tmp_path / 'data')!r})).close()"
    )
    running = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    assert [process.wait(30) for process in running] == [0, 0, 0]


def test_a_migration_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr("alembic.op.create_index", fail)
        with pytest.raises(ZeroDivisionError):
            open_store(tmp_path)
    connection = sqlite3.connect(tmp_path / "zurelay.db")
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    connection.close()
    open_store(tmp_path).close()
