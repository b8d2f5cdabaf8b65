"""What the relay needs of the caller's connection. The edge in `api` offers it."""

from collections.abc import Callable, Sequence
from typing import Protocol

Headers = Sequence[tuple[bytes, bytes]]


class Sink(Protocol):
    """The caller's side of one request; every method is synchronous.

    After the caller is gone all writes are ignored.
    """

    paused: bool
    """The caller cannot keep up: buffered bytes are above the high-water mark."""

    def listen(self, gone: Callable[[], None], paused: Callable[[bool], None]) -> None:
        """Say who hears of the connection.

        `gone` is called once when the caller leaves before the answer ended; `paused` with True or
        False as writing must stop or may go on.
        """

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """A whole answer in one write; ends the request."""

    def open(self, status: int, headers: Headers, first: bytes = b"") -> None:
        """Head of a stream, with its first bytes in the same write."""

    def write(self, data: bytes) -> None:
        """More of an open stream."""

    def close(self, last: bytes = b"") -> None:
        """The last bytes of an open stream; ends the request."""

    def abort(self) -> None:
        """Close the connection without an end, so that a cut answer cannot look whole."""
