"""Upstreams that fail at random, in every way that a provider or the network can.

What an upstream does is drawn from a seeded generator. Its mood changes now and then: well, mixed,
or a storm of one kind of fault. Every piece of an answer carries the number of that answer, so
that a caller can tell whether two were mixed.
"""

import gzip
import random
import time
import zlib
from collections import Counter
from collections.abc import Callable
from email.utils import formatdate

from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import (
    LAST_CHUNK,
    Close,
    Pause,
    Reset,
    Script,
    Send,
    Stall,
    Step,
    chunk,
    head,
    json_reply,
    reply,
    sse_event,
    sse_reply,
)
from zurelay.testing.upstream import Request

EVENTS = head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
ROLE = chunk(sse_event(chat_chunk({"role": "assistant", "content": ""})))
SLOW_S = 0.4
"""Longer than a stream stays closed, shorter than a start deadline."""


class Answer:
    """One answer in the making.

    Attributes:
        number: stands in each of its pieces.
        stream: the request wants events.
        pace: seconds between events.
    """

    def __init__(self, number: int, rng: random.Random, *, stream: bool, pace: float) -> None:
        self.number = number
        self.rng = rng
        self.stream = stream
        self.pace = pace
        self.pieces = [f"<{number}>" for _ in range(rng.randint(2, 12))]

    def whole(self) -> Script:
        """As it should be."""
        usage = chat_usage(9, len(self.pieces))
        if self.stream:
            return sse_reply(chat_chunks(self.pieces, usage=usage), self.pace)
        return [Pause(self.pace * len(self.pieces)), *json_reply(self._reply())]

    def begun(self, *ending: Step) -> Script:
        """Some of it, then something else."""
        if self.stream:
            some = self.pieces[: self.rng.randint(1, len(self.pieces))]
            steps: list[Step] = [EVENTS, ROLE]
            for piece in some:
                steps += [chunk(sse_event(chat_chunk({"content": piece}))), Pause(self.pace)]
            return [*steps, *ending]
        body = reply(b"x" * 400, 200, {"content-type": "application/json"})[0]
        assert isinstance(body, Send)
        return [Send(body.data[:200]), *ending]

    def _reply(self) -> dict[str, object]:
        usage = chat_usage(9, len(self.pieces))
        return chat_reply("".join(self.pieces), usage=usage)


def _error(status: int, message: str = "bad", headers: dict[str, str] | None = None) -> Script:
    return json_reply({"error": {"message": message, "type": "x", "code": None}}, status, headers)


def _limited(answer: Answer) -> Script:
    kind = answer.rng.randrange(3)
    if kind == 0:
        return _error(429, "slow down")
    if kind == 1:
        return _error(429, "slow down", {"retry-after": "1"})
    at = formatdate(time.time() + 2, usegmt=True)
    now = formatdate(time.time(), usegmt=True)
    return _error(429, "slow down", {"retry-after": at, "date": now})


def _error_inside(answer: Answer) -> Script:
    error = {"error": {"message": "overloaded", "type": "overloaded_error", "code": 529}}
    if not answer.stream:
        return json_reply(error)
    return [EVENTS, ROLE, chunk(sse_event(error)), LAST_CHUNK]


def _empty(answer: Answer) -> Script:
    return sse_reply(chat_chunks([])) if answer.stream else json_reply(chat_reply(""))


def _no_json(answer: Answer) -> Script:
    if not answer.stream:
        return reply(b"{nonsense", 200, {"content-type": "application/json"})
    return [EVENTS, ROLE, chunk(b"data: {nonsense\n\n"), LAST_CHUNK]


def _short_chunk(answer: Answer) -> Script:
    """The chunk is announced larger than it is."""
    head_ = EVENTS if answer.stream else head(200, {"transfer-encoding": "chunked"})
    return [head_, Send(b"ff\r\ndata: {"), Close()]


def _torn_gzip(answer: Answer) -> Script:
    body = gzip.compress(b"data: {}\n\n" * 50)
    fields = {"content-encoding": "gzip", "content-type": "text/event-stream"}
    return reply(body[:20] + b"\xff\xff" + body[22:], 200, fields)


FAULTS: dict[str, tuple[int, Callable[[Answer], Script]]] = {
    "closed": (4, lambda _: [Close()]),
    "reset": (4, lambda _: [Reset()]),
    "401": (0, lambda _: _error(401)),
    "402": (0, lambda _: _error(402)),
    "404": (1, lambda _: _error(404, "no such model")),
    "408": (2, lambda _: _error(408)),
    "429": (4, _limited),
    "500": (4, lambda _: _error(500)),
    "502": (3, lambda _: _error(502)),
    "503": (3, lambda _: _error(503)),
    "529": (3, lambda _: _error(529)),
    "silent": (2, lambda _: [Stall()]),
    "silent after its head": (2, lambda _: [EVENTS, Stall()]),
    "silent after the role": (2, lambda _: [EVENTS, ROLE, Stall()]),
    "cut before a token": (4, lambda _: [EVENTS, ROLE, Close()]),
    "reset before a token": (4, lambda _: [EVENTS, ROLE, Reset()]),
    "cut after tokens": (3, lambda a: a.begun(Close())),
    "reset after tokens": (3, lambda a: a.begun(Reset())),
    "silent after tokens": (1, lambda a: a.begun(Stall())),
    "error after tokens": (2, lambda a: a.begun(*_error_inside(a)[2:], Close())),
    "no json": (3, _no_json),
    "html": (3, lambda _: reply(b"<html>busy", 200, {"content-type": "text/html"})),
    "no http": (3, lambda _: [Send(b"SSH-2.0-x\r\n\r\n"), Close()]),
    "error in a 200": (4, _error_inside),
    "slow": (6, lambda a: [Pause(SLOW_S), *a.whole()]),
    "short chunk": (3, _short_chunk),
    "bad chunk size": (3, lambda _: [EVENTS, Send(b"zz\r\n"), Close()]),
    "torn gzip": (2, _torn_gzip),
    "empty": (4, _empty),
}
"""Name -> how often, and what is done. What shuts a whole provider off comes by a mood alone."""

RARE = ("401", "402")


class Mischief:
    """What one upstream does."""

    def __init__(self, seed: str, done: "Counter[str]", *, healthy: bool, pace: float) -> None:
        self._rng = random.Random(seed)
        self._done = done
        self._healthy = healthy
        self._pace = pace
        self._mood = "well"
        self._until = 0.0
        self._count = 0
        self._seed = zlib.crc32(seed.encode()) % 1000

    def answer(self, request: Request) -> Script:
        """The script for a request."""
        self._count += 1
        number = self._count * 1000 + self._seed
        stream = bool(request.json.get("stream"))
        answer = Answer(number, self._rng, stream=stream, pace=self._pace)
        name = self._choose(time.monotonic())
        self._done[name or "well"] += 1
        return FAULTS[name][1](answer) if name else answer.whole()

    def _choose(self, now: float) -> str | None:
        if self._healthy:
            return None
        if now >= self._until:
            self._until = now + self._rng.uniform(0.2, 2.0)
            self._mood = self._rng.choices(
                ["well", "mixed", self._any(), self._rng.choice(RARE)], [30, 50, 18, 2]
            )[0]
        if self._mood == "well" or (self._mood == "mixed" and self._rng.random() < 0.5):
            return None
        return self._any() if self._mood == "mixed" else self._mood

    def _any(self) -> str:
        names = list(FAULTS)
        weights = [FAULTS[name][0] for name in names]
        return self._rng.choices(names, weights)[0]
