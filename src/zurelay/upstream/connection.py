"""One connection to an origin: HTTP/1.1 answers cut out of bytes, one call at a time.

The parser's callbacks only note what came; the exchange is told after each portion of bytes, so a
receiver that cancels or raises never does so inside the parser, and events that arrive together are
handed over together. Does not know how connections are made, content encodings or receivers.
"""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Protocol, cast

import httptools
from typing_extensions import override

from zurelay.upstream.base import ErrorKind, UpstreamError
from zurelay.upstream.exchange import Exchange
from zurelay.upstream.pool import Origin

# Bytes of head, trailers and chunk framing: in one head, and between two bytes of a body.
HEAD_LIMIT = 64 * 1024
# Bodies up to this go out in one write with their head; larger ones are not copied again.
_JOIN = 64 * 1024


class Owner(Protocol):
    """Who made the connection and hears what becomes of it."""

    def opened(self, connection: "Connection") -> None:
        """It can carry calls."""

    def released(self, connection: "Connection", hint: float | None) -> None:
        """Its call is over and it may carry another; `hint`: seconds the peer keeps it."""

    def stale(self, exchange: Exchange) -> bool:
        """The connection ended before an answer began; true if `exchange` goes on elsewhere."""
        ...

    def closed(self, connection: "Connection") -> None:
        """It is gone."""


