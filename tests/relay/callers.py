"""Callers that listen to a recording: sinks that note what they get, and a clock for timers."""

from collections.abc import Callable

from zurelay.relay.ports import Headers


class Caller:
    """A sink that takes bytes until `room` is used up, then is paused until it reads on."""

    def __init__(self, room: int = 1 << 60) -> None:
        self.paused = False
        self.status = 0
        self.headers: Headers = ()
        self.body = b""
        self.ending: str | None = None
        self._room = room
        self._gone: Callable[[], None] = lambda: None
        self._on_paused: Callable[[bool], None] = lambda _: None

    def listen(self, gone: Callable[[], None], paused: Callable[[bool], None]) -> None:
        self._gone, self._on_paused = gone, paused

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        assert not self.status
        self.status, self.headers, self.body, self.ending = status, headers, body, "answered"

    def open(self, status: int, headers: Headers, first: bytes = b"") -> None:
        assert not self.status
        self.status, self.headers = status, headers
        self._take(first)

    def write(self, data: bytes) -> None:
        assert self.status
        assert self.ending is None
        assert data
        self._take(data)

    def close(self, last: bytes = b"") -> None:
        assert self.status
        assert self.ending is None
        self._take(last)
        self.ending = "closed"

    def abort(self) -> None:
        self.ending = "cut"

    def leave(self) -> None:
        self._gone()

    def read(self, room: int) -> None:
        """Make room for so many more bytes."""
        self._room = room
        if self.paused and room > 0:
            self.paused = False
            self._on_paused(False)

    def _take(self, data: bytes) -> None:
        self.body += data
        self._room -= len(data)
        if self._room <= 0 and not self.paused:
            self.paused = True
            self._on_paused(True)


class Plain:
    """A codec that only marks what it packed."""

    def pack(self, data: bytes) -> bytes:
        return b"packed " + data

    def unpack(self, packed: bytes) -> bytes:
        assert packed.startswith(b"packed ")
        return packed.removeprefix(b"packed ")


class Handle:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Timers:
    """Timers by the time at which they ring."""

    def __init__(self) -> None:
        self.now = 0.0
        self._set: list[tuple[float, Handle]] = []

    def later(self, seconds: float, call: Callable[[], None]) -> Handle:
        handle = Handle(call)
        self._set.append((self.now + seconds, handle))
        return handle

    @property
    def waiting(self) -> int:
        return sum(not handle.cancelled for _, handle in self._set)

    def advance(self, seconds: float) -> None:
        self.now += seconds
        due = [one for one in self._set if one[0] <= self.now]
        self._set = [one for one in self._set if one[0] > self.now]
        for _, handle in due:
            if not handle.cancelled:
                handle.call()


class Run:
    """What the recording tells its run."""

    def __init__(self) -> None:
        self.gone = 0
        self.paused: list[bool] = []

    def left(self) -> None:
        self.gone += 1
