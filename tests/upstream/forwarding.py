"""A small HTTP proxy: tunnels by CONNECT, forwards absolute-form requests."""

import asyncio
import ssl


class ForwardingProxy:
    """Notes the head of every request it gets; `refusal` is answered instead of working."""

    def __init__(self, refusal: bytes | None = None, context: ssl.SSLContext | None = None) -> None:
        self.heads: list[str] = []
        self.left = asyncio.Event()
        """A client went away."""
        self._refusal = refusal
        self._context = context
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        scheme = "https" if self._context else "http"
        return f"{scheme}://user:pass@127.0.0.1:{self._port}"

    async def __aenter__(self) -> "ForwardingProxy":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._context)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            if self._refusal is not None:
                writer.write(self._refusal)
                await reader.read()
                self.left.set()
                return
            method, target, _ = head.split("\r\n")[0].split(" ")
            place = target if method == "CONNECT" else target.split("/")[2]
            host, _, port = place.rpartition(":")
            upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n")
            else:
                upstream_writer.write(head.encode())
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(_pump(reader, upstream_writer))
                    group.create_task(_pump(upstream_reader, writer))
            finally:
                upstream_writer.transport.abort()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            self.left.set()
        finally:
            writer.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    writer.close()
