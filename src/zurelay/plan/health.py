"""What this node has learnt of its routes: which rest, which are cut off, how fast they are.

Told the time (seconds of one steady clock) with every call; pure. A fault counts where it belongs:
a refused credential against the provider, a failed connection against the origin, a rate limit
and everything else against the route. Rests, refused credentials and failing routes are told to
whoever listens, and learnt from them. It does not know requests, plans or who that is.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, replace
from hashlib import blake2b
from typing import Literal

from zurelay.chat.faults import REQUESTS_OWN, Fault, FaultKind
from zurelay.plan.breaker import LEAST_SAMPLES, OPENING_RATE, Breaker, Outcomes, State
from zurelay.plan.latency import Latency, size_class
from zurelay.plan.route import Route
from zurelay.plan.standing import ErrorSeen, RouteState
from zurelay.plan.tally import Tally
from zurelay.providers.base import Provider

SANDBOX = "sandbox"
"""The kind whose models fail on request."""

MOST_REST_S = 900.0
"""The longest Retry-After that is believed."""

PROBE_S = 10.0
LEAST_HEDGE_SAMPLES = 50
_LEAST_PROBE_S = 1.0
_REFUSED_CONNECTIONS = 3
"""Failures in a row that cut an origin off."""
_LAST_RESORT_S = 10.0
_LAST_RESORT_LEAST = 3
_LAST_RESORT_SHARE = 0.05
_ERRORS_KEPT = 5
_MESSAGE_KEPT = 1000

_CREDENTIAL = frozenset({FaultKind.REFUSED_CREDENTIAL, FaultKind.OUT_OF_CREDIT})

_WORTH_TELLING_S = 1.0
"""A rest that is longer by less than this is not told again."""
_MOST_LEARNT = 10_000
_FAILING = "failing:"

Told = Callable[[str, float], None]
"""Hears that something rests: its name, and for how many seconds."""

Reason = Literal["ok", "rest", "open", "full"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a route may be tried now.

    Attributes:
        go: it may.
        wait: seconds it rests on a Retry-After; None for any other reason.
        probe_deadline: the attempt would be a half-open probe, with this start deadline (seconds).
        reason: `rest`: on a Retry-After; `open`: cut off for its failures; `full`: the provider's
            attempts under way are at their bound.
    """

    go: bool
    wait: float | None = None
    probe_deadline: float | None = None
    reason: Reason = "ok"


_GO = Verdict(go=True)
_OPEN = Verdict(go=False, reason="open")
_FULL = Verdict(go=False, reason="full")


class _Account:
    """A provider account: its credential, and how many attempts are under way there."""

    __slots__ = ("_provider", "credential", "in_flight", "name", "of")

    def __init__(self, provider: str, of: tuple[object, ...]) -> None:
        self._provider = provider
        self.in_flight = 0
        self.renew(of)

    def renew(self, of: tuple[object, ...]) -> None:
        """Another credential: what the old one did tells nothing of it."""
        self.of = of
        self.credential = _credential()
        self.name = _credential_name(self._provider, of)


def _credential_name(provider: str, of: tuple[object, ...]) -> str:
    """What a credential is called among nodes; says nothing of it."""
    values = [one if one is None or isinstance(one, tuple) else astuple(one) for one in of]  # type: ignore[call-overload]
    return f"credential:{blake2b(repr((provider, values)).encode(), digest_size=12).hexdigest()}"


def _credential() -> Breaker:
    return Breaker(30.0, 300.0)


class _Origin:
    """An address: whether connections to it succeed."""

    __slots__ = ("connection", "refused")

    def __init__(self) -> None:
        self.connection = Breaker(5.0, 60.0)
        self.refused = 0


