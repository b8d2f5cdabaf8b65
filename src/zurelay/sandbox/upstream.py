"""The sandbox as an upstream inside the gateway: plays answers on the event loop, without a socket.

An adapter of `upstream.base.Client`, so that the relay cannot tell it from a real provider. No
task per call: one timer handle, re-armed while an answer has bytes to come.
"""

import asyncio
import itertools
import time
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from zurelay.sandbox.base import Answer, Identity, Step
from zurelay.sandbox.service import answer
from zurelay.upstream.base import Call, ErrorKind, Receiver, UpstreamError

BASE_URL = "sandbox://local/v1"
"""Where the built-in provider lives, for configuration and the route table."""

_EARLY = 0.001
"""What is due within a millisecond is due now: timers ring early by their rounding."""

_BATCH = 65_536
"""Bytes handed over at once, so that a receiver can pause in the middle of a long answer."""


class Cancellable(Protocol):
    """What a scheduled callback is held by."""

    def cancel(self) -> None:
        """Do not run it."""


class Loop(Protocol):
    """The part of an event loop that the sandbox needs."""

    def time(self) -> float:
        """Monotonic seconds."""
        ...

    def call_soon(self, callback: Callable[[], None], /) -> Cancellable:
        """Run `callback` after what runs now."""
        ...

    def call_at(self, when: float, callback: Callable[[], None], /) -> Cancellable:
        """Run `callback` at `when`."""
        ...


class SandboxUpstream:
    """Answers calls by itself.

    Args:
        now: Unix time, for the `created` field.
        loop: where timers run; None for the running loop.
    """

    def __init__(self, now: Callable[[], float] = time.time, loop: Loop | None = None) -> None:
        self._now = now
        self._loop = loop
        self._numbers = itertools.count(1)

    def send(self, call: Call, receiver: Receiver) -> "Playback":
        """Start `call`; see `upstream.base.Client`."""
        loop = self._loop or asyncio.get_running_loop()
        created = int(self._now())
        identity = Identity(f"sb{created:x}{next(self._numbers):06x}", created)
        return Playback(call, receiver, identity, loop)


class Playback:
    """One answer being played; an `upstream.base.Handle`."""

    __slots__ = (
        "_answer",
        "_call",
        "_handle",
        "_headed",
        "_identity",
        "_loop",
        "_over",
        "_paused",
        "_receiver",
        "_sent",
        "_start",
        "_step",
        "_steps",
    )

    def __init__(self, call: Call, receiver: Receiver, identity: Identity, loop: Loop) -> None:
        self._call = call
        self._receiver = receiver
        self._identity = identity
        self._loop = loop
        self._start = loop.time()
        self._over = False
        self._paused = False
        self._headed = False
        self._sent = 0
        self._handle: Cancellable | None = loop.call_soon(self._begin)

    def cancel(self) -> None:
        """Forget the call; the receiver hears nothing more."""
        self._over = True
        self._disarm()

    def pause(self) -> None:
        """Hold everything back until `resume`."""
        self._paused = True

    def resume(self) -> None:
        """Go on; what became due meanwhile comes at once."""
        if self._paused:
            self._paused = False
            if not self._over and self._handle is None:
                self._handle = self._loop.call_soon(self._play)

    def _begin(self) -> None:
        call = self._call
        path = urlsplit(call.url).path
        self._answer: Answer = answer(call.method, path, call.body, self._identity)
        self._steps = iter(self._answer.steps)
        self._step: Step | None = next(self._steps, None)
        self._play()

    def _play(self) -> None:
        """Hand over all that is due, then wait for the next."""
        self._handle = None
        if self._paused or self._over:
            return
        answer = self._answer
        elapsed = self._loop.time() - self._start + _EARLY
        if not self._headed and answer.head_at is not None:
            if answer.head_at > elapsed:
                self._arm(answer.head_at)
                return
            self._headed = True
            self._receiver.head(answer.status, dict(answer.headers))
        while not (self._over or self._paused):
            data = self._due(elapsed)
            if data and not self._deliver(data):
                return
            if not data:
                self._rest(elapsed)
                return

    def _due(self, elapsed: float) -> bytes:
        """The bytes that are due, at most a batch of them."""
        due: list[bytes] = []
        size = 0
        step = self._step
        while step is not None and step.at <= elapsed and size < _BATCH:
            due.append(step.data)
            size += len(step.data)
            step = next(self._steps, None)
        self._step = step
        return b"".join(due)

    def _deliver(self, data: bytes) -> bool:
        """Hand `data` over; False when the answer is larger than the call allows."""
        self._sent += len(data)
        if self._call.limit is not None and self._sent > self._call.limit:
            self._fail(ErrorKind.TOO_LARGE, "The answer is larger than the limit.")
            return False
        self._receiver.data(data)
        return True

    def _rest(self, elapsed: float) -> None:
        """Nothing is due: wait for the next step or the end, or end."""
        due_at = self._answer.ends_at if self._step is None else self._step.at
        if self._step is not None or due_at > elapsed:
            self._arm(due_at)
        elif self._answer.cut:
            self._fail(ErrorKind.CLOSED, "The sandbox closed the connection.")
        else:
            self._over = True
            self._receiver.end()

    def _fail(self, kind: ErrorKind, message: str) -> None:
        self._over = True
        self._receiver.failed(UpstreamError(kind, message, before_answer=not self._headed))

    def _arm(self, at: float) -> None:
        self._disarm()
        self._handle = self._loop.call_at(self._start + at, self._play)

    def _disarm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
