"""Uses of `Idempotency-Key` that nodes tell each other of, through Valkey.

A use belongs to one request of one node at a time. Another node with the same request waits for its
end, and is then given the answer; a use whose node dies is free after 15 s. Answers lie there as
they do in memory: packed and encrypted with a key made from the text of the caller's header and a
secret of the nodes, neither of which is there. While the server is away each node knows only its
own uses. Knows no HTTP.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from typing import Any

import msgspec

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.live.idempotency import Use
from zurelay.live.valkey import LOST, Valkey
from zurelay.relay.replay import Head, Kept
from zurelay.wire.resp import ErrorReply, command

SCRIPT = files("zurelay.live").joinpath("answers.lua").read_bytes()
MOST_EACH = 1024 * 1024
"""Bytes of an answer that other nodes may have."""
MOST_TOGETHER = 256 * 1024 * 1024
"""Bytes of all of them, on the server."""

_DEADLINE_SECONDS = 0.25
_RENEW_SECONDS = 5.0
_LOOK_AGAIN_SECONDS = 5.0
"""A waiting request asks again so often, should it not hear of the end."""

_SHA = hashlib.sha1(SCRIPT, usedforsecurity=False).hexdigest()
_PREFIX = "zurelay:1:once:"
_INDEX = "zurelay:1:answers:index"
_SIZES = "zurelay:1:answers:sizes"
_CHANNEL = "zurelay:1:once"


class _Packed(msgspec.Struct, array_like=True):
    """A finished answer on its way between nodes."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    streams: bool
    blocks: tuple[bytes, ...]
    starts: tuple[int, ...]
    size: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Packed).decode


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An answer that another node, or an earlier process, made: the id of its request, and all."""

    request: str
    answer: Kept


class Claim(Enum):
    """Whose a use is."""

    OURS = "it belongs to the request that asked"
    HERE = "a request of this process has it, or had it a moment ago"
    RUNNING = "a request of another node has it"


class SharedAnswers:
    """This node's uses, and what others have.

    Args:
        valkey: the connection; it must load `SCRIPT`.
        most_each: bytes of an answer that other nodes may have.
        most_together: bytes of all of them.
    """

    def __init__(
        self,
        valkey: Valkey,
        *,
        most_each: int = MOST_EACH,
        most_together: int = MOST_TOGETHER,
    ) -> None:
        self._valkey = valkey
        self._most_each = most_each
        self._most_together = most_together
        self._loop = asyncio.get_running_loop()
        self._ours: dict[bytes, tuple[Use, str]] = {}
        self._waiting: dict[bytes, set[asyncio.Future[None]]] = {}
        self._renewing: asyncio.TimerHandle | None = None
        valkey.use(self)
        valkey.subscribe(_CHANNEL.encode(), self._ended)

    async def claim(self, use: Use, request: str, patience_s: float) -> "Elsewhere | Claim":
        """Make the use that request's, waiting while a request of another node has it.

        Where it becomes ours `free` or `finish` follows; so it does while the server is away.

        Args:
            use: of the header.
            request: id of the request that asks.
            patience_s: how long another request is waited for.

        Raises:
            Refused: 422 if the key belongs to another request, 409 if another one is still running
                after that time, or its answer is too large to be had here.
        """
        until = self._loop.time() + patience_s
        while True:
            ended = self._wait_for(use.name)
            try:
                here = use.name in self._ours
                if not here:
                    found = await self._try(use, request)
                    if found is Claim.OURS:
                        self._ours[use.name] = (use, request)
                    if found is not Claim.RUNNING:
                        return found
                if self._loop.time() >= until:
                    raise Refused(problems.idempotency_key_in_use())
                await asyncio.wait({ended}, timeout=_LOOK_AGAIN_SECONDS)
                if here:
                    return Claim.HERE
            finally:
                self._wait_no_more(use.name, ended)

    def began(self, use: Use) -> None:
        """The request runs; others here can join it without asking the server."""
        self._ended(use.name)

    def free(self, use: Use) -> None:
        """The request came to nothing: the next one may have the use."""
        ours = self._ours.pop(use.name, None)
        if ours is not None:
            self._call("free", use, ours[1], _CHANNEL, use.name)
            self._ended(use.name)

    def finish(self, use: Use, answer: Kept | None) -> None:
        """The request is over; None frees the use, as there is nothing to be kept."""
        ours = self._ours.get(use.name)
        if answer is None or ours is None:
            self.free(use)
            return
        del self._ours[use.name]
        head = answer.head
        packed = _Packed(
            head.status,
            tuple(head.headers),
            head.streams,
            tuple(answer.blocks),
            tuple(answer.starts),
            answer.size,
        )
        data = _encode(packed)
        if len(data) > self._most_each:
            data = b""
        self._call("finish", use, ours[1], _CHANNEL, use.name, self._most_together, data, keys=3)

    # The connection's user

    def opened(self) -> None:
        """A connection is up: what runs here is told anew."""
        for use, request in self._ours.values():
            self._call("renew", use, request)
        self._renewing = self._loop.call_later(_RENEW_SECONDS, self._renew)

    def lost(self) -> None:
        """The connection is down."""
        if self._renewing is not None:
            self._renewing.cancel()
            self._renewing = None

    # Our own.

    def _renew(self) -> None:
        self.lost()
        self.opened()

    async def _try(self, use: Use, request: str) -> Elsewhere | Claim:
        """The answer, or whose the use is."""
        future: asyncio.Future[Any] = self._loop.create_future()

        def done(reply: Any) -> None:
            if not future.done():
                future.set_result(reply)
            elif reply == [b"ours"] and self._ours.get(use.name, (use, ""))[1] != request:
                self._call("free", use, request, _CHANNEL, use.name)  # nobody waited for it

        self._call("claim", use, request, done=done)
        try:
            async with asyncio.timeout(_DEADLINE_SECONDS):
                reply = await future
        except TimeoutError:
            return Claim.OURS  # as while it is away
        self._valkey.heard(reply)
        return _understood(reply)

    def _wait_for(self, name: bytes) -> "asyncio.Future[None]":
        future: asyncio.Future[None] = self._loop.create_future()
        self._waiting.setdefault(name, set()).add(future)
        return future

    def _wait_no_more(self, name: bytes, future: "asyncio.Future[None]") -> None:
        waiting = self._waiting.get(name)
        if waiting is not None:
            waiting.discard(future)
            if not waiting:
                del self._waiting[name]

    def _ended(self, name: bytes) -> None:
        for future in self._waiting.get(name, ()):
            if not future.done():
                future.set_result(None)

    def _call(
        self,
        part: str,
        use: Use,
        request: str,
        *words: str | bytes | int,
        keys: int = 1,
        done: Callable[[Any], None] | None = None,
    ) -> None:
        names = (_PREFIX + use.name.hex(), _INDEX, _SIZES)[:keys]
        self._valkey.send(
            command("EVALSHA", _SHA, keys, *names, part, use.fingerprint, request, *words),
            done or self._valkey.heard,
        )


def _understood(reply: Any) -> Elsewhere | Claim:
    if reply is LOST or isinstance(reply, ErrorReply):
        return Claim.OURS
    match reply:
        case [b"ours"]:
            return Claim.OURS
        case [b"running"]:
            return Claim.RUNNING
        case [b"done", request, data] if data:
            packed = _decode(data)
            head = Head(packed.status, packed.headers, packed.streams)
            kept = Kept(head, packed.blocks, packed.starts, packed.size)
            return Elsewhere(request.decode(), kept)
        case [b"done", *_]:
            raise Refused(problems.idempotency_key_in_use())
        case _:
            raise Refused(problems.idempotency_key_reused())
