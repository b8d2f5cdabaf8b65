"""A plain TCP balancer: connections in turn over the nodes that say they are ready.

It knows no HTTP but the question whether a node is ready. A connection that a node refuses goes to
the next one; once bytes flow, it belongs to its node.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

CHECK_S = 0.2
_CHECK_DEADLINE_S = 1.0


@dataclass(slots=True)
class Balancer:
    """Where callers connect to.

    Attributes:
        nodes: name -> port, of nodes that may serve.
        ready: names of those that do.
        port: where it listens.
    """

    nodes: dict[str, int] = field(default_factory=dict)
    ready: set[str] = field(default_factory=set)
    port: int = 0
    _turn: int = 0
    _pipes: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def origin(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Balancer"]:
        """Listen until the block is left."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        checking = asyncio.create_task(self._check())
        try:
            yield self
        finally:
            checking.cancel()
            server.close()
            for pipe in self._pipes:
                pipe.cancel()
            await asyncio.gather(checking, *self._pipes, return_exceptions=True)

    async def _check(self) -> None:
        while True:
            await asyncio.gather(*(self._ask(*node) for node in list(self.nodes.items())))
            self.ready &= set(self.nodes)
            await asyncio.sleep(CHECK_S)

    async def _ask(self, name: str, port: int) -> None:
        line = b""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CHECK_DEADLINE_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                with contextlib.closing(writer):
                    writer.write(b"GET /readyz HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\r\n")
                    line = await reader.readline()
        if line.startswith(b"HTTP/1.1 200 "):
            self.ready.add(name)
        else:
            self.ready.discard(name)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._pipes.add(task)
        try:
            node = await self._connect()
            if node is not None:
                with contextlib.closing(node[1]):
                    await asyncio.gather(_copy(reader, node[1]), _copy(node[0], writer))
        except asyncio.CancelledError:
            pass  # the balancer ends; asyncio would tell of it
        finally:
            self._pipes.discard(task)
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        for _ in range(3):
            self._turn += 1
            names = sorted(self.ready)
            for step in range(len(names)):
                name = names[(self._turn + step) % len(names)]
                try:
                    return await asyncio.open_connection("127.0.0.1", self.nodes[name])
                except (OSError, KeyError):
                    self.ready.discard(name)
            await asyncio.sleep(CHECK_S)
        return None


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until either end closes; what one does is done to the other."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        writer.transport.abort()
    finally:
        writer.close()
