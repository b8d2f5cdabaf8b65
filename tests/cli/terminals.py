"""A real terminal for a command: what a person would see and type."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path


class Terminal:
    """A command that runs on a terminal of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", handle: int) -> None:
        self.process = process
        self._handle = handle
        self.seen = ""

    def until(self, text: str, seconds: float = 30) -> str:
        """Read until `text` is on the screen; gives what came."""
        end = time.monotonic() + seconds
        start = len(self.seen)
        while text not in self.seen[start:]:
            left = end - time.monotonic()
            ready, _, _ = select.select([self._handle], [], [], max(0, left))
            assert ready, f"{text!r} did not come:\n{self.seen}"
            try:
                piece = os.read(self._handle, 65536)
            except OSError:
                piece = b""
            assert piece, f"the command ended before {text!r}:\n{self.seen}"
            self.seen += piece.decode(errors="replace").replace("\r\n", "\n")
        return self.seen[start:]

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._handle, text.encode())


@contextlib.contextmanager
def terminal(*arguments: str, folder: Path, environ: Mapping[str, str]) -> Iterator[Terminal]:
    """Run `zurelay ARGUMENTS` on a terminal until the block ends."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "zurelay", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "TERM": "xterm", **environ},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(ours)
