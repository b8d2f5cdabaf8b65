"""What requests count on: plain numbers in memory, and their families at a scrape.

Belongs to the event loop: nothing here locks. Does not know how a scrape is served.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from zurelay.chat.usage import Usage

_NANO = 1_000_000_000
_BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_RARE_CLASSES = (
    "cached_input",
    "cache_write",
    "cache_write_long",
    "audio_input",
    "image_input",
    "audio_output",
    "image_output",
)
"""Token classes that most models never count; their series begin when they are first seen."""


class Times:
    """How long things took, in seconds, counted into buckets."""

    __slots__ = ("buckets", "total")

    def __init__(self) -> None:
        self.buckets = [0] * (len(_BOUNDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self.buckets[bisect_left(_BOUNDS, seconds)] += 1
        self.total += seconds

    def merge(self, other: "Times") -> None:
        """All of `other` too."""
        self.buckets = [a + b for a, b in zip(self.buckets, other.buckets, strict=True)]
        self.total += other.total


class Series:
    """The counts of one endpoint and model."""

    __slots__ = ("cost_nano", "first_token", "outcomes", "reasoning", "tokens", "took")

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, int], int] = {}
        self.took = Times()
        self.first_token = Times()
        self.tokens = {"input": 0, "output": 0}
        self.reasoning = 0
        self.cost_nano = 0

    def count(
        self,
        status_word: str,
        http_status: int,
        usage: Usage | None,
        cost_nano: int,
        first_token_s: float | None,
        total_s: float,
    ) -> None:
        """One more request; see `Metrics.request_finished`."""
        key = (status_word, http_status)
        self.outcomes[key] = self.outcomes.get(key, 0) + 1
        self.took.add(total_s)
        if first_token_s is not None:
            self.first_token.add(first_token_s)
        self.cost_nano += cost_nano
        if usage is None:
            return
        tokens = self.tokens
        tokens["input"] += usage.input
        tokens["output"] += usage.output
        if usage.reasoning:
            self.reasoning += usage.reasoning
        if usage.prompt == usage.input and usage.completion == usage.output:
            return  # as most are: nothing rare
        for name in _RARE_CLASSES:
            count = getattr(usage, name)
            if count:
                tokens[name] = tokens.get(name, 0) + count

    def merge(self, other: "Series") -> None:
        """All of `other` too."""
        self.took.merge(other.took)
        self.first_token.merge(other.first_token)
        for name, count in other.tokens.items():
            self.tokens[name] = self.tokens.get(name, 0) + count
        self.reasoning += other.reasoning
        self.cost_nano += other.cost_nano


def families(
    series: Mapping[tuple[str, str], Series], attempts: Mapping[tuple[str, str], int]
) -> Iterator[Metric]:
    """Every family.

    Args:
        series: (endpoint, model label) -> its counts.
        attempts: (route, outcome) -> how many.
    """
    yield _requests(series)
    yield from _by_model(series)
    tries = CounterMetricFamily(
        "zurelay_attempts",
        "Tries at a route, by outcome: ok, cancelled, or why it failed.",
        labels=("route", "outcome"),
    )
    for (route, outcome), count in _without_parameters(attempts).items():
        tries.add_metric((route, outcome), count)
    yield tries


def _requests(series: Mapping[tuple[str, str], Series]) -> Metric:
    requests = CounterMetricFamily(
        "zurelay_requests",
        "Requests with a valid key, by how they ended.",
        labels=("endpoint", "model", "status", "http_status"),
    )
    for (endpoint, model), one in series.items():
        for (status, http_status), count in one.outcomes.items():
            requests.add_metric((endpoint, model, status, str(http_status)), count)
    return requests


def _by_model(series: Mapping[tuple[str, str], Series]) -> Iterator[Metric]:
    tokens = CounterMetricFamily(
        "zurelay_tokens",
        "Tokens billed, by class; classes never overlap.",
        labels=("model", "class"),
    )
    reasoning = CounterMetricFamily(
        "zurelay_reasoning_tokens",
        "Output tokens that were thinking; part of class output.",
        labels=("model",),
    )
    cost = CounterMetricFamily("zurelay_cost_usd", "Charged, in USD.", labels=("model",))
    first = HistogramMetricFamily(
        "zurelay_first_token_seconds",
        "From the request to its first token, answered requests only.",
        labels=("model",),
    )
    took = HistogramMetricFamily(
        "zurelay_request_seconds", "From the request to its last byte.", labels=("model",)
    )
    merged: dict[str, Series] = {}
    for (_, model), one in series.items():
        merged.setdefault(model, Series()).merge(one)
    for model, one in merged.items():
        for name, count in one.tokens.items():
            tokens.add_metric((model, name), count)
        reasoning.add_metric((model,), one.reasoning)
        cost.add_metric((model,), one.cost_nano / _NANO)
        first.add_metric((model,), _cumulated(one.first_token), one.first_token.total)
        took.add_metric((model,), _cumulated(one.took), one.took.total)
    yield from (tokens, reasoning, cost, first, took)


def _cumulated(times: Times) -> list[tuple[str, float]]:
    """Buckets as Prometheus wants them: each with all below it."""
    bounds = [str(float(bound)) for bound in _BOUNDS] + ["+Inf"]
    out, count = [], 0
    for bound, more in zip(bounds, times.buckets, strict=True):
        count += more
        out.append((bound, float(count)))
    return out


def _without_parameters(attempts: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """Routes of sandbox models without the parameters of their calls."""
    sums: dict[tuple[str, str], int] = {}
    for (route, outcome), count in attempts.items():
        key = (route.partition("?")[0], outcome)
        sums[key] = sums.get(key, 0) + count
    return sums
