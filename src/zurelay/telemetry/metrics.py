"""What Prometheus scrapes: every series of the gateway in one registry of its own.

What every request counts on is plain numbers (`series.py`), turned into families at a scrape: a
client library's own counters cost a lock each. Labels hold only endpoints, public model ids without
parameters, routes and fixed words; never a key, a user or a prompt. Knows what is counted, not
why: the callers decide that.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
from zurelay.telemetry.series import Series, families

CONTENT_TYPE = CONTENT_TYPE_LATEST
OTHER = "other"
"""The label of models this gateway does not serve, so that strangers cannot make series."""

_MOST_ROUTES = 5_000
_SHORT_TIMES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)


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


@dataclass(frozen=True, slots=True)
class SharedHealth:
    """How sharing with other nodes goes; read at each scrape.

    Attributes:
        up: the server answers.
        nodes: how many are alive, as last seen.
        asked: requests whose limits were asked for there.
        late: those that were not answered in time.
        by_share: requests decided by this node's share alone.
        reconnects: connections opened so far.
    """

    up: bool = False
    nodes: int = 1
    asked: int = 0
    late: int = 0
    by_share: int = 0
    reconnects: int = 0


@dataclass(frozen=True, slots=True)
class ContentHealth:
    """How the storing of messages goes; read at each scrape.

    Attributes:
        stored, dropped: requests whose messages were stored, or given up, so far.
        held: bytes of messages in memory.
        waiting: requests whose messages are not written yet.
    """

    stored: int = 0
    dropped: int = 0
    held: int = 0
    waiting: int = 0


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
        self._series: dict[tuple[str, str], Series] = {}
        self._attempts: dict[tuple[str, str], int] = {}
        self._doubts: dict[str, int] = {}
        self._open_streams = 0
        self._under_way = 0
        self._read_store: Callable[[], StoreHealth] | None = None
        self._read_shared: Callable[[], SharedHealth | None] | None = None
        self._read_contents: Callable[[], ContentHealth] | None = None
        self._read_alerts: Callable[[], Mapping[str, int]] = dict
        self._define()
        self._build.labels(version).set(1)
        ProcessCollector(registry=self.registry)
        self.registry.register(_Exact(self))

    def _define(self) -> None:
        registry = self.registry
        self._invalid_keys = Counter(
            "zurelay_invalid_keys", "Calls without a valid key.", registry=registry
        )
        self._repeats = Counter(
            "zurelay_idempotent_repeats",
            "Repeats of a request with the same Idempotency-Key that got its answer.",
            ("answer",),
            registry=registry,
        )
        streams = Gauge("zurelay_open_streams", "Open event streams.", registry=registry)
        streams.set_function(lambda: self._open_streams)
        inflight = Gauge("zurelay_inflight_requests", "Requests under way.", registry=registry)
        inflight.set_function(lambda: self._under_way)
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
        self._notices = Counter(
            "zurelay_notices",
            "Tries to send a mail or webhook, by how they ended.",
            ("kind", "outcome"),
            registry=registry,
        )
        self._outbox = Gauge(
            "zurelay_outbox_waiting",
            "Mails and webhooks to be sent, told by the node that sends them.",
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

    def notice_tried(self, kind: str, outcome: str) -> None:
        """A mail or webhook was tried; threads may tell."""
        self._notices.labels(kind, outcome).inc()

    def watch_outbox(self, read: Callable[[], float]) -> None:
        """Say who knows how much waits in the outbox; asked at each scrape."""
        self._outbox.set_function(read)

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
        series.count(status_word, http_status, usage, cost_nano, first_token_s, total_s)
        for attempt in attempts:
            key = (attempt.route, attempt.reason or attempt.status)
            seen = self._attempts
            if key in seen or len(seen) < _MOST_ROUTES:
                seen[key] = seen.get(key, 0) + 1
            else:
                other = (OTHER, key[1])
                seen[other] = seen.get(other, 0) + 1

    def charged_in_doubt(self, why: str) -> None:
        """Something of a request's charge is not as the provider counted and the price list says.

        `why`: `estimated`, `unpriced` or `implausible`.
        """
        self._doubts[why] = self._doubts.get(why, 0) + 1

    def invalid_key(self) -> None:
        """A call came without a valid key."""
        self._invalid_keys.inc()

    def repeated(self, *, running: bool) -> None:
        """A request was given the answer of an earlier one, which runs or is finished."""
        self._repeats.labels("running" if running else "finished").inc()

    def request_started(self) -> None:
        """A request is under way; `request_left` follows."""
        self._under_way += 1

    def request_left(self) -> None:
        """A request is under way no more."""
        self._under_way -= 1

    def stream_opened(self) -> None:
        """An event stream opened; `stream_closed` follows."""
        self._open_streams += 1

    def stream_closed(self) -> None:
        """An event stream closed."""
        self._open_streams -= 1

    def settled(self, seconds: float) -> None:
        """A group of records became durable so long after the answer of its first one ended."""
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

    def watch_shared(self, read: Callable[[], SharedHealth | None]) -> None:
        """Say who knows how sharing goes; asked at each scrape. None: nothing is shared."""
        self._read_shared = read

    def watch_alerts(self, read: Callable[[], Mapping[str, int]]) -> None:
        """Say who knows how many of the operators' alerts hold, by kind; asked at each scrape."""
        self._read_alerts = read

    def watch_contents(self, read: Callable[[], ContentHealth]) -> None:
        """Say who knows how the storing of messages goes; asked at each scrape."""
        self._read_contents = read

    def render(self) -> bytes:
        """The text of a scrape; its content type is `CONTENT_TYPE`."""
        return generate_latest(self.registry)

    # -- inside ----------------------------------------------------------------------------------

    def model_label(self, model: str) -> str:
        """The label of a model: its id without parameters, or `other`."""
        name = model.partition("?")[0]
        return name if name in self._models else OTHER

    def families(self) -> Iterator[Metric]:
        """What requests counted, as families of a scrape."""
        yield from families(self._series, self._attempts)
        doubts = CounterMetricFamily(
            "zurelay_charged_in_doubt",
            "Requests of which something was estimated, had no price, or was counted wrongly.",
            labels=("why",),
        )
        for why, count in self._doubts.items():
            doubts.add_metric((why,), count)
        yield doubts

    def store_health(self) -> StoreHealth | None:
        """What the store says of itself; None while nobody watches it."""
        return self._read_store() if self._read_store is not None else None

    def shared_health(self) -> SharedHealth | None:
        """How sharing goes; None where nothing is shared."""
        return self._read_shared() if self._read_shared is not None else None

    def open_alerts(self) -> Mapping[str, int]:
        """How many of the operators' alerts hold, by kind."""
        return self._read_alerts()

    def content_health(self) -> ContentHealth | None:
        """How the storing of messages goes; None while nobody watches it."""
        return self._read_contents() if self._read_contents is not None else None

    def _find(self, endpoint: str, model: str) -> Series:
        """The series of a model that may be a label, else those of all others."""
        key = (endpoint, self.model_label(model))
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = Series()
        return series


