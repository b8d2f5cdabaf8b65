"""The programs compared: how each is started in front of the scripted upstream, and as what.

Every subject listens on loopback, asks the same upstream, checks the caller's key where it can and
runs as one worker on one core. What it is told beyond that stands here, beside the reason. This
module measures nothing.
"""

import asyncio
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from time import monotonic

from bench.load import Target
from bench.measure import descendants, pinned
from bench.upstream import MODEL

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / ".peers"
MASTER_KEY = "sk-bench-0123456789abcdef"


class NotStartedError(Exception):
    """A subject that is installed did not come up; the text says where its output is."""


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Subject(ABC):
    """One program under test.

    Attributes:
        name: its column in the table.
        setting: what it was told, for the reader of the results.
    """

    name: str
    setting: str

    @abstractmethod
    def version(self) -> str | None:
        """Its version, None where it is not installed."""

    @abstractmethod
    def command(self, folder: Path, port: int, upstream: int) -> Sequence[str]:
        """The command that starts it; may write files into `folder`."""

    def environment(self, folder: Path, port: int, upstream: int) -> Mapping[str, str]:  # noqa: ARG002
        """Variables it needs beside the bare ones."""
        return {}

    def key(self, folder: Path) -> str:  # noqa: ARG002
        """The key callers send."""
        return MASTER_KEY

    @contextlib.asynccontextmanager
    async def running(
        self, folder: Path, upstream: int, core: int | None
    ) -> AsyncIterator["Running"]:
        """Start it, wait until it answers, end it.

        Raises:
            NotStartedError: it ended or stayed silent.
        """
        folder.mkdir()
        port = free_port()
        command = self.command(folder, port, upstream)
        plain = {k: os.environ[k] for k in ("PATH", "HOME", "LANG") if k in os.environ}
        output = folder / "output.log"
        with output.open("wb") as sink, pinned(core):
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder,
                env=plain | dict(self.environment(folder, port, upstream)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
            )
        try:
            await self._wait(process, port, folder)
            yield Running(self, Target(port=port, key=self.key(folder)), process.pid)
        finally:
            await end(process)

    async def _wait(self, process: asyncio.subprocess.Process, port: int, folder: Path) -> None:
        output = folder / "output.log"
        deadline = monotonic() + 90
        while monotonic() < deadline:
            if process.returncode is not None:
                last = output.read_text(errors="replace")[-2000:]
                raise NotStartedError(f"{self.name} ended with {process.returncode}:\n{last}")
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                self.key(folder)  # it may be written a moment after listening
                return
            await asyncio.sleep(0.1)
        raise NotStartedError(f"{self.name} does not listen after 90 s; see {output}")


class Running:
    """A started subject: where it listens and which processes are its own."""

    def __init__(self, subject: Subject, target: Target, pid: int | None) -> None:
        self.subject = subject
        self.target = target
        self._pid = pid

    def pids(self) -> list[int]:
        """Its processes; none for direct access."""
        return descendants(self._pid) if self._pid is not None else []


async def end(process: asyncio.subprocess.Process) -> None:
    """Ask a process to stop, then make it, children included."""
    family = descendants(process.pid) if process.returncode is None else []
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), 5)
    for pid in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)
    await process.wait()


def first_line(command: Sequence[str]) -> str:
    """What a version command prints, first line."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().partition("\n")[0]


class Direct(Subject):
    """No gateway: the load generator asks the upstream itself."""

    name = "direct"
    setting = "load generator straight to the upstream, both on one core"

    def version(self) -> str:
        return ""

    def command(self, folder: Path, port: int, upstream: int) -> Sequence[str]:
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def running(
        self, folder: Path, upstream: int, core: int | None
    ) -> AsyncIterator[Running]:
        del folder, core
        yield Running(self, Target(port=upstream), None)


ZURELAY_CONFIG = """
[server]
shutdown_grace_s = 0
drain_delay_s = 0

[limits]
concurrency = 10000

