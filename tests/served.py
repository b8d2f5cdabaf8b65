"""A real gateway in a process of its own, as an operator starts it, for tests from the outside."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Served:
    """Where a gateway listens and a key for it.

    Attributes:
        origin: the address without `/v1`.
        folder: where it was started; its data folder and configuration have their usual names.
        pid: of its process.
    """

    origin: str
    key: str
    folder: Path
    pid: int

    @property
    def base_url(self) -> str:
        """What SDKs call the base URL."""
        return f"{self.origin}/v1"


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def children(pid: int) -> list[int]:
    """Processes that a process has started and that run, oldest first.

    Its `children` file leaves some out while they come and go.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if int(parent) == pid and state != "Z":
                    found.append(int(entry.name))
    return sorted(found)


def _ready(origin: str) -> bool:
    try:
        with urllib.request.urlopen(f"{origin}/readyz", timeout=5) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except OSError:
        return False


@contextlib.contextmanager
def serve(folder: Path, config: str = "") -> Iterator[Served]:
    """Run `zurelay serve` in `folder` until the block ends.

    Without a configuration it has the sandbox alone. Provider keys of this process are not seen.
    """
    port = free_port()
    (folder / "zurelay.toml").write_text(config, encoding="utf-8")
    output = folder / "output.log"
    bare = {k: os.environ[k] for k in ("PATH", "HOME", "LANG", "TMPDIR") if k in os.environ}
    command = [sys.executable, "-m", "zurelay", "serve", "--port", str(port)]
    origin = f"http://127.0.0.1:{port}"
    key = folder / "zurelay-data" / "first-key"
    with output.open("wb") as sink:
        process = subprocess.Popen(
            command, cwd=folder, env=bare, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink
        )
    try:
        deadline = time.monotonic() + 40
        while not (_ready(origin) and key.exists()):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the gateway did not start:\n{output.read_text()[-3000:]}")
            time.sleep(0.05)
        yield Served(origin, key.read_text().strip(), folder, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
