"""Ids of requests and answers: UUIDv7 in hex, so that they sort by time.

They name things and guard nothing: no one gains access by guessing one.
"""

import os
import random
import time
from collections.abc import Callable

REQUEST_PREFIX = "req_"
_COUNTER_BITS = 12
_VERSION = 7 << 76
_VARIANT = 0b10 << 62


class Ids:
    """A source of ids that rise strictly, also when the clock stands still or steps back.

    One per process: it is not safe to share between threads.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._random = random.Random(os.urandom(32)).getrandbits  # noqa: S311 - names, no secrets
        self._last = 0  # milliseconds and counter in one number

    def hex(self) -> str:
        """32 hex digits of a UUIDv7: 48 bits of milliseconds, 12 that count, 62 random."""
        stamp = max(int(self._clock() * 1000) << _COUNTER_BITS, self._last + 1)
        self._last = stamp
        high = (stamp >> _COUNTER_BITS) << 80 | _VERSION | (stamp & 0xFFF) << 64
        return f"{high | _VARIANT | self._random(62):032x}"

    def request(self) -> str:
        """A request's id, `req_...`, which also names its log entry."""
        return REQUEST_PREFIX + self.hex()

    @staticmethod
    def answer(request: str, prefix: str = "chatcmpl-") -> str:
        """The id of that request's answer in a format's own form."""
        return prefix + request.removeprefix(REQUEST_PREFIX)
