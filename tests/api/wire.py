"""A caller that writes bytes and reads answers, and a service that shows what reached it."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zurelay.api.exchange import HttpExchange


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Caller:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, port: int) -> "Caller":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    async def line(self) -> bytes:
        return await self.reader.readline()

    async def answer(self, *, bodiless: bool = False) -> Answer:
        """The next answer, whole."""
        start = (await self.line()).split(b" ")
        assert start[0] == b"HTTP/1.1", start
        headers: dict[str, str] = {}
        while (line := await self.line()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while size := int(await self.line(), 16):
                body += await self.reader.readexactly(size)
                await self.line()
            await self.line()
        elif "content-length" not in headers:
            body = await self.reader.read() if headers.get("connection") == "close" else b""
        elif not bodiless:
            body = await self.reader.readexactly(int(headers["content-length"]))
        return Answer(int(start[1]), headers, body)

    async def rest(self) -> bytes:
        """Everything until the other side closes."""
        return await self.reader.read()

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


class Recorder:
    """A service: `/v1/echo` gives the body back, `/v1/held` is answered by the test."""

    def __init__(self) -> None:
        self.held: list[HttpExchange] = []
        self.heads: list[str] = []
        self.served: list[str] = []
        self.lost: list[str] = []
        self.gone: list[str] = []
        self.paused: list[bool] = []
        self.most = 1024 * 1024
        self.changed = asyncio.Event()

    def takes(self, path: str) -> bool:
        return path.startswith("/v1/")

    def check_head(self, exchange: HttpExchange) -> None:
        self.heads.append(exchange.path)
        if exchange.path == "/v1/refused":
            exchange.answer(401, [], b"no")
        self.changed.set()

    def body_grew(self, exchange: HttpExchange, size: int) -> None:
        exchange.inflight += size
        if exchange.body_size > self.most:
            exchange.answer(413, [], b"too large")
        self.changed.set()

    def serve(self, exchange: HttpExchange) -> None:
        body = exchange.take_body()
        self.served.append(exchange.path)
        if exchange.path.startswith("/v1/held"):
            self.held.append(exchange)
            exchange.listen(lambda: self._gone(exchange), self.paused.append)
        elif exchange.path == "/v1/stream":
            exchange.open(200, [(b"content-type", b"text/plain")], b"one")
            exchange.write(b"two")
            exchange.close(b"three")
        else:
            exchange.answer(200, [(b"x-query", exchange.query.encode())], body or b"empty")
        self.changed.set()

    def slow_body(self, exchange: HttpExchange) -> None:
        exchange.answer(408, [], b"slow")

    def body_lost(self, exchange: HttpExchange) -> None:
        self.lost.append(exchange.path)
        self.changed.set()

    def malformed(self, reason: str, status: int) -> bytes:
        return b"HTTP/1.1 %d No\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (
            status,
            len(reason),
            reason.encode(),
        )

    async def until(self, true: Any) -> None:
        while not true():
            self.changed.clear()
            await self.changed.wait()

    def _gone(self, exchange: HttpExchange) -> None:
        self.gone.append(exchange.path)
        self.changed.set()


def post(path: str, body: bytes = b"", *headers: str, version: str = "1.1") -> bytes:
    lines = [f"POST {path} HTTP/{version}", "host: x", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def get(path: str, *headers: str, method: str = "GET", version: str = "1.1") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/{version}", "host: x", *headers, "", ""]).encode()