class _Known:
    """All that is known of one route."""

    __slots__ = (
        "account",
        "breaker",
        "by_size",
        "errors",
        "every",
        "forced",
        "forced_since",
        "in_flight",
        "latency",
        "origin",
        "outcomes",
        "provider",
        "resting_until",
        "shared",
        "tally",
        "wanted",
    )

    account: _Account
    origin: _Origin
    shared: tuple[Breaker, Breaker]
    every: tuple[Breaker, Breaker, Breaker]

    def __init__(self) -> None:
        self.provider: Provider | None = None
        self.breaker = Breaker(15.0, 120.0)
        self.outcomes = Outcomes()
        self.tally = Tally()
        self.latency = Latency()
        self.by_size = (Latency(), Latency(), Latency())
        self.errors: deque[tuple[float, Fault]] = deque(maxlen=_ERRORS_KEPT)
        self.resting_until = 0.0
        self.in_flight = 0
        self.wanted = 0
        self.forced = 0
        self.forced_since = float("-inf")

    def last_resort(self, now: float) -> bool:
        """Whether one of the few tries of a route that is cut off is left; takes it."""
        if now - self.forced_since >= _LAST_RESORT_S:
            self.forced_since = now
            self.wanted = self.forced = 0
        self.wanted += 1
        if self.forced >= max(_LAST_RESORT_LEAST, _LAST_RESORT_SHARE * self.wanted):
            return False
        self.forced += 1
        for breaker in self.breakers():
            breaker.forced()
        return True

    def breakers(self, *, only: bool = False) -> tuple[Breaker, ...]:
        """All that may cut the route off; of an only route not its own failures."""
        return self.shared if only else self.every


