"""The upstream client's vocabulary: what is sent, who receives, how it fails."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

import msgspec


class Call(msgspec.Struct, frozen=True, gc=False):
    """One HTTP request.

    Attributes:
        url: absolute, http or https.
        headers: lower-case names; host, content-length, accept-encoding and connection are the
            client's own.
        connect_deadline: seconds for DNS, TCP and TLS together.
        limit: most bytes of the decoded answer body, None for no bound (streams).
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    connect_deadline: float = 5.0
    limit: int | None = None


class ErrorKind(StrEnum):
    """How a call can fail below HTTP's own status codes."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    CONNECT_TIMEOUT = "connect_timeout"
    CLOSED = "closed"  # the peer closed or reset before its answer was whole
    PROTOCOL = "protocol"  # bytes that are no HTTP answer, or a broken content encoding
    TOO_LARGE = "too_large"  # head or body beyond the limit


class UpstreamError(Exception):
    """A call that got no whole answer.

    Attributes:
        kind: how it failed.
        before_answer: no byte of an answer had arrived.
        reused: the connection had served a call before (it may just have been stale).
    """

    def __init__(
        self, kind: ErrorKind, message: str, *, before_answer: bool, reused: bool = False
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.before_answer = before_answer
        self.reused = reused


class Receiver(Protocol):
    """Hears what becomes of a call; called on the event loop, in order.

    `head` once, `data` any number of times, then `end` or `failed` once. After `cancel` nothing
    more is called.
    """

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """The status line and headers arrived. Names are lower-case; repeated ones are joined."""

    def data(self, chunk: bytes) -> None:
        """Bytes of the body, content encoding removed, as they come."""

    def end(self) -> None:
        """The body is whole."""

    def failed(self, error: UpstreamError) -> None:
        """There will be no whole answer."""


class Handle(Protocol):
    """A call under way."""

    def cancel(self) -> None:
        """Close the connection at once. Harmless when the call is over."""

    def pause(self) -> None:
        """Stop reading: the receiver cannot keep up."""

    def resume(self) -> None:
        """Read on."""


class Client(Protocol):
    """Sends calls."""

    def send(self, call: Call, receiver: Receiver) -> Handle:
        """Start `call`.

        Never raises for the network's sake and never calls `receiver` before it
        returns. A stale pooled connection is replaced once, unseen, if no byte of an answer had
        arrived.
        """
        ...
