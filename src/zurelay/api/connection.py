"""The server side of one connection: uvicorn's protocol with a direct way to the data plane.

Requests to the data plane never become an ASGI task: their head is checked and their body handed
to the `Service` from within the read callback, and answers are written straight to the transport.
Everything else (console, admin, docs) takes uvicorn's own ASGI path. Knows sockets and HTTP
framing, nothing of keys, models or JSON.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from zurelay.api.exchange import HttpExchange

MAX_HEAD = 32 * 1024
"""Most bytes of request line and headers."""
HEAD_SECONDS = 10.0
"""A head must be whole within this time of its first byte, or of the connection."""
BODY_GRACE_SECONDS = 10.0
BODY_BYTES_PER_SECOND = 1024
LINGER_SECONDS = 30.0
"""How long an unread body is read and thrown away after an early refusal, so that the refusal is
not lost to a reset."""
LINGER_SILENCE_SECONDS = 5.0
"""How long such a caller may be silent."""
MAX_AHEAD = 64 * 1024
"""Bytes that a caller may send ahead, while an answer is under way, before reading stops. Up to
there the connection is read, so that a caller who leaves is noticed."""
MAX_QUEUED = 64
"""Requests that may wait behind one another on a connection."""


class Service(Protocol):
    """What answers on the data plane. All calls are synchronous and must not raise."""

    def takes(self, path: str) -> bool:
        """Whether `path` belongs to the data plane."""
        ...

    def check_head(self, exchange: HttpExchange) -> None:
        """Called when a head arrived without its whole body: may answer at once to refuse it."""
        ...

    def body_grew(self, exchange: HttpExchange, size: int) -> None:
        """`size` more bytes of a body arrived: may answer at once to refuse it."""
        ...

    def serve(self, exchange: HttpExchange) -> None:
        """The whole request is here."""
        ...

    def slow_body(self, exchange: HttpExchange) -> None:
        """The body comes too slowly: answer so."""
        ...

    def body_lost(self, exchange: HttpExchange) -> None:
        """The rest of the body will not come: the caller left, or what comes is no HTTP."""
        ...

    def malformed(self, reason: str, status: int) -> bytes:
        """A whole HTTP answer for bytes that are no HTTP request."""
        ...


class _RefusedError(Exception):
    """Bytes that are answered with `status`, whatever they are."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status


