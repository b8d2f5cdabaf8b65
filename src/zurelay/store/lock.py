"""One server per data folder: a lock that ends with the process that holds it."""

import fcntl
import os
from pathlib import Path

from zurelay.store.engine import make_private_folder
from zurelay.store.errors import StoreError

FILE = "server.lock"


class FolderLock:
    """Held from its making until `release` or the end of the process, however that ends."""

    def __init__(self, data: Path) -> None:
        """Take the lock of a data folder.

        Raises:
            StoreError: another server has it, or the folder cannot be written.
        """
        path = data / FILE
        try:
            make_private_folder(data)
            self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror or error}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 20, 0).decode(errors="replace").strip()
            os.close(self._file)
            raise StoreError(
                f"another server (process {holder or 'unknown'}) uses {data}; "
                "stop it or give another folder with --data"
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another server have the folder."""
        os.close(self._file)


def is_locked(data: Path) -> bool:
    """Whether a server uses the folder, as far as can be told."""
    try:
        file = os.open(data / FILE, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
