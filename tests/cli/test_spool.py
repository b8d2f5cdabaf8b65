from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.servers import PostgreSQL
from tests.store.rows import a_record, entry
from zurelay.live.journal import Journal
from zurelay.store.engine import open_store
from zurelay.store.lock import FolderLock
from zurelay.store.log import StoredLog
from zurelay.store.requests import Filter


@pytest.fixture
def gone(tmp_path: Path) -> Path:
    """The data folder of a node that had one record left."""
    folder = tmp_path / "gone"
    folder.mkdir()
    journal = Journal(folder, ballast_mb=0)
    journal.append([entry(a_record())[1]], 0)
    journal.close()
    return folder


def test_the_records_of_a_node_that_is_gone_are_delivered_once(
    run: Run, tmp_path: Path, gone: Path, postgresql: PostgreSQL
) -> None:
    with postgresql.database() as url:
        (tmp_path / "zurelay.toml").write_text(f'[storage]\nurl = "{url}"\n')
        ran = run("spool", "deliver", str(gone))
        assert (ran.code, ran.out) == (0, f"1 record delivered from {gone}\n")
        assert run("spool", "deliver", str(gone)).out.startswith("0 records")
        store = open_store(tmp_path, url)
        assert len(StoredLog(store).recent(Filter(), 10)) == 1
        store.close()


def test_a_folder_in_use_is_left_alone(
    run: Run, tmp_path: Path, gone: Path, postgresql: PostgreSQL
) -> None:
    with postgresql.database() as url:
        (tmp_path / "zurelay.toml").write_text(f'[storage]\nurl = "{url}"\n')
        lock = FolderLock(gone)
        ran = run("spool", "deliver", str(gone))
        lock.release()
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "another server" in ran.err


def test_without_a_shared_database_there_is_nowhere_to_deliver(run: Run, gone: Path) -> None:
    ran = run("spool", "deliver", str(gone))
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "storage.url" in ran.err


def test_a_folder_that_does_not_exist_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text('[storage]\nurl = "postgresql://nobody@nowhere/x"\n')
    ran = run("spool", "deliver", "none")
    assert (ran.code, ran.err) == (1, "zurelay: there is no folder none\n")
