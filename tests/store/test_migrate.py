import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from zurelay.store import migrate, schema
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError


def test_the_migrations_make_the_tables_of_the_schema(store: Store) -> None:
    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []


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
    connection.close()
    with pytest.raises(StoreError, match="9999"):
        open_store(tmp_path)


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