[providers.bench]
kind = "openai"
base_url = "http://127.0.0.1:{upstream}/v1"
api_key = "sk-bench"
"""


class Zurelay(Subject):
    """This gateway, as it comes."""

    name = "zurelay"
    setting = "key, request log, metering, metrics: all on; SQLite; one process"

    def version(self) -> str:
        return first_line([sys.executable, "-m", "zurelay", "--version"]).rpartition(" ")[2]

    def command(self, folder: Path, port: int, upstream: int) -> Sequence[str]:
        config = folder / "zurelay.toml"
        config.write_text(ZURELAY_CONFIG.format(upstream=upstream), encoding="utf-8")
        return [
            *(sys.executable, "-m", "zurelay", "serve", "--config", str(config)),
            *("--data", str(folder / "data"), "--host", "127.0.0.1", "--port", str(port)),
        ]

    def key(self, folder: Path) -> str:
        return (folder / "data" / "first-key").read_text(encoding="utf-8").strip()


NGINX_CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream scripted {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://scripted;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }}
  }}
}}
"""


class Nginx(Subject):
    """The floor: a reverse proxy in C that reads no body and keeps no log."""

    name = "nginx"
    setting = "proxy_pass, unbuffered, one worker, no log: no gateway, the floor of a relay"

    def version(self) -> str | None:
        if (found := shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")) is None:
            return None
        return first_line([found, "-v"]).rpartition("/")[2]

    def command(self, folder: Path, port: int, upstream: int) -> Sequence[str]:
        config = folder / "nginx.conf"
        config.write_text(NGINX_CONFIG.format(folder=folder, port=port, upstream=upstream))
        return ["nginx", "-p", str(folder), "-c", str(config), "-e", str(folder / "error.log")]

    def environment(self, folder: Path, port: int, upstream: int) -> Mapping[str, str]:
        del folder, port, upstream
        return {"PATH": f"{os.environ['PATH']}:/usr/sbin"}


class Ferrogw(Subject):
    """Ferro Labs AI Gateway, a Go program packaged for Python."""

    name = "ferrogw"
    setting = "master key checked, metrics on, request log off (its default), logging errors only"
    program = PEERS / "ferrogw" / "bin" / "ferrogw"

    def version(self) -> str | None:
        if not self.program.exists():
            return None
        found = re.search(r"\d+\.\d+\.\d+", first_line([str(self.program), "version"]))
        return found[0] if found else "unknown"

    def command(self, folder: Path, port: int, upstream: int) -> Sequence[str]:
        del port, upstream
        config = folder / "config.yaml"
        config.write_text("strategy:\n  mode: single\ntargets:\n  - virtual_key: openai\n")
        return [str(self.program), "serve"]

    def environment(self, folder: Path, port: int, upstream: int) -> Mapping[str, str]:
        return {
            "GATEWAY_CONFIG": str(folder / "config.yaml"),
            "MASTER_KEY": MASTER_KEY,
            "PORT": str(port),
            "OPENAI_API_KEY": "sk-bench",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{upstream}/v1",
            "LOG_LEVEL": "error",
            # Its default of 20 requests per second would be what is measured.
            "RATE_LIMIT_RPS": "1000000",
            "RATE_LIMIT_BURST": "1000000",
        }


LITELLM_CONFIG = f"""
model_list:
  - model_name: {MODEL}
    litellm_params:
      model: openai/{MODEL}
      api_base: http://127.0.0.1:{{upstream}}/v1
      api_key: sk-bench
litellm_settings:
  telemetry: false
general_settings:
  master_key: {MASTER_KEY}
"""


class LiteLLM(Subject):
    """LiteLLM's proxy."""

    name = "litellm"
    setting = "master key checked, no database (so no request log), one worker"
    program = PEERS / "litellm" / "bin" / "litellm"

    def version(self) -> str | None:
        found = sorted((PEERS / "litellm").glob("lib/python3*/site-packages/litellm-*.dist-info"))
        return found[0].name.split("-")[1].removesuffix(".dist") if found else None

    def command(self, folder: Path, port: int, upstream: int) -> Sequence[str]:
        config = folder / "litellm.yaml"
        config.write_text(LITELLM_CONFIG.format(upstream=upstream))
        return [
            *(str(self.program), "--config", str(config), "--host", "127.0.0.1"),
            *("--port", str(port), "--num_workers", "1"),
        ]

    def environment(self, folder: Path, port: int, upstream: int) -> Mapping[str, str]:
        del folder, port, upstream
        # Its price map comes from a web address otherwise; the copy in the package is as good.
        return {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}


SUBJECTS: tuple[Subject, ...] = (Direct(), Zurelay(), Ferrogw(), LiteLLM(), Nginx())
