"""Which candidate of a plan may be asked next, within one request.

It keeps what this request learnt of each candidate. It does not know clocks, the health of routes
beyond this request, or what is sent to whom.
"""

from collections.abc import Sequence
from enum import Enum, auto

from msgspec import Struct

from zurelay.relay.timing import Timing


class CandidateView(Struct, frozen=True, gc=False):
    """What the relay's rules may know of a candidate of the plan.

    Attributes:
        model: public id of its model.
        listed: whether the caller listed the model in `models`.
        ranked: whether the gateway chose the model: it may take what is too long for another.
        high_effort: the effective effort is high, xhigh or max: the longer deadlines hold.
        start_deadline: seconds to the first token; None for the settings' own.
        idle_deadline: seconds between events after it; None for the settings' own.
        hedge_after: seconds without a token after which a second route of the same model may be
            started; None for never.
    """

    model: str
    listed: bool = False
    high_effort: bool = False
    start_deadline: float | None = None
    idle_deadline: float | None = None
    hedge_after: float | None = None
    ranked: bool = False


class Standing(Enum):
    """Where a candidate stands in one request."""

    FRESH = auto()  # may be asked
    USED = auto()  # under way, or failed
    RESTING = auto()  # may be asked after a Retry-After
    OUT = auto()  # cannot be asked now


class Candidate:
    """A candidate's part in one request."""

    __slots__ = ("calls", "idle", "index", "spent", "standing", "start", "view", "wait")

    def __init__(self, index: int, view: CandidateView, timing: Timing) -> None:
        high = view.high_effort
        start = timing.start_deadline_high_effort_s if high else timing.start_deadline_s
        idle = timing.idle_deadline_high_effort_s if high else timing.idle_deadline_s
        self.index = index
        self.view = view
        self.start = start if view.start_deadline is None else view.start_deadline
        self.idle = idle if view.idle_deadline is None else view.idle_deadline
        self.standing = Standing.FRESH
        self.calls = 0
        self.spent = False
        self.wait = 0.0

    def rest(self, seconds: float, spent: bool) -> None:
        """It rests on a Retry-After; `spent`: this request must not ask it again all the same."""
        self.standing = Standing.RESTING
        self.wait = seconds
        self.spent = spent


class Candidates:
    """A plan's candidates in order, as one request goes through them."""

    __slots__ = ("_all", "_refusing", "_too_long")

    def __init__(self, views: Sequence[CandidateView], timing: Timing) -> None:
        self._all = [Candidate(index, view, timing) for index, view in enumerate(views)]
        self._refusing: set[str] = set()
        self._too_long = True

    def refuse(self, model: str, *, too_long: bool = False) -> None:
        """`model` cannot take this request: only models the caller listed are left.

        `too_long`: for its window; then those the gateway chose are left too.
        """
        self._refusing.add(model)
        self._too_long = self._too_long and too_long

    def first(self) -> Candidate | None:
        """The next candidate to ask."""
        for candidate in self._all:
            if candidate.standing is Standing.FRESH and self._allowed(candidate):
                return candidate
        return None

    def unasked(self) -> int:
        """How many may still be asked."""
        return sum(c.standing is Standing.FRESH and self._allowed(c) for c in self._all)

    def beside(self, slow: Candidate) -> Candidate | None:
        """The next route of the same model."""
        for candidate in self._all:
            if candidate.standing is Standing.FRESH and candidate.view.model == slow.view.model:
                return candidate
        return None

    def wait(self) -> float | None:
        """Seconds until a resting candidate may be asked; None if none is worth waiting for.

        Those this request asked already are asked again only if all rest.
        """
        resting = [c for c in self._all if c.standing is Standing.RESTING and self._allowed(c)]
        if len(resting) < len(self._all):
            resting = [c for c in resting if c.calls == 0]
        return min((c.wait for c in resting if not c.spent), default=None)

    def told_wait(self) -> float | None:
        """The shortest wait to tell a caller, if every candidate rests."""
        if any(c.standing is not Standing.RESTING for c in self._all):
            return None
        return min((c.wait for c in self._all), default=None)

    def wake(self) -> None:
        """Resting candidates may be asked again."""
        for candidate in self._all:
            if candidate.standing is Standing.RESTING and not candidate.spent:
                candidate.standing = Standing.FRESH

    def _allowed(self, candidate: Candidate) -> bool:
        if not self._refusing:
            return True
        view = candidate.view
        other = view.listed or (view.ranked and self._too_long)
        return other and view.model not in self._refusing
