"""A loop whose time moves by jumps, a receiver that remembers, and requests to send."""

import heapq
import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

from zurelay.chat.parts import Text
from zurelay.chat.request import Request, Turn
from zurelay.sandbox.upstream import BASE_URL, Cancellable, Playback, SandboxUpstream
from zurelay.upstream.base import Call, UpstreamError

NOW = 1_795_000_000.5


class _Handle:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class JumpingLoop:
    """Runs callbacks in order of their time; `run` jumps from one to the next."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._due: list[tuple[float, int, _Handle]] = []
        self._numbers = itertools.count()

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[[], None], /) -> Cancellable:
        return self.call_at(self._now, callback)

    def call_at(self, when: float, callback: Callable[[], None], /) -> Cancellable:
        handle = _Handle(callback)
        heapq.heappush(self._due, (when, next(self._numbers), handle))
        return handle

    def run(self, seconds: float = 10_000.0) -> None:
        """Let so much time pass."""
        end = self._now + seconds
        while self._due and self._due[0][0] <= end:
            when, _, handle = heapq.heappop(self._due)
            self._now = max(self._now, when)
            if handle.callback is not None:
                handle.callback()
        self._now = end

    @property
    def idle(self) -> bool:
        return all(handle.callback is None for _, _, handle in self._due)


class Remembering:
    """A receiver that notes what it hears and when."""

    def __init__(self, loop: JumpingLoop) -> None:
        self._loop = loop
        self._began = loop.time()
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.chunks: list[tuple[float, bytes]] = []
        self.ended = False
        self.error: UpstreamError | None = None
        self.head_at: float | None = None
        self.over_at: float | None = None
        self.on_data: Callable[[], None] = lambda: None

    def _elapsed(self) -> float:
        return round(self._loop.time() - self._began, 6)

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        assert self.status is None
        self.status, self.headers, self.head_at = status, headers, self._elapsed()

    def data(self, chunk: bytes) -> None:
        assert self.status is not None
        assert chunk
        assert self.over_at is None
        self.chunks.append((self._elapsed(), chunk))
        self.on_data()

    def end(self) -> None:
        assert self.over_at is None
        self.ended, self.over_at = True, self._elapsed()

    def failed(self, error: UpstreamError) -> None:
        assert self.over_at is None
        self.error, self.over_at = error, self._elapsed()

    @property
    def body(self) -> bytes:
        return b"".join(chunk for _, chunk in self.chunks)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        return read_events(self.body)


def read_events(body: bytes) -> list[Any]:
    """The data of each event; `[DONE]` as that string."""
    assert body.endswith(b"\n\n")
    found = []
    for event in body.removesuffix(b"\n\n").split(b"\n\n"):
        assert event.startswith(b"data: ")
        data = event.removeprefix(b"data: ")
        found.append("[DONE]" if data == b"[DONE]" else json.loads(data))
    return found


def chat_call(model: str, *, limit: int | None = None, **fields: Any) -> Call:
    body = {"model": model, "messages": [{"role": "user", "content": "Hello there"}], **fields}
    url = f"{BASE_URL}/chat/completions"
    return Call("POST", url, (), json.dumps(body).encode(), limit=limit)


def start(call: Call) -> tuple[JumpingLoop, Remembering, Playback]:
    """Send a call; nothing has happened yet."""
    loop = JumpingLoop()
    heard = Remembering(loop)
    playback = SandboxUpstream(now=lambda: NOW, loop=loop).send(call, heard)
    return loop, heard, playback


def play(model: str, **fields: Any) -> Remembering:
    """Ask a model and let the answer play to its end."""
    loop, heard, _ = start(chat_call(model, **fields))
    loop.run()
    assert heard.over_at is not None
    assert loop.idle
    return heard


def asking(text: str = "Hello there", **fields: Any) -> Request:
    """A neutral request with one user turn."""
    return Request(turns=(Turn("user", (Text(text),)),), **fields)
