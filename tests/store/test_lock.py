import os
import subprocess
import sys
from pathlib import Path

import pytest

from zurelay.store.errors import StoreError
from zurelay.store.lock import FolderLock, is_locked


def test_a_second_server_on_a_folder_is_told_who_has_it(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with pytest.raises(StoreError, match=f"process {os.getpid()}") as refused:
        FolderLock(tmp_path)
    assert "--data" in str(refused.value)
    assert "\n" not in str(refused.value)
    lock.release()
    FolderLock(tmp_path).release()


def test_the_lock_ends_with_a_process_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import pathlib, time; from zurelay.store.lock import FolderLock;"
        f"lock = FolderLock(pathlib.Path({str(tmp_path)!r})); print('locked', flush=True);"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(StoreError, match=f"process {holder.pid}"):
            FolderLock(tmp_path)
        holder.kill()
    FolderLock(tmp_path).release()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"server\.lock"):
        FolderLock(tmp_path / "file")


def test_whether_a_folder_is_in_use_can_be_told_without_taking_it(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "none")
    lock = FolderLock(tmp_path)
    assert is_locked(tmp_path)
    lock.release()
    assert not is_locked(tmp_path)
    FolderLock(tmp_path).release()