class _Exact(Collector):
    """Series that are kept elsewhere and read at each scrape."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics.families()
        store = self._metrics.store_health()
        if store is not None:
            yield from _store_families(store)
        shared = self._metrics.shared_health()
        if shared is not None:
            yield from _shared_families(shared)
        contents = self._metrics.content_health()
        if contents is not None:
            yield from _content_families(contents)
        alerts = GaugeMetricFamily(
            "zurelay_alerts_open", "Alerts of the operators that hold.", labels=("kind",)
        )
        for kind, count in self._metrics.open_alerts().items():
            alerts.add_metric((kind,), count)
        yield alerts


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


def _content_families(contents: ContentHealth) -> Iterator[Metric]:
    yield CounterMetricFamily(
        "zurelay_content_stored", "Requests whose messages were stored.", contents.stored
    )
    yield CounterMetricFamily(
        "zurelay_content_dropped",
        "Requests whose messages were to be stored and are not.",
        contents.dropped,
    )
    yield GaugeMetricFamily(
        "zurelay_content_held_bytes", "Messages in memory, to be stored.", contents.held
    )
    yield GaugeMetricFamily(
        "zurelay_content_waiting", "Requests whose messages wait to be written.", contents.waiting
    )


def _shared_families(shared: SharedHealth) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "zurelay_shared_state_up", "Whether the server for shared state answers.", int(shared.up)
    )
    yield GaugeMetricFamily(
        "zurelay_shared_state_nodes", "Nodes alive, as last seen.", shared.nodes
    )
    yield CounterMetricFamily(
        "zurelay_shared_state_connections", "Connections opened to it.", shared.reconnects
    )
    limits = CounterMetricFamily(
        "zurelay_limits_checked",
        "Requests with shared limits: asked for there, answered too late, decided by this node's"
        " share alone.",
        labels=("how",),
    )
    for how, count in (
        ("asked", shared.asked),
        ("late", shared.late),
        ("by_share", shared.by_share),
    ):
        limits.add_metric((how,), count)
    yield limits