class Health:
    """Health of every route, by its id; kept as long as the process lives.

    Attributes:
        told: hears of rests and refused credentials, for others to `learn`.
    """

    __slots__ = ("_accounts", "_known", "_latest", "_learnt", "_origins", "told")

    def __init__(self) -> None:
        self.told: Told | None = None
        self._learnt: dict[str, float] = {}
        self._latest = 0.0
        self._known: dict[str, _Known] = {}
        self._accounts: dict[str, _Account] = {}
        self._origins: dict[str, _Origin] = {}

    # Before an attempt.

    def may_try(
        self, route: Route, now: float, *, only: bool = False, forced: bool = False
    ) -> Verdict:
        """Whether the route may be tried now; `began` must follow if it is.

        Args:
            route: the route.
            now: the time.
            only: it is its model's only route: its own failures do not cut it off.
            forced: every route is cut off and this is the least bad one. A few such tries are
                granted (max(3, 5 %) in 10 s); asking counts.
        """
        self._latest = now
        known = self._of(route)
        if known.resting_until > now:
            return Verdict(go=False, wait=known.resting_until - now, reason="rest")
        most = route.provider.max_concurrency
        if most is not None and known.account.in_flight >= most:
            return _FULL
        probe = False
        for breaker in known.breakers(only=only):
            if breaker.open_until is None:
                continue
            if not breaker.allows(now):
                return _GO if forced and known.last_resort(now) else _OPEN
            probe = True
        if probe:
            return Verdict(go=True, probe_deadline=_probe_deadline(known.latency))
        return _GO

    def is_up(self, route: Route, now: float) -> bool:
        """Whether it may be tried now, other than as a last resort. Counts nothing."""
        return self.may_try(route, now).go

    def least_bad(self, routes: Iterable[Route], now: float) -> Route | None:
        """Of routes that are all cut off, the one to try all the same.

        Those that rest on a Retry-After or are full are never it; a refused credential comes last.
        """
        best: tuple[tuple[bool, float, float], Route] | None = None
        for route in routes:
            if self.may_try(route, now).reason != "open":
                continue
            known = self._of(route)
            badness = (
                not known.account.credential.allows(now),
                -(known.outcomes.success_rate(now) or 0.0),
                max(b.wait(now) for b in known.breakers()),
            )
            if best is None or badness < best[0]:
                best = (badness, route)
        return best[1] if best else None

    # Around an attempt.

    def began(self, route: Route, now: float) -> None:
        """An attempt starts; `succeeded`, `failed` or `neutral` must follow exactly once."""
        known = self._of(route)
        known.in_flight += 1
        known.account.in_flight += 1
        for breaker in known.breakers():
            if breaker.open_until is not None:
                breaker.began(now)

    def spoke(self, route: Route, now: float) -> None:
        """An attempt gave its first token: a probe need not wait for the end of a long answer."""
        for breaker in self._of(route).breakers():
            breaker.succeeded(now)

    def succeeded(
        self,
        route: Route,
        now: float,
        first_token_s: float | None = None,
        account: str = "",
        input_tokens: int = 0,
    ) -> None:
        """An attempt gave a whole answer, its first token after `first_token_s`."""
        known = self._over(route)
        known.origin.refused = 0
        for breaker in known.breakers():
            if breaker.open_until is not None:
                breaker.succeeded(now)
        known.outcomes.add(now, account, success=True)
        known.tally.add(now, success=True)
        if first_token_s is not None:
            known.latency.add(first_token_s)
            known.by_size[size_class(input_tokens)].add(first_token_s)

    def failed(self, route: Route, fault: Fault, now: float, account: str = "") -> None:
        """An attempt failed.

        A request's own fault is neutral, and so is what the sandbox does because it was asked to:
        one caller's test must not rest the model for the others.
        """
        if fault.kind in REQUESTS_OWN or route.provider.kind.name == SANDBOX:
            self.neutral(route)
            return
        known = self._over(route)
        known.tally.add(now, success=False)
        known.errors.appendleft((now, replace(fault, message=fault.message[:_MESSAGE_KEPT])))
        if fault.kind is FaultKind.CONNECT:
            self._connection_failed(known, now)
            return
        known.origin.refused = 0
        known.origin.connection.succeeded(now)
        if fault.retry_after is not None:
            rest = min(MOST_REST_S, max(0.0, fault.retry_after))
            worth_telling = now + rest > known.resting_until + _WORTH_TELLING_S
            known.resting_until = max(known.resting_until, now + rest)
            if worth_telling and self.told is not None:
                self.told(route.id, rest)
        if fault.kind in _CREDENTIAL:
            self._credential_refused(known.account, now)
            known.breaker.freed()
            return
        known.account.credential.freed()
        if fault.kind is FaultKind.RATE_LIMITED and fault.retry_after is not None:
            known.breaker.freed()  # it told when to come back, and is believed
            return
        known.outcomes.add(now, account, success=False)
        bad = fault.kind is FaultKind.MODEL_MISSING or known.outcomes.too_bad(now)
        if bad or known.breaker.state(now) is State.HALF_OPEN:
            was_open = known.breaker.state(now) is State.OPEN
            known.breaker.failed(now)
            if not was_open and self.told is not None:
                self.told(_FAILING + route.id, known.breaker.wait(now))

    def neutral(self, route: Route) -> None:
        """An attempt ended without telling anything: cancelled, or the request's own fault."""
        for breaker in self._over(route).breakers():
            breaker.freed()

    def learn(self, name: str, seconds: float, now: float) -> None:
        """Others were told that this rests: a route, by its id, or a credential.

        A route that fails for them is cut off here only if it does not work here.
        """
        if len(self._learnt) >= _MOST_LEARNT:
            self._learnt = {one: end for one, end in self._learnt.items() if end > now}
        until = now + min(MOST_REST_S, seconds)
        self._learnt[name] = until
        known = self._known.get(name)
        if known is not None:
            known.resting_until = max(known.resting_until, until)
        failing = self._known.get(name.removeprefix(_FAILING)) if known is None else None
        if failing is not None and failing.breaker.state(now) is State.CLOSED:
            rate = failing.outcomes.success_rate(now)
            if rate is None or rate < OPENING_RATE or failing.outcomes.samples(now) < LEAST_SAMPLES:
                failing.breaker.failed(now)
        for account in self._accounts.values():
            if account.name == name and account.credential.state(now) is State.CLOSED:
                account.credential.failed(now)

    # For the order of routes, and for people.

    def is_closed(self, route: Route, now: float) -> bool:
        """Whether nothing is cut off that it needs; it may rest all the same."""
        return all(one.state(now) is State.CLOSED for one in self._of(route).breakers())

    def share(self, route: Route, now: float) -> float:
        """Part of its usual traffic the route should get: less while it recovers, 0 to 1."""
        return min(b.share(now) for b in self._of(route).breakers())

    def success_rate(self, route: Route, now: float) -> float | None:
        """Successes of the last minute, 0 to 1; None with fewer than ten samples."""
        outcomes = self._of(route).outcomes
        return outcomes.success_rate(now) if outcomes.samples(now) >= 10 else None

    def first_token(self, route: Route) -> float | None:
        """Median first-token time in seconds; None with fewer than five samples."""
        latency = self._of(route).latency
        return latency.percentile(0.5) if latency.count >= 5 else None

    def hedge_after(self, route: Route, input_tokens: int) -> float | None:
        """The route's p95 for prompts of this size; None with fewer than 50 samples."""
        latency = self._of(route).by_size[size_class(input_tokens)]
        return latency.percentile(0.95) if latency.count >= LEAST_HEDGE_SAMPLES else None

    def load(self, route: Route) -> float:
        """Attempts under way at the provider by its bound, 0 to 1; 0 without a bound."""
        most = route.provider.max_concurrency
        return self._of(route).account.in_flight / most if most else 0.0

    def snapshot(self, route: Route, now: float) -> RouteState:
        """The route as operators see it."""
        known = self._of(route)
        state, cause, wait = _state(known, now)
        tried, failed = known.tally.sums(now)
        return RouteState(
            state=state,
            cause=cause,
            wait=wait,
            samples=known.outcomes.samples(now),
            success_rate=known.outcomes.success_rate(now),
            first_token_p50=known.latency.percentile(0.5),
            first_token_p95=known.latency.percentile(0.95),
            in_flight=known.in_flight,
            tried=tried,
            failed=failed,
            errors=tuple(ErrorSeen(now - at, fault) for at, fault in known.errors),
        )

    # Inside.

    def _of(self, route: Route) -> _Known:
        known = self._known.get(route.id)
        if known is None:
            known = self._known[route.id] = _Known()
            known.resting_until = self._in_force(route.id) or 0.0
            known.breaker.open_until = self._in_force(_FAILING + route.id)
            self._bind(known, route.provider)
        elif known.provider is not route.provider:
            self._bind(known, route.provider)
        return known

    def _in_force(self, learnt: str) -> float | None:
        until = self._learnt.get(learnt, 0.0)
        return until if until > self._latest else None

    def _bind(self, known: _Known, provider: Provider) -> None:
        """Join a route to its provider and origin, anew where the configuration changed."""
        account = self._accounts.get(provider.name)
        if account is None:
            account = self._accounts[provider.name] = _Account(provider.name, provider.credentials)
            account.credential.open_until = self._in_force(account.name)
        elif account.of != provider.credentials:
            account.renew(provider.credentials)
        scheme, _, rest = provider.base_url.partition("://")
        origin = f"{scheme}://{rest.partition('/')[0]}"
        known.provider = provider
        known.account = account
        known.origin = self._origins.setdefault(origin, _Origin())
        known.shared = (account.credential, known.origin.connection)
        known.every = (known.breaker, *known.shared)

    def _over(self, route: Route) -> _Known:
        known = self._of(route)
        known.in_flight -= known.in_flight > 0
        known.account.in_flight -= known.account.in_flight > 0
        return known

    def _credential_refused(self, account: _Account, now: float) -> None:
        was_open = account.credential.state(now) is State.OPEN
        account.credential.failed(now)
        if not was_open and self.told is not None:
            self.told(account.name, account.credential.wait(now))

    def _connection_failed(self, known: _Known, now: float) -> None:
        known.breaker.freed()
        known.account.credential.freed()
        connection = known.origin.connection
        known.origin.refused += 1
        if known.origin.refused >= _REFUSED_CONNECTIONS or connection.state(now) is State.HALF_OPEN:
            connection.failed(now)


def _probe_deadline(latency: Latency) -> float:
    """The smaller of 10 s and three times the usual worst, but never less than that worst."""
    worst = latency.percentile(0.95)
    if worst is None:
        return PROBE_S
    return max(_LEAST_PROBE_S, worst, min(PROBE_S, 3 * worst))


def _state(
    known: _Known, now: float
) -> tuple[
    Literal["closed", "open", "half_open", "resting"],
    Literal["route", "connection", "credential"] | None,
    float,
]:
    if known.resting_until > now:
        return "resting", None, known.resting_until - now
    causes: tuple[tuple[Literal["credential", "connection", "route"], Breaker], ...] = (
        ("credential", known.account.credential),
        ("connection", known.origin.connection),
        ("route", known.breaker),
    )
    for cause, breaker in causes:
        if breaker.state(now) is State.OPEN:
            return "open", cause, breaker.wait(now)
    for cause, breaker in causes:
        if breaker.state(now) is State.HALF_OPEN:
            return "half_open", cause, 0.0
    return "closed", None, 0.0
