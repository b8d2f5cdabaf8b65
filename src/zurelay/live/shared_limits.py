"""Rate limits shared by several nodes through Valkey: one script call for all limits of a request.

Requests that no shared limit concerns cost no call. Where the server does not answer in 50 ms the
node goes by its share: each limit divided by the nodes last seen, at least 1. Places of requests
under way are held under a lease of the node that is renewed every 5 s and lapses after 15 s; each
connection has a lease of its own, and takes the node's places over to it.

Knows no key and no account. The rule is `meter.limits`; the script runs the same one.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from typing_extensions import override

from zurelay.live.limits import UNLIMITED, Granted, LocalLimits, limited
from zurelay.live.valkey import AwayError, SharedStateError, Valkey
from zurelay.meter import quota
from zurelay.meter.limits import Bound, Grant, Limits, Standing, reserved
from zurelay.telemetry.metrics import SharedHealth
from zurelay.wire.resp import command

SCRIPT = files("zurelay.live").joinpath("limits.lua").read_bytes()
DEADLINE_SECONDS = 0.05
BEAT_SECONDS = 5.0

_SHA = hashlib.sha1(SCRIPT, usedforsecurity=False).hexdigest()
_PREFIX = "zurelay:1:limits:"
_NODES = f"{_PREFIX}nodes"
_FIGURES = 6
_ONCE_MORE_SECONDS = 0.001
_LEAVE_SECONDS = 1.0
_TAKEN_AT_ONCE = 500


class SharedLimits(Limits):
    """Limits of all nodes together.

    Args:
        valkey: the connection; it must load `SCRIPT`.
        clock: seconds of a clock that never goes back.
        wall: Unix time.
        name: makes the name of a lease, another one each time.
        nodes: how many there are taken to be until the server says so.
        deadline_s: how long an answer is waited for.
        server_ms: the time there, in place of the server's own.
    """

    def __init__(
        self,
        valkey: Valkey,
        clock: Callable[[], float],
        wall: Callable[[], float],
        name: Callable[[], str],
        *,
        nodes: int = 1,
        deadline_s: float = DEADLINE_SECONDS,
        server_ms: Callable[[], int] | None = None,
    ) -> None:
        self._valkey = valkey
        self._own = LocalLimits(clock, wall)
        self._clock = clock
        self._wall = wall
        self._name = name
        self._deadline = deadline_s
        self._server_ms = server_ms
        self._loop = asyncio.get_running_loop()
        self._node = name()
        self._held: dict[str, int] = {}  # places at shared bounds; what the server knows while up
        self._late = False
        self._beating: asyncio.TimerHandle | None = None
        self._nodes = nodes
        self._counts = {"asked": 0, "late": 0, "by_share": 0}
        valkey.use(self)

    @property
    def health(self) -> SharedHealth:
        """How sharing goes."""
        return SharedHealth(
            up=self._valkey.up and not self._late,
            nodes=self._nodes,
            reconnects=self._valkey.reconnects,
            **self._counts,
        )

    # Limits

    @override
    def admit_now(
        self, bounds: Sequence[Bound], tokens: int, least: int = 0, *, anthropic: bool = False
    ) -> Grant | None:
        bounds = [one for one in bounds if limited(one)]
        if not bounds:
            return UNLIMITED
        if not any(one.shared for one in bounds):
            return self._own.admit_now(bounds, tokens, least, anthropic=anthropic)
        if self._late or not self._valkey.up:
            return self._by_share(bounds, tokens, least, anthropic=anthropic)
        return None

    @override
    def look(self, bounds: Sequence[Bound], *, anthropic: bool = False) -> None:
        """Only what this node counts by itself: a question costs more than most bodies."""
        self._own.look([one for one in bounds if not one.shared], anthropic=anthropic)

    @override
    async def admit(
        self, bounds: Sequence[Bound], tokens: int, least: int = 0, *, anthropic: bool = False
    ) -> Grant:
        here = self.admit_now(bounds, tokens, least, anthropic=anthropic)
        if here is not None:
            return here
        shared = [one for one in bounds if one.shared and limited(one)]
        own = [one for one in bounds if not one.shared]
        beside = self._own.admit_now(own, tokens, least, anthropic=anthropic)
        try:
            fits, at, standings = await self._ask(shared, tokens, least)
        except AwayError:
            beside.cancel()
            return self._by_share(bounds, tokens, least, anthropic=anthropic)
        except BaseException:
            beside.cancel()
            raise
        if not fits:
            beside.cancel()
            raise quota.refusal(shared, standings, least, self._wall(), anthropic=anthropic)
        self._hold(shared)
        return _Shared(
            self, shared, standings, at, self._wall(), tokens, beside, anthropic=anthropic
        )

    def over(self, granted: Granted, tokens: int | None, *, cancelled: bool) -> None:
        """A grant of ours has ended."""
        if isinstance(granted, _Shared):
            _end(granted.beside, tokens, cancelled=cancelled)
        self._let_go(granted.bounds)
        if self._valkey.up:
            self._send_over(granted, tokens, cancelled=cancelled)

    # The connection's user

    def opened(self) -> None:
        """A connection is up: its lease takes over what this node holds."""
        before, self._node = self._node, self._name()
        self._late = False
        self._call(self._beaten, "beat", (_NODES,), "first", before)
        held = list(self._held.items())
        for start in range(0, len(held), _TAKEN_AT_ONCE):
            part = held[start : start + _TAKEN_AT_ONCE]
            keys = (_NODES, *(_places(name) for name, _ in part))
            self._call(self._valkey.heard, "take", keys, *(count for _, count in part))
        self._beating = self._loop.call_later(BEAT_SECONDS, self._beat)

    def lost(self) -> None:
        """The connection is down."""
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None

    async def leave(self) -> None:
        """This node ends: its places are free at once, if the server is there to hear it."""
        self.lost()
        with contextlib.suppress(AwayError, SharedStateError, TimeoutError):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await self._valkey.ask("ZREM", _NODES, self._node)

    # Our own.

    def _beat(self) -> None:
        self._call(self._beaten, "beat", (_NODES,))
        self._beating = self._loop.call_later(BEAT_SECONDS, self._beat)

    def _beaten(self, reply: Any) -> None:
        if not isinstance(reply, int):
            self._valkey.heard(reply)
        elif reply < 0:
            self._valkey.drop("the lease of this node had lapsed")
        else:
            self._nodes = reply

    async def _ask(
        self, bounds: Sequence[Bound], tokens: int, least: int
    ) -> tuple[bool, int, list[Standing]]:
        """Whether all of them let the request in, when that was, and how they stand.

        Raises:
            AwayError: nobody said so in time.
        """
        future: asyncio.Future[Any] = self._loop.create_future()
        node = self._node

        def done(reply: Any) -> None:
            self._late = False
            if not future.done():
                future.set_result(reply)
            elif isinstance(reply, bytes) and node == self._node:
                self._undo(bounds, tokens, reply)

        keys: list[str] = [_NODES]
        words: list[int] = []
        for one in bounds:
            keys += (_rate(one.name), _places(one.name))
            too_large = one.tpm is not None and least > one.tpm
            ask = -1 if too_large else reserved(one, tokens)
            words += (_or_none(one.rpm), _or_none(one.tpm), _or_none(one.concurrency), ask)
        self._counts["asked"] += 1
        self._call(done, "admit", keys, *words)
        timer = self._loop.call_later(self._deadline, self._look_once_more, future)
        try:
            reply = await future
        except asyncio.CancelledError:  # the caller left, perhaps just as the answer came
            if not future.cancelled() and isinstance(future.result(), bytes):
                self._undo(bounds, tokens, future.result())
            raise
        finally:
            timer.cancel()
        if not isinstance(reply, bytes):
            self._valkey.heard(reply)
            raise AwayError("no answer")
        return _read(reply)

    def _look_once_more(self, future: "asyncio.Future[Any]") -> None:
        """A loop that stood still sees its timers before its sockets: the answer may be there."""
        if not future.done():
            self._loop.call_later(_ONCE_MORE_SECONDS, self._give_up, future)

    def _give_up(self, future: "asyncio.Future[Any]") -> None:
        if not future.done():
            self._late = True
            self._counts["late"] += 1
            future.set_result(None)

    def _undo(self, bounds: Sequence[Bound], tokens: int, reply: bytes) -> None:
        """Nobody waits for this answer any more: if it let the request in, it is taken back."""
        fits, at, standings = _read(reply)
        if fits:
            undone = Granted(self, bounds, standings, at, 0.0, tokens, anthropic=False)
            self._send_over(undone, 0, cancelled=True)

    def _by_share(
        self, bounds: Sequence[Bound], tokens: int, least: int, *, anthropic: bool
    ) -> Grant:
        self._counts["by_share"] += 1
        parts = [share(one, self._nodes) if one.shared else one for one in bounds]
        if any(one.tpm is not None and least > one.tpm for one in bounds):
            raise quota.refusal(
                bounds, [Standing()] * len(bounds), least, self._wall(), anthropic=anthropic
            )
        grant = self._own.admit_now(parts, tokens, anthropic=anthropic)
        held = [one for one in bounds if one.shared and one.concurrency is not None]
        self._hold(held)
        if self._valkey.up:  # it is only late: what this node holds must be right there
            self._call(self._valkey.heard, "take", (_NODES, *(_places(one.name) for one in held)),
                       *(1 for _ in held))  # fmt: skip
        return _ByShare(self, held, grant)

    def _end_share(self, held: Sequence[Bound]) -> None:
        self._let_go(held)
        if self._valkey.up:
            self._call(self._valkey.heard, "take", (_NODES, *(_places(one.name) for one in held)),
                       *(-1 for _ in held))  # fmt: skip

    def _hold(self, bounds: Iterable[Bound]) -> None:
        for one in bounds:
            if one.concurrency is not None:
                self._held[one.name] = self._held.get(one.name, 0) + 1

    def _let_go(self, bounds: Iterable[Bound]) -> None:
        for one in bounds:
            if one.concurrency is not None:
                left = self._held[one.name] - 1
                if left:
                    self._held[one.name] = left
                else:
                    del self._held[one.name]

    def _send_over(self, granted: Granted, tokens: int | None, *, cancelled: bool) -> None:
        keys: list[str] = [_NODES]
        words: list[int] = [granted.at]
        for one in granted.bounds:
            counted = one.rpm is not None or one.tpm is not None
            held = one.concurrency is not None
            kept = reserved(one, granted.tokens)
            used = kept if tokens is None or not counted else tokens
            undone = cancelled and counted
            if held or undone or used != kept:
                keys += (_rate(one.name), _places(one.name))
                words += (int(undone), kept, used, int(held))
        if len(keys) > 1:
            self._call(self._valkey.heard, "over", keys, *words)

    def _call(
        self, done: Callable[[Any], None], part: str, keys: Sequence[str], *words: str | int
    ) -> None:
        now = "" if self._server_ms is None else self._server_ms()
        self._valkey.send(
            command("EVALSHA", _SHA, len(keys), *keys, part, now, self._node, *words), done
        )


class _Shared(Granted):
    """Let in by all nodes together; `beside` is what only this node counts."""

    __slots__ = ("beside",)

    def __init__(
        self,
        keeper: SharedLimits,
        bounds: Sequence[Bound],
        standings: Sequence[Standing],
        at: int,
        wall: float,
        tokens: int,
        beside: Grant,
        *,
        anthropic: bool,
    ) -> None:
        super().__init__(keeper, bounds, standings, at, wall, tokens, anthropic=anthropic)
        self.beside = beside


class _ByShare(Grant):
    """Let in by this node's share; it holds places that all nodes must know of."""

    __slots__ = ("_grant", "_held", "_limits")

    def __init__(self, limits: SharedLimits, held: Sequence[Bound], grant: Grant) -> None:
        self._limits: SharedLimits | None = limits
        self._held = held
        self._grant = grant

    @override
    def headers(self, now: float) -> list[tuple[bytes, bytes]]:
        return self._grant.headers(now)

    @override
    def end(self, tokens: int | None) -> None:
        self._grant.end(tokens)
        self._free()

    @override
    def cancel(self) -> None:
        self._grant.cancel()
        self._free()

    def _free(self) -> None:
        limits, self._limits = self._limits, None
        if limits is not None:
            limits._end_share(self._held)  # noqa: SLF001 - its own grant


def share(bound: Bound, nodes: int) -> Bound:
    """What one of so many nodes may let in by itself; never nothing where there is something."""

    def part(limit: int | None) -> int | None:
        return limit if not limit else max(1, limit // max(1, nodes))

    return replace(
        bound, rpm=part(bound.rpm), tpm=part(bound.tpm), concurrency=part(bound.concurrency)
    )


def _end(grant: Grant, tokens: int | None, *, cancelled: bool) -> None:
    if cancelled:
        grant.cancel()
    else:
        grant.end(tokens)


def _read(reply: bytes) -> tuple[bool, int, list[Standing]]:
    numbers = [int(word) for word in reply.split()]
    standings = [Standing(*numbers[at : at + _FIGURES]) for at in range(2, len(numbers), _FIGURES)]
    return numbers[0] == 1, numbers[1], standings


def _rate(name: str) -> str:
    return f"{_PREFIX}rate:{name}"


def _places(name: str) -> str:
    return f"{_PREFIX}places:{name}"


def _or_none(limit: int | None) -> int:
    return -1 if limit is None else limit
