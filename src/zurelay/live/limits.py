"""Rate limits held in the memory of this process.

The whole truth where one process runs alone; a node's own part of it where several share, see
`shared_limits`. Belongs to the event loop: nothing here locks or waits. The rule itself is
`meter.limits`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Protocol

from typing_extensions import override

from zurelay.meter import quota
from zurelay.meter.limits import NEVER, Bound, Grant, Limits, Standing, Window, reserved

_SWEPT = 2
"""Windows looked at for each that is used: so all that are idle are found, a few at a time."""


class Keeper(Protocol):
    """Who counted a grant, and takes it off again."""

    def over(self, granted: "Granted", tokens: int | None, *, cancelled: bool) -> None:
        """It has ended; see `meter.limits.Grant`."""
        ...


class Granted(Grant):
    """A request that was let in against bounds.

    Attributes:
        bounds: what it counts against.
        at: when it was counted, in milliseconds of its keeper's clock.
        tokens: the estimate it was counted with.
    """

    __slots__ = ("_anthropic", "_keeper", "_standings", "_wall", "at", "bounds", "tokens")

    def __init__(
        self,
        keeper: Keeper,
        bounds: Sequence[Bound],
        standings: Sequence[Standing],
        at: int,
        wall: float,
        tokens: int,
        *,
        anthropic: bool,
    ) -> None:
        self._keeper: Keeper | None = keeper
        self._standings = standings
        self._wall = wall
        self._anthropic = anthropic
        self.bounds = bounds
        self.at = at
        self.tokens = tokens

    @override
    def headers(self, now: float) -> list[tuple[bytes, bytes]]:
        found = quota.rests(self.bounds, self._standings)
        return quota.headers(found, self._wall, now, anthropic=self._anthropic)

    @override
    def end(self, tokens: int | None) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.over(self, tokens, cancelled=False)

    @override
    def cancel(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.over(self, 0, cancelled=True)


class Unlimited(Grant):
    """The grant of a request that no limit concerns."""

    __slots__ = ()
    tells: ClassVar[bool] = False

    @override
    def headers(self, now: float) -> list[tuple[bytes, bytes]]:
        return []

    @override
    def end(self, tokens: int | None) -> None:
        return

    @override
    def cancel(self) -> None:
        return


UNLIMITED = Unlimited()


class Place(Grant):
    """A place among those under way at once: all that most requests are limited by."""

    __slots__ = ("_leave",)
    tells: ClassVar[bool] = False

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave: Callable[[], None] | None = leave

    @override
    def headers(self, now: float) -> list[tuple[bytes, bytes]]:
        return []

    @override
    def end(self, tokens: int | None) -> None:
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()

    @override
    def cancel(self) -> None:
        self.end(0)


class LocalLimits(Limits):
    """Limits of this process alone. Memory: a window per bound used in the last minute.

    Args:
        clock: seconds of a clock that never goes back.
        wall: Unix time.
    """

    def __init__(self, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        self._clock = clock
        self._wall = wall
        self._windows: dict[str, Window] = {}  # the longest unused first
        self._held: dict[str, int] = {}

    @override
    def admit_now(
        self, bounds: Sequence[Bound], tokens: int, least: int = 0, *, anthropic: bool = False
    ) -> Grant:
        if self._has_place(bounds):
            name = bounds[0].name
            self._held[name] = self._held.get(name, 0) + 1
            return Place(partial(self._let_go, name))
        bounds = [one for one in bounds if limited(one)]
        if not bounds:
            return UNLIMITED
        now = int(self._clock() * 1000)
        self._refuse_beyond(bounds, now, tokens, least, anthropic=anthropic)
        for bound in bounds:
            self._count(bound, now, tokens)
        standings = [self._standing(bound, 0, now) for bound in bounds]
        return Granted(self, bounds, standings, now, self._wall(), tokens, anthropic=anthropic)

    @override
    def look(self, bounds: Sequence[Bound], *, anthropic: bool = False) -> None:
        if self._has_place(bounds):
            return
        self._refuse_beyond(bounds, int(self._clock() * 1000), 0, 0, anthropic=anthropic)

    @override
    async def admit(
        self, bounds: Sequence[Bound], tokens: int, least: int = 0, *, anthropic: bool = False
    ) -> Grant:
        return self.admit_now(bounds, tokens, least, anthropic=anthropic)

    def over(self, granted: Granted, tokens: int | None, *, cancelled: bool) -> None:
        """A grant of ours has ended."""
        now = int(self._clock() * 1000)
        for bound in granted.bounds:
            if bound.concurrency is not None:
                self._let_go(bound.name)
            if bound.rpm is None and bound.tpm is None:
                continue
            kept = reserved(bound, granted.tokens)
            used = kept if tokens is None else tokens
            if used > kept:
                self._window(bound.name, now).add(now, 0, used - kept)
            elif used < kept or cancelled:
                window = self._windows.get(bound.name)
                if window is not None:
                    window.forget(now)
                    window.give_back(granted.at, int(cancelled), kept - used)

    @property
    def windows(self) -> int:
        """How many are in memory."""
        return len(self._windows)

    # Our own.

    def _has_place(self, bounds: Sequence[Bound]) -> bool:
        """Whether the one bound counts nothing but places, and has one: the commonest case."""
        if len(bounds) != 1:
            return False
        bound = bounds[0]
        most = bound.concurrency
        if most is None or bound.rpm is not None or bound.tpm is not None:
            return False
        return self._held.get(bound.name, 0) < most

    def _refuse_beyond(
        self, bounds: Sequence[Bound], now: int, tokens: int, least: int, *, anthropic: bool
    ) -> None:
        waits, refused = [], False
        for bound in bounds:
            wait = self._wait(bound, now, tokens, least)
            most = bound.concurrency
            if wait or (most is not None and self._held.get(bound.name, 0) >= most):
                refused = True
            waits.append(wait)
        if refused:
            standings = [self._standing(*pair, now) for pair in zip(bounds, waits, strict=True)]
            raise quota.refusal(bounds, standings, least, self._wall(), anthropic=anthropic)

    def _wait(self, bound: Bound, now: int, tokens: int, least: int) -> int:
        if bound.rpm is None and bound.tpm is None:
            return 0
        if bound.tpm is not None and least > bound.tpm:
            return NEVER
        window = self._windows.get(bound.name) or Window()
        window.forget(now)
        return window.wait(now, bound.rpm, bound.tpm, reserved(bound, tokens))

    def _standing(self, bound: Bound, wait: int, now: int) -> Standing:
        held = self._held.get(bound.name, 0)
        window = self._windows.get(bound.name)
        if window is None:
            return Standing(held=held, wait=wait)
        return Standing(window.requests, window.tokens, held, *window.resets(now), wait)

    def _count(self, bound: Bound, now: int, tokens: int) -> None:
        if bound.concurrency is not None:
            self._held[bound.name] = self._held.get(bound.name, 0) + 1
        if bound.rpm is not None or bound.tpm is not None:
            self._window(bound.name, now).add(now, 1, reserved(bound, tokens))

    def _window(self, name: str, now: int) -> Window:
        """The bound's window, up to date, put last in line; what lies idle makes room."""
        windows = self._windows
        window = windows.pop(name, None) or Window()
        for _ in range(_SWEPT):
            first = next(iter(windows), None)
            if first is None:
                break
            windows[first].forget(now)
            if not windows[first].empty:
                break
            del windows[first]
        windows[name] = window
        window.forget(now)
        return window

    def _let_go(self, name: str) -> None:
        left = self._held[name] - 1
        if left:
            self._held[name] = left
        else:
            del self._held[name]


def limited(bound: Bound) -> bool:
    """Whether it limits anything."""
    return bound.rpm is not None or bound.tpm is not None or bound.concurrency is not None
