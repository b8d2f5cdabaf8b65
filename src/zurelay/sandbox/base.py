"""What a wire format must bring so that the sandbox can speak it, and what comes out.

A format is one file (or folder) with a `Dialect`, and one line in `service.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from zurelay.chat.problems import Problem
from zurelay.sandbox.draft import Ask
from zurelay.sandbox.script import Script

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """Bytes of a body and when they are due, in seconds since the request began."""

    at: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything one call gets, in time.

    Attributes:
        head_at: when status and headers are due; None when they never come.
        steps: the body, in order.
        ends_at: when the body is whole, or the connection closes.
        cut: whether the connection closes before the body is whole.
    """

    status: int
    headers: Headers
    steps: Iterable[Step]
    head_at: float | None = 0.0
    ends_at: float = 0.0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes one answer unlike the others: a short unique word, and Unix time in seconds."""

    seed: str
    created: int


class Dialect(Protocol):
    """A wire format that the sandbox speaks."""

    paths: tuple[str, ...]
    """Ends of the paths that belong to it, such as `/chat/completions`."""

    request_id_header: str
    """The header that names the request; empty where there is none."""

    tells_retry_after: bool
    """Whether the wait after an error stands in a `retry-after` header."""

    def read(self, body: bytes, route: str) -> Ask:
        """Read a request, sent to the path `route`.

        Raises:
            Refused: it is no request of this format.
        """
        ...

    def stream(self, ask: Ask, script: Script, identity: Identity) -> Iterable[Step]:
        """The events of a streamed answer, an error event or an end mark included."""
        ...

    def whole(self, ask: Ask, script: Script, identity: Identity) -> bytes:
        """The body of a plain answer."""
        ...

    def problem(self, problem: Problem, identity: Identity) -> bytes:
        """The body of an error answer."""
        ...
