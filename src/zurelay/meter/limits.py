"""Rate limits as a rule: what counts, for how long, and when the next request fits.

A limit on requests or tokens a minute holds in *every* 60 seconds, not in minutes of the clock: a
window keeps what was admitted in the last 60 s, gathered by the second. What was admitted in one
second leaves together, 60 s after the last of it: so a window never holds more than 61 entries, and
what it says of waiting is exact. Times are whole milliseconds of one clock that the caller reads.

Tokens are counted when a request is admitted, by estimate, and put right when it is over. Knows no
clock, no key and no account; the same rule runs inside Valkey, see `live/limits.lua`.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

WINDOW_MS = 60_000
NEVER = -1
"""In place of a wait: a request that no waiting would let in."""

Scope = Literal["key", "account", "model"]


@dataclass(frozen=True, slots=True)
class Bound:
    """What one key, account or model may use; None for no limit.

    Attributes:
        name: names what is counted together, such as `key:key_1`.
        scope: whose limit it is, for the message.
        rpm: requests in 60 seconds.
        tpm: tokens in 60 seconds, input and output.
        concurrency: requests at once.
        shared: counted over all nodes; else each node counts its own.
    """

    name: str
    scope: Scope
    rpm: int | None = None
    tpm: int | None = None
    concurrency: int | None = None
    shared: bool = True


class Standing(NamedTuple):
    """How a bound stood after a request was admitted, or refused.

    Attributes:
        requests, tokens: counted in the last 60 seconds.
        held: requests under way.
        requests_reset, tokens_reset: milliseconds until nothing of them counts any more.
        wait: milliseconds until its rates would let this request in; 0 if they do, `NEVER`.
    """

    requests: int = 0
    tokens: int = 0
    held: int = 0
    requests_reset: int = 0
    tokens_reset: int = 0
    wait: int = 0


class Grant(Protocol):
    """A request that was let in.

    Attributes:
        tells: whether its headers may say anything.
    """

    tells: ClassVar[bool] = True

    def headers(self, now: float) -> list[tuple[bytes, bytes]]:
        """What the caller is told of its limits; `now` is Unix time. Empty without limits."""
        ...

    def end(self, tokens: int | None) -> None:
        """The request is over and has used that many tokens; once, later calls do nothing.

        None leaves the estimate as it is, 0 gives all tokens back. The request itself stays
        counted.
        """
        ...

    def cancel(self) -> None:
        """It was refused after all: nothing of it counts."""
        ...


class Limits(Protocol):
    """Lets requests in, all bounds together or none. Implemented in `live`."""

    def admit_now(
        self, bounds: Sequence[Bound], tokens: int, least: int = 0, *, anthropic: bool = False
    ) -> Grant | None:
        """Let a request in, without waiting. None: others must be asked, by `admit`.

        Args:
            bounds: what it counts against; those without any limit may stand there too.
            tokens: estimated input and the most it may put out. Where that is more than a bound
                allows in a minute it waits until nothing else counts.
            least: those of them that it needs in any case: its input.
            anthropic: headers are written as Anthropic does.

        Raises:
            Refused: 429, saying which limit, when to come again, and how all of them stand.
        """
        ...

    def look(self, bounds: Sequence[Bound], *, anthropic: bool = False) -> None:
        """Refuse a request whose body is still to come, if it is known to be in vain.

        Raises:
            Refused: as `admit_now`. Nothing is counted either way.
        """
        ...

    async def admit(
        self, bounds: Sequence[Bound], tokens: int, least: int = 0, *, anthropic: bool = False
    ) -> Grant:
        """As `admit_now`, asking whoever shares the bounds; never longer than some 50 ms."""
        ...


def reserved(bound: Bound, tokens: int) -> int:
    """How many tokens of that estimate a bound sets aside: no more than it has."""
    return tokens if bound.tpm is None else min(tokens, bound.tpm)


class Window:
    """What was admitted against one bound in the last 60 seconds.

    Attributes:
        requests, tokens: the sums.
    """

    __slots__ = ("_entries", "requests", "tokens")

    def __init__(self) -> None:
        self._entries: deque[list[int]] = deque()  # [time, requests, tokens], oldest first
        self.requests = 0
        self.tokens = 0

    def forget(self, now: int) -> None:
        """Let go of what is 60 seconds old; each other method follows this one."""
        entries = self._entries
        while entries and entries[0][0] <= now - WINDOW_MS:
            _, requests, tokens = entries.popleft()
            self.requests -= requests
            self.tokens -= tokens
        if entries and entries[-1][0] > now:  # the clock was set back
            for entry in entries:
                entry[0] = min(entry[0], now)

    def wait(self, now: int, rpm: int | None, tpm: int | None, tokens: int) -> int:
        """Milliseconds until one more request with so many tokens fits; 0 if now, or `NEVER`."""
        requests_over = 0 if rpm is None else self.requests + 1 - rpm
        tokens_over = 0 if tpm is None else self.tokens + tokens - tpm
        if requests_over <= 0 and tokens_over <= 0:
            return 0
        for at, requests, used in self._entries:
            requests_over -= requests
            tokens_over -= used
            if requests_over <= 0 and tokens_over <= 0:
                return at + WINDOW_MS - now
        return NEVER

    def add(self, now: int, requests: int, tokens: int) -> None:
        """Count so much at this moment."""
        self.requests += requests
        self.tokens += tokens
        last = self._entries[-1] if self._entries else None
        if last is not None and last[0] // 1000 == now // 1000:
            last[0] = now
            last[1] += requests
            last[2] += tokens
        else:
            self._entries.append([now, requests, tokens])

    def give_back(self, at: int, requests: int, tokens: int) -> None:
        """What was counted at that moment was too much by so much; no matter if it is gone."""
        for entry in self._entries:
            if entry[0] >= at:
                if entry[0] // 1000 == at // 1000:
                    requests, tokens = min(requests, entry[1]), min(tokens, entry[2])
                    entry[1] -= requests
                    entry[2] -= tokens
                    self.requests -= requests
                    self.tokens -= tokens
                return

    def resets(self, now: int) -> tuple[int, int]:
        """Milliseconds until no request, and until no token counts any more."""
        found = [0, 0]
        for place in (0, 1):
            for entry in reversed(self._entries):
                if entry[place + 1]:
                    found[place] = entry[0] + WINDOW_MS - now
                    break
        return found[0], found[1]

    @property
    def empty(self) -> bool:
        """Whether nothing counts."""
        return not self._entries
