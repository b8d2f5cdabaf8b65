import time
from pathlib import Path

from tests.cli.conftest import Run
from zurelay.store.lock import FolderLock


def test_keys_and_money_are_what_they_were_and_what_is_undone_is_told(run: Run) -> None:
    run("keys", "create", "alice")
    run("accounts", "set", "default", "--prepaid", "yes")
    run("credit", "default", "10")
    assert run("backup", "b").code == 0
    run("credit", "default", "5")
    run("keys", "revoke", "alice")
    run("keys", "create", "bob")
    refused = run("restore", "b")
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "is not empty" in refused.err
    ran = run("restore", "b", "--replace")
    assert ran.code == 0
    first, kept, *changes = ran.out.splitlines()
    assert first.startswith(f"restored b, made {time.strftime('%Y-', time.gmtime())}")
    assert kept == "the file that was in use is kept as zurelay-data/zurelay.db.before-restore"
    told = sorted((what, name) for what, _, name in (line.rsplit(" ", 2) for line in changes))
    assert told == [("made since:", "bob"), ("revoked since:", "alice")]
    assert "revoke them anew" in ran.err
    assert "bob" not in run("keys", "list").out
    assert "store.restore" in run("audit").out
    balance = run("accounts", "show", "default").out
    assert "balance  10 USD" in balance


def test_a_folder_in_use_is_left_alone(run: Run, tmp_path: Path) -> None:
    run("keys", "create", "alice")
    run("backup", "b")
    server = FolderLock(tmp_path / "zurelay-data")
    ran = run("restore", "b", "--replace")
    server.release()
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "another server" in ran.err


def test_a_damaged_store_is_replaced_and_that_is_said(run: Run, tmp_path: Path) -> None:
    run("keys", "create", "alice")
    run("backup", "b")
    (tmp_path / "zurelay-data" / "zurelay.db").write_bytes(b"nonsense " * 1000)
    for ending in ("-wal", "-shm"):
        (tmp_path / "zurelay-data" / f"zurelay.db{ending}").unlink(missing_ok=True)
    ran = run("restore", "b", "--replace")
    assert ran.code == 0
    assert "not known: the store was damaged" in ran.out
    assert "alice" in run("keys", "list").out


def test_what_is_no_backup_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("nonsense")
    ran = run("restore", "b")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "b is no backup" in ran.err
