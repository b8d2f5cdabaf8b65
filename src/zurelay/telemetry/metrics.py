"""What Prometheus scrapes: every series of the gateway in one registry of its own.

Label children are kept, since looking one up costs four times what counting on it costs. Labels
hold only endpoints, public model ids without parameters, routes and fixed words; never a key, a
user or a prompt. Knows what is counted, not why: the callers decide that.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt

CONTENT_TYPE = CONTENT_TYPE_LATEST
OTHER = "other"
"""The label of models this gateway does not serve, so that strangers cannot make series."""

_MOST_ROUTES = 5_000
_NANO = 1_000_000_000
_TIMES = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_SHORT_TIMES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)
_CLASSES = ("input", "output")
_RARE_CLASSES = ("cached_input", "cache_write", "cache_write_long", "audio_input", "audio_output")
"""Token classes that most models never count; their series begin when they are first seen."""


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """How the store keeps up; read at each scrape.

    Attributes:
        pending: records that are not durable yet.
        lag_s: age in seconds of the oldest durable record the request log does not show yet.
        spooled: records waiting in the local spool while the database is away.
        last_commit: Unix time of the last commit, 0 before the first.
        commits: commits so far.
        refused: requests refused so far because the store could not take them.
    """

    pending: int = 0
    lag_s: float = 0.0
    spooled: int = 0
    last_commit: float = 0.0
    commits: int = 0
    refused: int = 0


class _Series:
    """The children of one endpoint and model."""

    __slots__ = ("cost_nano", "first_token", "label", "outcomes", "reasoning", "tokens", "total")

    def __init__(
        self,
        label: str,
        first_token: Histogram,
        total: Histogram,
        tokens: dict[str, Counter],
        reasoning: Counter,
    ) -> None:
        self.label = label
        self.first_token = first_token
        self.total = total
        self.tokens = tokens
        self.reasoning = reasoning
        self.outcomes: dict[tuple[str, int], Counter] = {}
        self.cost_nano = 0


class Metrics:
    """All counters of one process. Not thread-safe for `request_finished`: call it on the loop.

    Args:
        version: of this program, for `zurelay_build_info`.
    """

    def __init__(self, version: str) -> None:
        # A start time beside each series would double them.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._models: frozenset[str] = frozenset()
        self._series: dict[tuple[str, str], _Series] = {}
        self._attempts_seen: dict[tuple[str, str], Counter] = {}
        self._read_store: Callable[[], StoreHealth] | None = None
        self._define()
        self._build.labels(version).set(1)
        ProcessCollector(registry=self.registry)
        self.registry.register(_Exact(self))

    def _define(self) -> None:
        registry = self.registry
        self._requests = Counter(
            "zurelay_requests",
            "Requests with a valid key, by how they ended.",
            ("endpoint", "model", "status", "http_status"),
            registry=registry,
        )
        self._tokens = Counter(
            "zurelay_tokens",
            "Tokens billed, by class; classes never overlap.",
            ("model", "class"),
            registry=registry,
        )
        self._reasoning = Counter(
            "zurelay_reasoning_tokens",
            "Output tokens that were thinking; part of class output.",
            ("model",),
            registry=registry,
        )
        self._first_token = Histogram(
            "zurelay_first_token_seconds",
            "From the request to its first token, answered requests only.",
            ("model",),
            buckets=_TIMES,
            registry=registry,
        )
        self._total = Histogram(
            "zurelay_request_seconds",
            "From the request to its last byte.",
            ("model",),
            buckets=_TIMES,
            registry=registry,
        )
        self._attempts = Counter(
            "zurelay_attempts",
            "Tries at a route, by outcome: ok, cancelled, or why it failed.",
            ("route", "outcome"),
            registry=registry,
        )
        self._invalid_keys = Counter(
            "zurelay_invalid_keys", "Calls without a valid key.", registry=registry
        )
        self._repeats = Counter(
            "zurelay_idempotent_repeats",
            "Repeats of a request with the same Idempotency-Key that got its answer.",
            ("answer",),
            registry=registry,
        )
        self._streams = Gauge("zurelay_open_streams", "Open event streams.", registry=registry)
        self._inflight = Gauge(
            "zurelay_inflight_requests", "Requests under way.", registry=registry
        )
        self._inflight_bytes = Gauge(
            "zurelay_inflight_body_bytes", "Request bodies held in memory.", registry=registry
        )
        self._settle = Histogram(
            "zurelay_settle_seconds",
            "From the end of an answer to its durable record.",
            buckets=_SHORT_TIMES,
            registry=registry,
        )
        self._lag = Histogram(
            "zurelay_event_loop_lag_seconds",
            "How late a timer of the event loop rings.",
            buckets=_SHORT_TIMES,
            registry=registry,
        )
        self._config = Gauge(
            "zurelay_config_info", "The configuration in force.", ("hash",), registry=registry
        )
        self._reload_failures = Counter(
            "zurelay_config_reload_failures",
            "Changed configurations that had faults and were not used.",
            registry=registry,
        )
        self._build = Gauge(
            "zurelay_build_info", "The program that runs.", ("version",), registry=registry
        )

    # -- what the rest of the program tells ---------------------------------------------------

    def config_in_force(self, config_hash: str, models: Collection[str]) -> None:
        """A configuration is in force: its hash, and which public model ids may be labels."""
        self._models = frozenset(models)
        self._config.clear()
        self._config.labels(config_hash).set(1)

    def reload_failed(self) -> None:
        """A new configuration had faults; the old one stays in force."""
        self._reload_failures.inc()

    def request_finished(
        self,
        endpoint: str,
        model: str,
        status_word: str,
        http_status: int,
        usage: Usage | None,
        cost_nano: int,
        first_token_s: float | None,
        total_s: float,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        """Count a request that is over.

        Args:
            endpoint: path pattern, such as `/v1/chat/completions`.
            model: public id of the model that answered, of the one asked for where none did;
                parameters are cut off, strangers count as `other`.
            status_word: `ok`, `error` or `client_closed`.
            http_status: what the caller got.
            usage: what is billed; None for nothing.
            cost_nano: nano-dollars charged.
            first_token_s: seconds to the first token, None if none came.
            total_s: seconds to the last byte.
            attempts: every try, as the request log keeps them.
        """
        series = self._series.get((endpoint, model)) or self._find(endpoint, model)
        outcome = series.outcomes.get((status_word, http_status))
        if outcome is None:
            outcome = self._requests.labels(endpoint, series.label, status_word, str(http_status))
            series.outcomes[status_word, http_status] = outcome
        outcome.inc()
        series.total.observe(total_s)
        if first_token_s is not None:
            series.first_token.observe(first_token_s)
        series.cost_nano += cost_nano
        if usage is not None:
            self._count_tokens(series, usage)
        for attempt in attempts:
            self._count_attempt(attempt)

    def invalid_key(self) -> None:
        """A call came without a valid key."""
        self._invalid_keys.inc()

    def repeated(self, *, running: bool) -> None:
        """A request was given the answer of an earlier one, which runs or is finished."""
        self._repeats.labels("running" if running else "finished").inc()

    def request_started(self) -> None:
        """A request is under way; `request_left` follows."""
        self._inflight.inc()

    def request_left(self) -> None:
        """A request is under way no more."""
        self._inflight.dec()

    def stream_opened(self) -> None:
        """An event stream opened; `stream_closed` follows."""
        self._streams.inc()

    def stream_closed(self) -> None:
        """An event stream closed."""
        self._streams.dec()

    def settled(self, seconds: float) -> None:
        """A record became durable so long after its answer ended."""
        self._settle.observe(seconds)

    def loop_lag(self, seconds: float) -> None:
        """A timer of the event loop rang so late."""
        self._lag.observe(seconds)

    def watch_inflight_bytes(self, read: Callable[[], float]) -> None:
        """Say who knows how many bytes of bodies are in memory; asked at each scrape."""
        self._inflight_bytes.set_function(read)

    def watch_store(self, read: Callable[[], StoreHealth]) -> None:
        """Say who knows how the store keeps up; asked at each scrape."""
        self._read_store = read

    def render(self) -> bytes:
        """The text of a scrape; its content type is `CONTENT_TYPE`."""
        return generate_latest(self.registry)

    # -- inside ----------------------------------------------------------------------------------

    def model_label(self, model: str) -> str:
        """The label of a model: its id without parameters, or `other`."""
        name = model.partition("?")[0]
        return name if name in self._models else OTHER

    def costs(self) -> Iterable[tuple[str, int]]:
        """Nano-dollars charged so far by model label; exact."""
        sums: dict[str, int] = {}
        for (_, model), series in self._series.items():
            sums[model] = sums.get(model, 0) + series.cost_nano
        return sums.items()

    def store_health(self) -> StoreHealth | None:
        """What the store says of itself; None while nobody watches it."""
        return self._read_store() if self._read_store is not None else None

    def _find(self, endpoint: str, model: str) -> _Series:
        label = self.model_label(model)
        series = self._series.get((endpoint, label))
        if series is None:
            series = _Series(
                label,
                first_token=self._first_token.labels(label),
                total=self._total.labels(label),
                tokens={name: self._tokens.labels(label, name) for name in _CLASSES},
                reasoning=self._reasoning.labels(label),
            )
            self._series[endpoint, label] = series
        return series

    def _count_tokens(self, series: _Series, usage: Usage) -> None:
        tokens = series.tokens
        if usage.input:
            tokens["input"].inc(usage.input)
        if usage.output:
            tokens["output"].inc(usage.output)
        if usage.reasoning:
            series.reasoning.inc(usage.reasoning)
        for name in _RARE_CLASSES:
            if count := getattr(usage, name):
                if name not in tokens:
                    tokens[name] = self._tokens.labels(series.label, name)
                tokens[name].inc(count)

    def _count_attempt(self, attempt: Attempt) -> None:
        outcome = attempt.reason or attempt.status
        child = self._attempts_seen.get((attempt.route, outcome))
        if child is None:
            route = attempt.route.partition("?")[0]
            if len(self._attempts_seen) >= _MOST_ROUTES:
                route = OTHER
            child = self._attempts.labels(route, outcome)
            self._attempts_seen[route, outcome] = child
        child.inc()


class _Exact(Collector):
    """Series that are kept elsewhere and read at each scrape."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        cost = CounterMetricFamily("zurelay_cost_usd", "Charged, in USD.", labels=("model",))
        for model, nano in self._metrics.costs():
            cost.add_metric((model,), nano / _NANO)
        yield cost
        store = self._metrics.store_health()
        if store is not None:
            yield from _store_families(store)


def _store_families(store: StoreHealth) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "zurelay_store_pending", "Records that are not durable yet.", store.pending
    )
    yield GaugeMetricFamily(
        "zurelay_store_lag_seconds", "How far the request log is behind.", store.lag_s
    )
    yield GaugeMetricFamily(
        "zurelay_store_spooled", "Records that wait in the local spool.", store.spooled
    )
    yield GaugeMetricFamily(
        "zurelay_store_last_commit_timestamp_seconds", "Last commit.", store.last_commit
    )
    yield CounterMetricFamily("zurelay_store_commits", "Commits.", store.commits)
    yield CounterMetricFamily(
        "zurelay_store_refused", "Requests the store could not take.", store.refused
    )