class EdgeConnection(HttpToolsProtocol):
    """One client connection. `service` and the limits are set on a subclass by the server.

    Requests are answered one after another. `cycle` is the one parsed last, `_active` the one
    whose answer is under way or whose body is coming; what was parsed behind it waits in
    `pipeline`, and bytes that come while it is answered wait unparsed.
    """

    service: Service
    keep_alive_idle_s: float = 75.0
    write_stall_s: float = 60.0

    # Class-level defaults keep uvicorn's constructor as it is.
    _active: HttpExchange | RequestResponseCycle | None = None
    _ahead = b""
    _deaf = False
    _head_bytes = 0
    _head_since = 0.0
    _heard = 0.0
    _idle_since = 0.0
    _in_head = True
    _linger_until = 0.0
    _plain_head = b""
    _stalled_since = 0.0

    # What uvicorn calls.

    def connection_made(self, transport: Any) -> None:
        """Start the clock for the first head."""
        super().connection_made(transport)
        self._head_since = self.loop.time()
        self._ready: list[HttpExchange] = []

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - all ends are alike
        """Tell every request under way that its caller is gone."""
        self.connections.discard(self)
        self.flow.resume_writing()
        self.parser = None  # type: ignore[assignment]
        for cycle in list(self._unfinished()):
            if isinstance(cycle, HttpExchange):
                if not cycle.body_complete:
                    self.service.body_lost(cycle)
                cycle.lost()
            else:
                cycle.disconnected = not cycle.response_complete
                cycle.message_event.set()
        self.pipeline.clear()
        # An exchange knows its connection: without the way back, both are freed at once.
        self.cycle = None  # type: ignore[assignment]
        self._active = None

    def data_received(self, data: bytes) -> None:
        """Feed the parser, unless an answer has to go out first."""
        if self.parser is None or self._deaf:
            return
        if self._linger_until:
            self._heard = self.loop.time()
            return
        if self._ahead or self._answering():
            self._ahead += data
            if len(self._ahead) > MAX_AHEAD:
                self.flow.pause_reading()
            return
        self._feed(data)

    def eof_received(self) -> None:
        """A half-closed caller counts as gone: nobody waits for an answer that way."""

    def pause_writing(self) -> None:
        """The caller does not read: stop the source, and start the stall clock."""
        super().pause_writing()
        self._stalled_since = self.loop.time()
        if isinstance(self._active, HttpExchange):
            self._active.set_paused(True)

    def resume_writing(self) -> None:
        """The caller reads again."""
        super().resume_writing()
        self._stalled_since = 0.0
        if isinstance(self._active, HttpExchange):
            self._active.set_paused(False)

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Start a head. uvicorn's scope is made only for requests that go its way."""
        self.url = b""
        self.expect_100_continue = False
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; what trails a body is nothing to us."""
        if self._in_head:
            name = name.lower()
            if name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Choose the way: data plane or ASGI."""
        self._in_head = False
        if self._head_bytes > MAX_HEAD and self._head_size() > MAX_HEAD:
            raise _RefusedError(_HEAD_TOO_LARGE, 431)
        if len(self.pipeline) >= MAX_QUEUED:
            raise _RefusedError(_NO_HTTP, 400)
        if self.parser.should_upgrade():
            self._plain_head = self._without_upgrade()
            return
        self._head_bytes = 0
        raw_path, query = _split(self.url)
        if not self.service.takes(raw_path):
            self._make_scope()
            super().on_headers_complete()
            return
        exchange = HttpExchange(
            connection=self,
            method=self.parser.get_method().decode("ascii"),
            path=raw_path,
            query=query,
            headers=self.headers,
            http_1_0=self.parser.get_http_version() == "1.0",
            keep_alive=self.parser.should_keep_alive(),
            expects_continue=self.expect_100_continue,
            started=self.loop.time(),
        )
        previous: Any = self.cycle
        if previous is None or previous.response_complete:
            self._active = exchange
        else:
            self.pipeline.appendleft((exchange, None))  # type: ignore[arg-type]
        self.cycle = exchange  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        """Collect the body; it is joined once."""
        cycle: object = self.cycle
        if isinstance(cycle, HttpExchange):
            if not cycle.response_complete:
                cycle.body_parts.append(body)
                cycle.body_size += len(body)
            return
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole; it is served when the parser has returned."""
        self._in_head = True
        if self._plain_head:
            return
        cycle: object = self.cycle
        if isinstance(cycle, HttpExchange):
            cycle.body_complete = True
            self._ready.append(cycle)
            return
        super().on_message_complete()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Start a request that goes uvicorn's way."""
        self._active = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Go on with a waiting request, or wait for one. Idle time is swept, not timed."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self._idle_since = self.loop.time()
        self.flow.resume_reading()
        if self.pipeline or self._ahead:
            self.loop.call_soon(self._next)  # not from here: many answers would nest

    # What an exchange calls.

    def hold_body(self, held: bool) -> None:
        """Read no more of a body for now, or read on."""
        if held:
            self.flow.pause_reading()
        else:
            self.flow.resume_reading()

    def linger(self) -> None:
        """The answer is out before the body was read: say so, drop the rest, then close."""
        self._heard = self.loop.time()
        self._linger_until = self._heard + LINGER_SECONDS
        if self.transport.can_write_eof():
            self.transport.write_eof()

    # Our own.

    def _make_scope(self) -> None:
        """What uvicorn would have made at the start of the head."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)

    def _answering(self) -> bool:
        """A whole request is here and its answer is not out."""
        active = self._active
        if active is None or active.response_complete:
            return False
        return active.body_complete if isinstance(active, HttpExchange) else not active.more_body

    def _feed(self, data: bytes) -> None:
        """Parse, then act: never from inside the parser's callbacks."""
        if self._in_head:
            self._head_bytes += len(data)
            if self._idle_since:
                self._idle_since = 0.0
                self._head_since = self.loop.time()
        try:
            self._parse(data)
        except _RefusedError as refused:
            self._refuse_bytes(str(refused), refused.status)
        except httptools.HttpParserError as error:
            cause = error.__context__
            if isinstance(cause, _RefusedError) and not self.pipeline:
                self._refuse_bytes(str(cause), cause.status)
            else:
                self._refuse_bytes(_NO_HTTP, 400)
        ready, self._ready = self._ready, []
        for exchange in ready:
            if exchange is self._active and not exchange.response_complete:
                self.service.serve(exchange)
        cycle = self._active
        if isinstance(cycle, HttpExchange) and not cycle.body_complete:
            self._body_under_way(cycle, len(data))

    def _parse(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # Java's client asks for HTTP/2 this way and sends its body all the same; the parser
            # would take that for another protocol. Read it again as if nothing had been asked.
            head, self._plain_head = self._plain_head, b""
            self.parser = httptools.HttpRequestParser(self)
            self._parse(head + data[upgrade.args[0] :])
        if self._in_head and self._head_bytes > MAX_HEAD:
            raise _RefusedError(_HEAD_TOO_LARGE, 431)

    def _next(self) -> None:
        """The answer before is out: serve what waits, or parse what came ahead."""
        if self.parser is None or self.transport.is_closing():
            return
        if not self.pipeline:
            data, self._ahead = self._ahead, b""
            if data:
                self._feed(data)
            return
        cycle: Any
        cycle, app = self.pipeline.pop()
        self._idle_since = 0.0
        if not isinstance(cycle, HttpExchange):
            self._start_asgi_task(cycle, app)
            return
        self._active = cycle
        cycle.started = self.loop.time()
        if cycle.body_complete:
            self.service.serve(cycle)
        else:
            self._body_under_way(cycle, cycle.body_size)

    def _body_under_way(self, exchange: HttpExchange, size: int) -> None:
        if exchange.response_complete:
            return
        if not exchange.head_checked:
            exchange.head_checked = True
            self.service.check_head(exchange)
            if not exchange.response_complete and exchange.expects_continue:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if not exchange.response_complete:
            self.service.body_grew(exchange, size)

    def _refuse_bytes(self, reason: str, status: int) -> None:
        """Answer what is no request. Requests that came before it are answered first."""
        cycle: Any = self.cycle
        if isinstance(cycle, HttpExchange) and not cycle.body_complete:
            self.service.body_lost(cycle)
            cycle.response_complete = True
            cycle = self._before(cycle)
        if cycle is not None and not cycle.response_complete:
            cycle.keep_alive = False
            self._deaf = True
            return
        self.transport.write(self.service.malformed(reason, status))
        self.linger()

    def _before(self, lost: HttpExchange) -> HttpExchange | RequestResponseCycle | None:
        """The request parsed before one that will not be whole, which waits no more."""
        if lost is self._active:
            return None
        self.pipeline.popleft()
        return self.pipeline[0][0] if self.pipeline else self._active

    def _without_upgrade(self) -> bytes:
        """The head just parsed, asking for no other protocol."""
        method = self.parser.get_method()
        if method == b"CONNECT":
            raise _RefusedError(_NO_HTTP, 400)
        version = self.parser.get_http_version().encode("ascii")
        lines = [b"%b %b HTTP/%b" % (method, self.url, version)]
        lines += [b"%b: %b" % h for h in self.headers if h[0] not in _UPGRADE]
        return b"\r\n".join([*lines, b"", b""])

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _unfinished(self) -> "Iterator[HttpExchange | RequestResponseCycle]":
        """Every request that has not been answered, and uvicorn's last one all the same."""
        active = self._active
        if active is not None and (
            isinstance(active, RequestResponseCycle) or not active.response_complete
        ):
            yield active
        for cycle, _ in self.pipeline:
            yield cycle

    def sweep(self, now: float) -> None:
        """Close what is idle, stalled or too slow; called about once a second."""
        if self.transport is None or self.transport.is_closing():
            return
        if self._linger_until:
            if now > self._linger_until or now - self._heard > LINGER_SILENCE_SECONDS:
                self.transport.close()
            return
        if self._stalled_since and now - self._stalled_since > self.write_stall_s:
            self.transport.abort()
            return
        cycle = self._active
        if cycle is None or cycle.response_complete:
            if self._idle_since:
                if now - self._idle_since > self.keep_alive_idle_s:
                    self.transport.close()
            elif now - self._head_since > HEAD_SECONDS:
                self.transport.close()
            return
        if isinstance(cycle, HttpExchange) and not cycle.body_complete:
            spent = now - cycle.started
            if spent > BODY_GRACE_SECONDS and cycle.body_size < BODY_BYTES_PER_SECOND * (
                spent - BODY_GRACE_SECONDS
            ):
                self.service.slow_body(cycle)


_UPGRADE = frozenset({b"upgrade", b"connection", b"http2-settings"})
_NO_HTTP = "This is not a valid HTTP/1.1 request."
_HEAD_TOO_LARGE = "The request head is larger than 32 KiB."


def _split(url: bytes) -> tuple[str, str]:
    path, _, query = url.decode("latin-1").partition("?")
    if not path.startswith("/"):  # absolute form, as proxies send it
        _, _, rest = path.partition("://")
        path = "/" + rest.partition("/")[2]
    return path, query
