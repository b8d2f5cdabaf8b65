"""One call under way, from the receiver's side: decoding, limits, pausing, cancelling.

Stands between a connection, which knows framing, and the receiver, which wants plain bytes in
order. Does not know sockets, parsing or the pool.
"""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from zurelay.upstream.base import Call, ErrorKind, Receiver, UpstreamError
from zurelay.upstream.decoding import Decoder, DecodingError, decoder_for

# Most decoded bytes handed over at a time.
PIECE = 64 * 1024
_BODILESS = frozenset({204, 304})


class Source(Protocol):
    """The connection a call is on."""

    def pause(self) -> None:
        """Read nothing more for now."""

    def resume(self) -> None:
        """Read on."""

    def drop(self) -> None:
        """Close at once; the exchange hears nothing more."""


class Exchange:
    """The handle of a call, and what the connection reports to.

    Attributes:
        data: the encoded request.
        task: connecting, while it does.
        source: the connection, while the call is on one.
        started: loop time at which the request was written.
    """

    __slots__ = (
        "_decoder",
        "_error",
        "_left",
        "_over",
        "_paused",
        "_receiver",
        "_whole",
        "call",
        "data",
        "loop",
        "source",
        "started",
        "task",
    )

    def __init__(
        self, call: Call, data: bytes, receiver: Receiver, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.call = call
        self.data = data
        self.loop = loop
        self.task: asyncio.Task[None] | None = None
        self.source: Source | None = None
        self.started = 0.0
        self._receiver: Receiver = receiver
        self._decoder: Decoder | None = None
        self._left = call.limit
        self._paused = False
        self._over = False
        self._whole = False
        self._error: UpstreamError | None = None

    @property
    def over(self) -> bool:
        """The receiver hears nothing more."""
        return self._over

    @property
    def paused(self) -> bool:
        """Nothing is to be read."""
        return self._paused

    # The caller's side.

    def cancel(self) -> None:
        """Close the connection at once. Harmless when the call is over."""
        self._end()
        self._abandon()

    def pause(self) -> None:
        """Stop reading: the receiver cannot keep up. At most what is read already still comes."""
        if not self._paused and not self._over:
            self._paused = True
            if self.source is not None:
                self.source.pause()

    def resume(self) -> None:
        """Read on."""
        if self._paused:
            self._paused = False
            # Never from inside: the receiver may be in `data` right now.
            self.loop.call_soon(self._resumed)

    def _resumed(self) -> None:
        if self._paused or self._over:
            return
        if self._decoder is not None:
            self._pump()
        if self.source is not None and not self._paused:
            self.source.resume()

    # The connection's side.

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """A final answer's head arrived."""
        encoding = headers.get("content-encoding")
        refused: DecodingError | None = None
        if encoding and status not in _BODILESS and self.call.method != "HEAD":
            try:
                self._decoder = decoder_for(encoding)
            except DecodingError as error:
                refused = error
        try:
            self._receiver.head(status, headers)
        except Exception as error:  # noqa: BLE001 - whatever the receiver raises
            self._blame(error)
        if refused is not None:
            self._fail(ErrorKind.PROTOCOL, str(refused))

    def body(self, data: bytes) -> None:
        """Body bytes arrived, as they were on the wire."""
        if self._over:
            return
        if self._decoder is None:
            self._hand_over(data)
            return
        self._decoder.push(data)
        if not self._paused:
            self._pump()

    def complete(self) -> None:
        """The body is whole; the exchange is on no connection any more."""
        self._whole = True
        self._conclude()

    def failed(self, error: UpstreamError) -> None:
        """No more will come; the exchange is on no connection any more."""
        self._error = error
        self._conclude()

    # Inside.

    def _hand_over(self, data: bytes) -> None:
        left = self._left
        if left is not None:
            if len(data) > left:
                self._fail(ErrorKind.TOO_LARGE, "the answer's body is larger than allowed")
                return
            self._left = left - len(data)
        try:
            self._receiver.data(data)
        except Exception as error:  # noqa: BLE001 - whatever the receiver raises
            self._blame(error)

    def _pump(self) -> None:
        """Hand over what the decoder has, until it starves or the receiver pauses."""
        decoder = self._decoder
        if decoder is None:
            return
        try:
            while not self._paused and not self._over:
                piece = decoder.pull(PIECE)
                if not piece:
                    self._conclude_if_known(decoder)
                    return
                self._hand_over(piece)
        except DecodingError as error:
            self._fail(ErrorKind.PROTOCOL, str(error))

    def _conclude_if_known(self, decoder: Decoder) -> None:
        if self._whole and not decoder.whole:
            self._fail(ErrorKind.PROTOCOL, "the content encoding ends too early")
        elif self._whole or self._error is not None:
            self._decoder = None
            self._conclude()

    def _conclude(self) -> None:
        """Tell the receiver the end, unless decoded bytes must go first."""
        if self._over:
            return
        if self._decoder is not None:
            if not self._paused:
                self._pump()
            return
        receiver, error = self._receiver, self._error
        self._end()
        try:
            if error is None:
                receiver.end()
            else:
                receiver.failed(error)
        except Exception as raised:  # noqa: BLE001 - whatever the receiver raises
            self._report(raised)

    def _fail(self, kind: ErrorKind, message: str) -> None:
        """End the call for a reason found on this side of the connection."""
        if self._over:
            return
        self._abandon()
        self._decoder = None
        self._error = UpstreamError(kind, message, before_answer=False)
        self._conclude()

    def _blame(self, error: Exception) -> None:
        """The receiver raised: it hears nothing more, and the connection is closed."""
        self._end()
        self._abandon()
        self._report(error)

    def _report(self, error: Exception) -> None:
        self.loop.call_exception_handler(
            {"message": "An upstream call's receiver raised", "exception": error}
        )

    def _end(self) -> None:
        self._over = True
        self._receiver = _DEAF  # frees the caller's state without waiting for the collector
        self._decoder = None

    def _abandon(self) -> None:
        source, self.source = self.source, None
        if source is not None:
            source.drop()
        task, self.task = self.task, None
        if task is not None:
            task.cancel()


class _Deaf:
    """Hears nothing, so that nothing after the end needs a check."""

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Nothing."""

    def data(self, chunk: bytes) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""

    def failed(self, error: UpstreamError) -> None:
        """Nothing."""


_DEAF = _Deaf()
