"""How usage went: sums over steps of time by model, key or account, and how fast answers began."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk
from zurelay.office.keys import the_key
from zurelay.office.rights import Actor
from zurelay.store import trends as store
from zurelay.store.accounts import list_accounts
from zurelay.store.keys import list_keys
from zurelay.store.schema import TOKENS
from zurelay.store.trends import Group, Sample, TrendRow
from zurelay.store.usage import UsageRow, usage_by

Span = Literal["24h", "7d", "30d", "90d"]

__all__ = [
    "SPANS",
    "Group",
    "GroupTrend",
    "ProviderTrend",
    "Span",
    "Totals",
    "Trend",
    "provider_trend",
    "trend",
]

SPANS: Final[dict[Span, tuple[int, int]]] = {
    "24h": (24, 1),
    "7d": (168, 6),
    "30d": (720, 24),
    "90d": (2160, 24),
}
"""How many hours each span has, and how many each of its steps."""

MOST_GROUPS: Final = 7
SAMPLED: Final = 24
"""How many answers of each step tell how fast they began."""

_HOUR = 3600


@dataclass(slots=True)
class Totals:
    """Sums. `cost` in nano-dollars; `tokens` by class of `schema.TOKENS`."""

    requests: int = 0
    errors: int = 0
    cost: int = 0
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOKENS, 0))
    first_token_ms: float | None = None

    def add(self, row: TrendRow) -> None:
        """Count a row in."""
        self.requests += row.requests
        self.errors += row.errors
        self.cost += row.cost
        for name, value in zip(TOKENS, row.tokens, strict=True):
            self.tokens[name] += value

    @property
    def error_rate(self) -> float:
        """Share of requests that failed."""
        return self.errors / self.requests if self.requests else 0.0

    @property
    def tokens_in(self) -> int:
        """Input of every kind, cached or not."""
        of_input = ("input", "cached_input", "cache_write", "cache_write_long", "audio_input")
        return sum(self.tokens[name] for name in of_input)

    @property
    def tokens_out(self) -> int:
        """Output with thinking."""
        return self.tokens["output"] + self.tokens["audio_output"]


@dataclass(frozen=True, slots=True)
class GroupTrend:
    """One group over time; `rest`: all the smaller ones together."""

    id: str
    name: str
    totals: Totals
    steps: list[Totals]
    rest: bool = False


@dataclass(frozen=True, slots=True)
class ProviderTrend:
    """Attempts at a provider on all nodes, by hour: how many were answered, how many not."""

    provider: str
    answered: list[int]
    failed: list[int]


@dataclass(frozen=True, slots=True)
class Trend:
    """What went on in a span.

    Attributes:
        times: Unix seconds at which each step begins.
        totals: over the whole span; `before` over the one before it.
        steps: over all groups, for each step.
        groups: dearest first, at most `MOST_GROUPS` and one for the rest.
    """

    times: list[int]
    totals: Totals
    before: Totals
    steps: list[Totals]
    groups: list[GroupTrend]


def trend(
    desk: Desk,
    actor: Actor,
    span: Span,
    by: Group,
    *,
    account: str | None = None,
    key: str | None = None,
    timed: bool = True,
) -> Trend:
    """How usage went in a span that ends now, by whole hours or days of UTC.

    Args:
        desk: where.
        actor: who asks.
        span: how far back.
        by: what to tell apart.
        account: only of this account, id or name.
        key: only of this key, id or name.
        timed: also how soon answers began, by a sample of the log.

    Raises:
        Refused: 403, 404.
    """
    hours, step = SPANS[span]
    end = (int(desk.clock()) // _HOUR // step + 1) * step
    begin = end - hours
    starts = list(range(begin, end, step))
    with desk.read(actor, "usage.read") as connection:
        only = actor.account if account is None else the_account(connection, actor, account).id
        which = None if key is None else the_key(connection, actor, key).id
        rows = store.usage_trend(connection, by, begin, end, step, only, which)
        until = float(begin * _HOUR)
        earlier = usage_by(connection, "day", until - hours * _HOUR, until, only, which)
        samples = []
        if timed:
            samples = store.samples(connection, starts, step, SAMPLED, only, which)
        names: dict[str, str] = {}
        if by == "key":
            names = {one.id: one.name for one in list_keys(connection, only)}
        elif by == "account":
            names = {one.id: one.name for one in list_accounts(connection)}
    totals = _summed(rows)
    totals.first_token_ms = _median(samples)
    of_step: dict[int, list[TrendRow]] = {}
    for row in rows:
        of_step.setdefault(row.hour, []).append(row)
    sampled: dict[int, list[Sample]] = {}
    for sample in samples:
        hour = sample.at_ms // (_HOUR * 1000)
        sampled.setdefault(begin + (hour - begin) // step * step, []).append(sample)
    steps = [_summed(of_step.get(start, ())) for start in starts]
    for start, one in zip(starts, steps, strict=True):
        one.first_token_ms = _median(sampled.get(start, ()))
    return Trend(
        times=[start * _HOUR for start in starts],
        totals=totals,
        before=_before(earlier),
        steps=steps,
        groups=[] if by == "none" else _groups(rows, starts, names, samples, by),
    )


def provider_trend(
    desk: Desk, actor: Actor, hours: int = 24
) -> tuple[list[int], list[ProviderTrend]]:
    """Attempts by provider in the last hours: when each begins, and rows, most failures first.

    Raises:
        Refused: 403.
    """
    end = int(desk.clock()) // _HOUR + 1
    begin = end - hours
    with desk.read(actor, "providers.read") as connection:
        rows = store.provider_hours(connection, begin, end)
    found: dict[str, ProviderTrend] = {}
    for row in rows:
        one = found.setdefault(row.provider, ProviderTrend(row.provider, [0] * hours, [0] * hours))
        one.answered[row.hour - begin] += row.answered
        one.failed[row.hour - begin] += row.failed
    ranked = sorted(found.values(), key=lambda one: (-sum(one.failed), one.provider))
    return [hour * _HOUR for hour in range(begin, end)], ranked


def _groups(
    rows: Sequence[TrendRow],
    starts: Sequence[int],
    names: dict[str, str],
    samples: Sequence[Sample],
    by: Group,
) -> list[GroupTrend]:
    whole: dict[str, Totals] = {}
    for row in rows:
        whole.setdefault(row.group, Totals()).add(row)
    ranked = sorted(whole, key=lambda one: (-whole[one].cost, -whole[one].requests, one))
    shown = ranked if len(ranked) <= MOST_GROUPS + 1 else ranked[:MOST_GROUPS]
    place = {group: shown.index(group) if group in shown else len(shown) for group in ranked}
    cells = [[Totals() for _ in starts] for _ in range(max(place.values(), default=-1) + 1)]
    at = {start: number for number, start in enumerate(starts)}
    for row in rows:
        cells[place[row.group]][at[row.hour]].add(row)
    sampled: Callable[[Sample], str] = {
        "model": lambda one: one.model,
        "key": lambda one: one.key,
        "account": lambda one: one.account,
    }[by]
    groups = []
    for number, steps in enumerate(cells):
        id_ = shown[number] if number < len(shown) else ""
        totals = Totals()
        for row in rows:
            if place[row.group] == number:
                totals.add(row)
        if number < len(shown):
            totals.first_token_ms = _median(one for one in samples if sampled(one) == id_)
        rest = number >= len(shown)
        groups.append(GroupTrend(id_, names.get(id_, id_), totals, steps, rest))
    return groups


def _summed(rows: Iterable[TrendRow]) -> Totals:
    totals = Totals()
    for row in rows:
        totals.add(row)
    return totals


def _before(rows: Iterable[UsageRow]) -> Totals:
    totals = Totals()
    for row in rows:
        totals.requests += row.requests
        totals.errors += row.errors
        totals.cost += row.cost
        for name, value in row.tokens.items():
            totals.tokens[name] += value
    return totals


def _median(samples: Iterable[Sample]) -> float | None:
    times = sorted(one.first_token_ms for one in samples if one.first_token_ms is not None)
    return times[len(times) // 2] if times else None
