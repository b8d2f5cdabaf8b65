"""A receiver that keeps what it hears, and ways to make calls."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from zurelay.upstream.base import Call, Handle, UpstreamError


class Recorder:
    """Keeps what becomes of a call; `on_head` and `on_data` run inside the callbacks."""

    def __init__(
        self,
        on_head: Callable[[], None] = lambda: None,
        on_data: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        self.heard: list[str] = []
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.chunks: list[bytes] = []
        self.error: UpstreamError | None = None
        self.handle: Handle | None = None
        self.on_head = on_head
        self.on_data = on_data
        self._news = asyncio.Event()

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def kind(self) -> str | None:
        return None if self.error is None else self.error.kind.value

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        self._note("head")
        self.status, self.headers = status, headers
        self.on_head()

    def data(self, chunk: bytes) -> None:
        self._note("data")
        self.chunks.append(chunk)
        self.on_data(chunk)

    def end(self) -> None:
        self._note("end")

    def failed(self, error: UpstreamError) -> None:
        self.error = error
        self._note("failed")

    def _note(self, what: str) -> None:
        self.heard.append(what)
        self._news.set()

    async def until(self, true: Callable[["Recorder"], Any]) -> "Recorder":
        while not true(self):
            self._news.clear()
            await self._news.wait()
        return self

    async def over(self) -> "Recorder":
        return await self.until(lambda r: r.heard and r.heard[-1] in {"end", "failed"})


def post(url: str, body: bytes = b"{}", **options: Any) -> Call:
    return Call(
        "POST", url + "/v1/chat/completions", (("authorization", "Bearer k"),), body, **options
    )


def get(url: str, **options: Any) -> Call:
    return Call("GET", url + "/v1/models", (), b"", **options)
