"""Nodes of a cluster: real gateways, each a process with a data folder of its own."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.balancer import Balancer
from tests.served import children, free_port

READY_S = 30.0
END_S = 40.0
PROVIDER_KEY = "SECRET-upstream-1234"

CONFIG = """
[server]
expose_routes = false
drain_delay_s = 1
shutdown_grace_s = 20
[streaming]
early_open_s = 5
[routing]
connect_deadline_s = 2
start_deadline_s = 10
idle_deadline_s = 10
[limits]
concurrency = 0
[sandbox]
enabled = false
[storage]
url = "{database}"
valkey_url = "{valkey}"
[providers.chat]
kind = "groq"
base_url = "{upstream}/v1"
api_key = "{key}"
catalogue = false
[providers.vectors]
kind = "openai"
base_url = "{upstream}/v1"
api_key = "{key}"
catalogue = false
[models."chat"]
routes = [{{ provider = "chat", model = "theirs" }}]
context = 100000
max_output = 4096
price = {{ input = "1.00", output = "5.00" }}
[models."vectors"]
routes = [{{ provider = "vectors", model = "bge-m3" }}]
price = {{ input = "0.50", output = "0" }}
"""


@dataclass(slots=True)
class Node:
    """One gateway; may be started again after its end."""

    name: str
    port: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.poll() is None


@dataclass(slots=True)
class Nodes:
    """All nodes, and the balancer that is told of them.

    Attributes:
        killed: when nodes were killed: from the moment before to the one after, by the loop's clock.
        bad: ends that must not be.
    """

    folder: Path
    balancer: Balancer
    config: str
    all: dict[str, Node] = field(default_factory=dict)
    killed: list[tuple[float, float]] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)

    async def start(self, name: str) -> None:
        """Start a node, a new one or one that was here before; returns when it is ready."""
        node = self.all.setdefault(name, Node(name, free_port()))
        workers = "2" if name.startswith("workers") else "1"
        node.process = self._run(
            name, "serve", "--port", str(node.port), "--data", str(self.folder / name),
            "--workers", workers
        )  # fmt: skip
        self.balancer.ready.discard(name)
        self.balancer.nodes[name] = node.port
        try:
            async with asyncio.timeout(READY_S):
                while name not in self.balancer.ready or not self._all_up(name):
                    if not node.alive:
                        raise RuntimeError(f"{name} did not start:\n{self.words(name)}")
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise RuntimeError(f"{name} is not ready:\n{self.words(name)}") from None

    def _all_up(self, name: str) -> bool:
        """Whether a node with workers has said that all of them listen."""
        return not name.startswith("workers") or "Workers    2" in self.words(name)

    async def kill(self, name: str) -> None:
        """End a node as a crash does."""
        node = self.all[name]
        assert node.process is not None
        now = asyncio.get_running_loop().time
        before = now()
        node.process.kill()
        await asyncio.to_thread(node.process.wait)
        self.killed.append((before, now()))
        self.balancer.ready.discard(name)

    async def bury(self, name: str) -> None:
        """Deliver what a node left that was killed and will not be started again."""
        self.balancer.nodes.pop(name, None)
        delivering = self._run(name, "spool", "deliver", str(self.folder / name))
        if await asyncio.to_thread(delivering.wait, END_S):
            self.bad.append(f"what {name} left was not delivered: {self.words(name)}")

    async def cripple(self, name: str) -> None:
        """Kill one of a node's workers."""
        node = self.all[name]
        assert node.process is not None
        worker = children(node.process.pid)[0]
        now = asyncio.get_running_loop().time
        before = now()
        os.kill(worker, signal.SIGKILL)
        while worker in children(node.process.pid):
            await asyncio.sleep(0.001)
        self.killed.append((before, now()))

    async def drain(self, name: str) -> None:
        """End a node as an operator does; returns when it has ended."""
        node = self.all[name]
        assert node.process is not None
        node.process.send_signal(signal.SIGTERM)
        try:
            code = await asyncio.to_thread(node.process.wait, END_S)
        except subprocess.TimeoutExpired:
            self.bad.append(f"{name} did not end in {END_S} s")
            node.process.kill()
            code = await asyncio.to_thread(node.process.wait)
        if code:
            self.bad.append(f"{name} ended with {code}")
        self.balancer.nodes.pop(name, None)

    async def end(self) -> None:
        """Drain all that run."""
        await asyncio.gather(*(self.drain(name) for name, node in self.all.items() if node.alive))

    def _run(self, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a command whose output is the node's."""
        bare = {k: os.environ[k] for k in ("PATH", "HOME", "LANG", "TMPDIR") if k in os.environ}
        file = self.folder / "zurelay.toml"
        if not file.exists():
            file.write_text(self.config, encoding="utf-8")
        with (self.folder / f"{name}.log").open("ab") as sink:
            return subprocess.Popen(
                [sys.executable, "-m", "zurelay", *arguments, "--config", str(file)],
                env=bare,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
            )

    def close(self) -> None:
        """Leave nothing behind."""
        for node in self.all.values():
            if node.process is not None and node.alive:
                node.process.kill()
                node.process.wait()

    def words(self, name: str) -> str:
        """The end of what a node wrote."""
        return (self.folder / f"{name}.log").read_text(errors="replace")[-3000:]

    def log(self) -> list[str]:
        """Every line that is no request's, of all nodes."""
        return [
            f"{path.stem}: {line}"
            for path in sorted(self.folder.glob("*.log"))
            for line in path.read_text(errors="replace").split("\n")
            if line.startswith("{") and '"event":"request"' not in line
        ]
