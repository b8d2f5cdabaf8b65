"""The server side of one connection: uvicorn's protocol with a direct way to the data plane.

Requests to the data plane never become an ASGI task: their head is checked and their body handed
to the `Service` from within the read callback, and answers are written straight to the transport.
Everything else (console, admin, docs) takes uvicorn's own ASGI path. Knows sockets and HTTP
framing, nothing of keys, models or JSON.
"""

from typing import Any, Protocol, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from zurelay.api.exchange import HttpExchange

MAX_HEAD = 32 * 1024
"""Most bytes of request line and headers."""
HEAD_SECONDS = 10.0
"""A head must be whole within this time of its first byte, or of the connection."""
BODY_GRACE_SECONDS = 10.0
BODY_BYTES_PER_SECOND = 1024
LINGER_SECONDS = 2.0
"""How long an unread body is read and thrown away after an early refusal, so that the refusal is
not lost to a reset."""


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
        """The caller left before the body was whole."""
        ...

    def malformed(self, reason: str, status: int) -> bytes:
        """A whole HTTP answer for bytes that are no HTTP request."""
        ...


class EdgeConnection(HttpToolsProtocol):
    """One client connection. `service` and the limits are set on a subclass by the server."""

    service: Service
    keep_alive_idle_s: float = 75.0
    write_stall_s: float = 60.0

    # Class-level defaults keep uvicorn's constructor as it is.
    _head_bytes = 0
    _in_head = True
    _head_since = 0.0
    _idle_since = 0.0
    _stalled_since = 0.0
    _linger_until = 0.0

    # What uvicorn calls.

    def connection_made(self, transport: Any) -> None:
        """Start the clock for the first head."""
        super().connection_made(transport)
        self._head_since = self.loop.time()
        self._ready: list[HttpExchange] = []

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request under way that its caller is gone."""
        cycle: object = self.cycle
        if not isinstance(cycle, HttpExchange):
            super().connection_lost(exc)
            return
        self.connections.discard(self)
        self.flow.resume_writing()
        self.parser = None  # type: ignore[assignment]
        if cycle.body_complete:
            cycle.lost()
        else:
            self.service.body_lost(cycle)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, then act: never from inside its callbacks."""
        if self.parser is None or self._linger_until:
            return
        if self._in_head:
            self._head_bytes += len(data)
            if self._idle_since:
                self._idle_since = 0.0
                self._head_since = self.loop.time()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # No upgrades here: the request is answered as plain HTTP.
        except httptools.HttpParserError:
            self._refuse_bytes("This is not a valid HTTP/1.1 request.", 400)
            return
        if self._in_head and self._head_bytes > MAX_HEAD:
            self._refuse_bytes("The request head is larger than 32 KiB.", 431)
            return
        if self._ready:
            ready, self._ready = self._ready, []
            for exchange in ready:
                self._serve_or_queue(exchange)
        cycle: object = self.cycle
        if isinstance(cycle, HttpExchange) and not cycle.body_complete:
            self._body_under_way(cycle, len(data))

    def eof_received(self) -> None:
        """A half-closed caller counts as gone: nobody waits for an answer that way."""

    def pause_writing(self) -> None:
        """The caller does not read: stop the source, and start the stall clock."""
        super().pause_writing()
        self._stalled_since = self.loop.time()
        cycle: object = self.cycle
        if isinstance(cycle, HttpExchange):
            cycle.set_paused(True)

    def resume_writing(self) -> None:
        """The caller reads again."""
        super().resume_writing()
        self._stalled_since = 0.0
        cycle: object = self.cycle
        if isinstance(cycle, HttpExchange):
            cycle.set_paused(False)

    # What the parser calls.

    def on_headers_complete(self) -> None:
        """Choose the way: data plane or ASGI."""
        self._in_head = False
        raw_path, query = _split(self.url)
        if not self.service.takes(raw_path):
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
        previous: object = self.cycle
        exchange.queued_behind = (
            cast("HttpExchange | RequestResponseCycle", previous)
            if previous is not None and not previous.response_complete  # type: ignore[attr-defined]
            else None
        )
        if exchange.queued_behind is not None:
            self.flow.pause_reading()
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
        self._head_bytes = 0
        cycle: object = self.cycle
        if isinstance(cycle, HttpExchange):
            cycle.body_complete = True
            self._ready.append(cycle)
            return
        super().on_message_complete()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Start a request that waited behind another on this connection."""
        if not isinstance(cycle, HttpExchange):
            super()._start_asgi_task(cycle, app)
            return
        cycle.queued_behind = None
        if cycle.body_complete:
            self.service.serve(cycle)

    def on_response_complete(self) -> None:
        """Go on with a queued request, or wait for the next one. Idle time is swept, not timed."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self._idle_since = self.loop.time()
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)

    # Our own.

    def _serve_or_queue(self, exchange: HttpExchange) -> None:
        if exchange.queued_behind is None and not exchange.response_complete:
            self.service.serve(exchange)

    def _body_under_way(self, exchange: HttpExchange, size: int) -> None:
        if exchange.queued_behind is not None:
            return
        if not exchange.head_checked:
            exchange.head_checked = True
            self.service.check_head(exchange)
            if not exchange.response_complete and exchange.expects_continue:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if not exchange.response_complete:
            self.service.body_grew(exchange, size)
        if exchange.response_complete:
            self.linger()

    def linger(self) -> None:
        """The answer is out before the body was read: drop the rest, then close."""
        self._linger_until = self.loop.time() + LINGER_SECONDS

    def _refuse_bytes(self, reason: str, status: int) -> None:
        self.transport.write(self.service.malformed(reason, status))
        self.linger()

    def sweep(self, now: float) -> None:
        """Close what is idle, stalled or too slow; called about once a second."""
        if self.transport is None or self.transport.is_closing():
            return
        if self._linger_until:
            if now > self._linger_until:
                self.transport.close()
            return
        if self._stalled_since and now - self._stalled_since > self.write_stall_s:
            self.transport.abort()
            return
        cycle: object = self.cycle
        busy = cycle is not None and not cycle.response_complete  # type: ignore[attr-defined]
        if not busy:
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
                self.linger()


def _split(url: bytes) -> tuple[str, str]:
    path, _, query = url.decode("latin-1").partition("?")
    if not path.startswith("/"):  # absolute form, as proxies send it
        _, _, rest = path.partition("://")
        path = "/" + rest.partition("/")[2]
    return path, query
