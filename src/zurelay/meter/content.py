"""What is stored of a request whose key asks for it: what came in and what went out.

As bytes of the caller's format, without files; read when somebody looks. Knows no cipher, no store.
"""

from typing import Final

import msgspec

DAY_S: Final = 86_400
MOST_DAYS: Final = 365
"""Longest time that messages are stored."""


class Content(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request and its answer.

    Attributes:
        front: name of the format they are in.
        body: what the caller sent, without its content encoding; empty if nothing was read.
        answer: what the caller got: JSON, or an event stream; empty if nothing was sent.
        stream: `answer` is an event stream.
        ended: the answer was sent to its end.
        body_cut, answer_cut: the end of it is missing because it was too long.
    """

    front: str
    body: bytes = b""
    answer: bytes = b""
    stream: bool = False
    ended: bool = False
    body_cut: bool = False
    answer_cut: bool = False


class Stored(msgspec.Struct, frozen=True):
    """A `Content` with what is known of it outside of the encryption.

    Attributes:
        request: id of the log entry.
        at: Unix time of the request.
        user: the caller's end user.
        expires: Unix time at which it is deleted.
    """

    request: str
    at: float
    account: str
    key: str
    user: str | None
    expires: int
    content: Content


def expires_at(created: float, days: int) -> int:
    """Unix time at which what was stored at `created` for so many days is deleted."""
    return int(created) + days * DAY_S
