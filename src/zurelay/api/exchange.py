"""One request on the data plane and the way its answer goes out.

Knows HTTP/1.1 framing of an answer; nothing of what is asked. Offers `relay.ports.Sink`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import structlog
from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.server import ServerState

log = structlog.get_logger("zurelay.api")

Headers = Sequence[tuple[bytes, bytes]]

_LAST_CHUNK = b"0\r\n\r\n"


class Connection(Protocol):
    """What an exchange needs of the connection it came on."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    server_state: ServerState
    client: tuple[str, int] | None

    def on_response_complete(self) -> None:
        """The answer is out; the next request may come."""
        ...

    def hold_body(self, held: bool) -> None:
        """Read no more of a body for now, or read on."""
        ...

    def linger(self) -> None:
        """The answer is out, the body is not whole: let the caller read the answer all the same."""
        ...


def _nothing() -> None:
    pass


def _ignore(_paused: bool) -> None:
    pass


def _no_headers() -> Headers:
    return ()


class HttpExchange:
    """A request and its answer. Writes after the caller left are ignored.

    Attributes:
        common_headers: of every answer.
        at_head: makes further headers when the head is sent.
    """

    __slots__ = (
        "_by_name",
        "_chunked",
        "_connection",
        "_gone",
        "_on_paused",
        "_tasks",
        "at_head",
        "body_complete",
        "body_parts",
        "body_size",
        "common_headers",
        "disconnected",
        "expects_continue",
        "head_checked",
        "headers",
        "http_1_0",
        "inflight",
        "keep_alive",
        "method",
        "path",
        "paused",
        "query",
        "request_id",
        "response_complete",
        "response_started",
        "started",
    )

    def __init__(
        self,
        *,
        connection: Connection,
        method: str,
        path: str,
        query: str,
        headers: list[tuple[bytes, bytes]],
        http_1_0: bool,
        keep_alive: bool,
        expects_continue: bool,
        started: float,
    ) -> None:
        self._connection = connection
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.http_1_0 = http_1_0
        self.keep_alive = keep_alive and not http_1_0
        self.expects_continue = expects_continue
        self.started = started
        self.body_parts: list[bytes] = []
        self.body_size = 0
        self.body_complete = False
        self.inflight = 0
        self.head_checked = False
        self.response_started = False
        self.response_complete = False
        self.disconnected = False
        self.paused = False
        self.request_id = ""
        self.common_headers: Headers = ()
        self.at_head: Callable[[], Headers] = _no_headers
        self._by_name: dict[bytes, bytes] | None = None
        self._chunked = True
        self._gone: Callable[[], None] = _nothing
        self._on_paused: Callable[[bool], None] = _ignore
        self._tasks: set[asyncio.Task[None]] = set()

    # The request.

    def header(self, name: bytes) -> bytes | None:
        """The first header of that lower-case name."""
        if self._by_name is None:
            self._by_name = dict(reversed(self.headers))
        return self._by_name.get(name)

    def take_body(self) -> bytes:
        """The body, once; it is not kept."""
        parts, self.body_parts = self.body_parts, []
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @property
    def client_host(self) -> str:
        """The peer's address, empty if unknown."""
        client = self._connection.client
        return client[0] if client else ""

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` as a task of this request; it ends with the caller's connection."""
        task = self._connection.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def hold_body(self, *, held: bool) -> None:
        """Read no more of the body for now, or read on."""
        if not self.disconnected:
            self._connection.hold_body(held)

    def _task_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            log.error("request_failed", request_id=self.request_id, exc_info=error)
            if not self.response_complete and not self.disconnected:
                self.abort()  # nobody else will answer

    # The answer.

    def listen(self, gone: Callable[[], None], paused: Callable[[bool], None]) -> None:
        """Say who hears of the connection; see `relay.ports.Sink`."""
        self._gone = gone
        self._on_paused = paused
        if self.disconnected:
            self._connection.loop.call_soon(gone)

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """A whole answer in one write."""
        if self.disconnected or self.response_started:
            return
        self.response_started = True
        if not self.body_complete:
            self.keep_alive = False
        head = self._head(status, headers)
        if status == 204:  # has no body, and by RFC 9110 no length either
            head.append(b"\r\n")
        else:
            head.append(b"content-length: %d\r\n\r\n" % len(body))
        if self.method != "HEAD":
            head.append(body)
        self._connection.transport.write(b"".join(head))
        self._complete()

    def open(self, status: int, headers: Headers, first: bytes = b"") -> None:
        """The head of a stream, and its first bytes in the same write."""
        if self.disconnected or self.response_started:
            return
        self.response_started = True
        self._chunked = not self.http_1_0
        head = self._head(status, headers)
        head.append(b"transfer-encoding: chunked\r\n\r\n" if self._chunked else b"\r\n")
        if first:
            head.append(b"%x\r\n%b\r\n" % (len(first), first) if self._chunked else first)
        self._connection.transport.write(b"".join(head))

    def write(self, data: bytes) -> None:
        """More of an open stream."""
        if self.disconnected or self.response_complete:
            return
        if self._chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        self._connection.transport.write(data)

    def close(self, last: bytes = b"") -> None:
        """The last bytes of an open stream."""
        if self.disconnected or self.response_complete:
            return
        if self._chunked:
            end = b"%x\r\n%b\r\n" % (len(last), last) + _LAST_CHUNK if last else _LAST_CHUNK
        else:
            end = last
        if end:
            self._connection.transport.write(end)
        self._complete()

    def abort(self) -> None:
        """Cut the connection, so that what was sent cannot look whole."""
        self.response_complete = True
        self._connection.transport.abort()

    def _head(self, status: int, headers: Headers) -> list[bytes]:
        out = [STATUS_LINE[status]]
        for name, value in self._connection.server_state.default_headers:
            out += (name, b": ", value, b"\r\n")
        for name, value in self.common_headers:
            out += (name, b": ", value, b"\r\n")
        for name, value in self.at_head():
            out += (name, b": ", value, b"\r\n")
        for name, value in headers:
            out += (name, b": ", value, b"\r\n")
        if not self.keep_alive:
            out.append(b"connection: close\r\n")
        return out

    def _complete(self) -> None:
        self.response_complete = True
        self._gone = _nothing
        self._on_paused = _ignore
        connection = self._connection
        if not self.body_complete:
            connection.linger()
        elif not self.keep_alive:
            connection.transport.close()
        connection.on_response_complete()

    # What the connection tells.

    def lost(self) -> None:
        """The caller is gone."""
        if self.disconnected:
            return
        self.disconnected = True
        gone, self._gone = self._gone, _nothing
        self._on_paused = _ignore  # it would keep the request alive in a circle
        for task in self._tasks:
            task.cancel()
        if not self.response_complete:
            gone()

    def set_paused(self, paused: bool) -> None:
        """The caller's buffer is full, or has room again."""
        self.paused = paused
        self._on_paused(paused)