class Connection(asyncio.Protocol):
    """A connection, idle or with one call on it.

    Attributes:
        expires: loop time at which it is too old to be used again (the pool's own note).
        served: calls it has carried before the present one.
    """

    __slots__ = (
        "_answered",
        "_body",
        "_complete",
        "_exchange",
        "_fields",
        "_head_size",
        "_headers",
        "_informational",
        "_keep",
        "_loop",
        "_owner",
        "_parser",
        "_quiet",
        "_reading",
        "_status",
        "_surplus",
        "_transport",
        "expires",
        "origin",
        "served",
    )

    def __init__(self, origin: Origin, owner: Owner, loop: asyncio.AbstractEventLoop) -> None:
        self.origin = origin
        self.expires = 0.0
        self.served = 0
        self._owner = owner
        self._loop = loop
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self._reading = True
        self._clear()

    def _clear(self) -> None:
        """Make ready for the next answer."""
        self._answered = False
        self._informational = False
        self._status = 0
        self._fields: list[tuple[bytes, bytes]] = []
        self._headers: Mapping[str, str] | None = None  # known to the exchange
        self._body: list[bytes] = []
        self._complete = False
        self._keep = False
        self._surplus = False
        self._head_size = 0
        self._quiet = 0

    # The owner's and the exchange's side.

    @property
    def usable(self) -> bool:
        """It is open and nothing speaks against another call."""
        return self._transport is not None and not self._transport.is_closing()

    def start(self, exchange: Exchange) -> None:
        """Send the request; the answer goes to `exchange`."""
        transport = self._transport
        assert transport is not None  # noqa: S101 - an unconnected one is never given a call
        self._exchange = exchange
        exchange.source = self
        exchange.started = self._loop.time()
        if exchange.paused:
            self.pause()
        body = exchange.call.body
        if len(body) <= _JOIN:
            transport.write(exchange.data + body)
        else:
            transport.write(exchange.data)
            transport.write(body)

    def pause(self) -> None:
        """Read nothing more for now, so that the peer's writes stop."""
        if self._reading and self.usable and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        if not self._reading and self.usable and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    def drop(self) -> None:
        """Close at once; the exchange hears nothing more."""
        self._exchange = None
        self.close()

    def close(self) -> None:
        """Close at once, without waiting for what is unsent or for TLS's goodbye."""
        if self._transport is not None:
            self._transport.abort()

    def abandon(self) -> None:
        """Close one whose making was broken off.

        The loop need not call `connection_lost` after a `connection_made` whose waiter was
        cancelled; uvloop does not.
        """
        self.close()
        self._transport = None
        self._owner.closed(self)

    def fail(self, error: UpstreamError) -> None:
        """Close at once and tell the exchange, if there is one, why."""
        exchange = self._detach()
        self.close()
        if exchange is not None:
            exchange.failed(error)

    # The transport's side.

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._owner.opened(self)

    @override
    def data_received(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            self.close()  # nothing was asked: whatever this is, it answers no later call
            return
        self._answered = True
        self._quiet += len(data)
        broken = ""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            broken = "the upstream switched to another protocol"
        except httptools.HttpParserError:
            broken = "the upstream's answer is not HTTP/1.1"
        if self._complete:
            # bytes beyond a whole answer cost only the connection
            self._surplus = self._surplus or bool(broken)
            broken = ""
        if self._head_size > HEAD_LIMIT or (self._quiet > HEAD_LIMIT and not self._complete):
            self._refuse(ErrorKind.TOO_LARGE, "the upstream's headers are larger than allowed")
            return
        self._deliver(exchange)
        if broken and self._exchange is exchange:
            self._refuse(ErrorKind.PROTOCOL, broken)

    @override
    def eof_received(self) -> bool | None:
        if self._exchange is None:
            self.close()
        else:
            self._ended(None)
        return None

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._owner.closed(self)
        self._ended(exc)

    # The parser's side.

    def on_message_begin(self) -> None:
        """Another answer begins: the awaited one, or one nobody asked for."""
        if self._complete:
            self._surplus = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer."""
        if self._complete:
            return
        self._head_size += len(name) + len(value) + 4
        if not self._status and self._head_size <= HEAD_LIMIT:
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        """A head is whole; 1xx heads are skipped."""
        if self._complete:
            return
        status: int = self._parser.get_status_code()
        self._informational = 100 <= status < 200 and status != 101
        if self._informational:
            self._fields.clear()
        else:
            self._status = status

    def on_body(self, data: bytes) -> None:
        """Some of the body."""
        if not self._complete:
            self._quiet = 0
            self._body.append(data)

    def on_message_complete(self) -> None:
        """An answer is whole."""
        if not self._informational and not self._complete:
            self._complete = True
            self._keep = bool(self._parser.should_keep_alive())

    # Inside.

    def _deliver(self, exchange: Exchange) -> None:
        if self._headers is None:
            if not self._status:
                return
            self._headers = _joined(self._fields)
            if self._status == 101 or not _framed(self._headers):
                self._refuse(ErrorKind.PROTOCOL, "the upstream's answer is framed in no known way")
                return
            if exchange.call.method == "HEAD":
                self._complete = True  # the parser waits for a body that never comes
            exchange.head(self._status, self._headers)
        if self._body:
            body = self._body
            data = body[0] if len(body) == 1 else b"".join(body)
            self._body = []
            exchange.body(data)
        if self._complete and self._exchange is exchange:
            self._detach()
            self._release()
            exchange.complete()

    def _release(self) -> None:
        """The answer is whole: keep the connection or close it."""
        transport = self._transport
        again = (
            self._keep
            and not self._surplus
            and self.usable
            and transport is not None
            and transport.get_write_buffer_size() == 0  # else it answered before it had read all
        )
        told = self._headers.get("keep-alive") if self._headers else None
        hint = None if told is None else _kept_for(told)
        self._clear()
        if not again:
            self.close()
            return
        self.served += 1
        if not self._reading:
            self.resume()
        self._owner.released(self, hint)

    def _refuse(self, kind: ErrorKind, message: str) -> None:
        """The answer cannot be read on."""
        self.fail(UpstreamError(kind, message, before_answer=False))

    def _ended(self, exc: Exception | None) -> None:
        """The peer closed, or the connection broke."""
        answered, headers = self._answered, self._headers
        exchange = self._detach()
        if exchange is None:
            return
        self.close()
        if headers is not None and exc is None and _until_close(headers):
            exchange.complete()
            return
        reused = self.served > 0
        if reused and not answered and self._owner.stale(exchange):
            return
        kind = ErrorKind.TLS if isinstance(exc, ssl.SSLError) else ErrorKind.CLOSED
        when = "before its answer was whole" if answered else "without an answer"
        exchange.failed(
            UpstreamError(
                kind,
                f"the upstream closed the connection {when}",
                before_answer=not answered,
                reused=reused,
            )
        )

    def _detach(self) -> Exchange | None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.source = None
        return exchange


# Names come back in every answer: decode each once. Bounded, for hostile peers.
_names: dict[bytes, str] = {}


def _joined(fields: list[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw, value in fields:
        name = _names.get(raw)
        if name is None:
            name = raw.decode("latin-1").lower()
            if len(_names) < 1024:
                _names[raw] = name
        text = value.decode("latin-1").rstrip(" \t")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return headers


def _framed(headers: Mapping[str, str]) -> bool:
    """No transfer coding but chunked: none other was offered."""
    coding = headers.get("transfer-encoding")
    return coding is None or coding.strip().lower() in {"chunked", "identity"}


def _until_close(headers: Mapping[str, str]) -> bool:
    """The body has no end but the connection's."""
    return (
        "content-length" not in headers
        and headers.get("transfer-encoding", "").strip().lower() != "chunked"
    )


def _kept_for(told: str) -> float | None:
    """Seconds of `timeout=` in a header `keep-alive`, None where it says nothing of them."""
    for part in told.split(","):
        name, _, value = part.strip().partition("=")
        if name.lower() == "timeout" and value.isascii() and value.isdigit():
            return float(value[:6])
    return None
