import stat
from pathlib import Path

from tests.cli.conftest import Run
from tests.servers import PostgreSQL
from zurelay.cli.backup import backup
from zurelay.store.engine import open_store
from zurelay.store.keys import list_keys
from zurelay.store.lock import FolderLock


def test_a_backup_is_made_while_a_server_runs(run: Run, tmp_path: Path) -> None:
    run("keys", "create", "alice")
    server = FolderLock(tmp_path / "zurelay-data")
    ran = run("backup", "b")
    server.release()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("zurelay-data/zurelay.db is in b, 0.")
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600
    assert backup.__doc__


def test_a_backup_of_postgresql_says_no_password(
    run: Run, tmp_path: Path, postgresql: PostgreSQL
) -> None:
    with postgresql.database() as url:
        secret = url.replace("postgres@", "postgres:hunter2@")
        (tmp_path / "zurelay.toml").write_text(f'[storage]\nurl = "{secret}"\n')
        run("keys", "create", "alice")
        ran = run("backup", "b")
    assert ran.code == 0
    assert ran.out.startswith("PostgreSQL database t")
    assert "hunter2" not in ran.out + ran.err
    (tmp_path / "zurelay.toml").unlink()
    assert run("restore", "b").code == 0
    store = open_store(tmp_path / "zurelay-data")
    with store.read() as connection:
        assert [key.name for key in list_keys(connection)] == ["alice"]
    store.close()


def test_what_exists_is_not_written_over(run: Run, tmp_path: Path) -> None:
    run("keys", "create", "alice")
    (tmp_path / "b").touch()
    ran = run("backup", "b")
    assert (ran.code, ran.err) == (1, "zurelay: b exists; name another file\n")


def test_without_a_store_there_is_nothing_to_back_up(run: Run) -> None:
    ran = run("backup", "b")
    assert ran.code == 1
    assert "there is no store in zurelay-data" in ran.err
