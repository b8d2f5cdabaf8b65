import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt
from zurelay.telemetry.metrics import (
    CONTENT_TYPE,
    ContentHealth,
    Metrics,
    SharedHealth,
    StoreHealth,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "operate" / "metrics.md"
CHAT = "/v1/chat/completions"


def made(*models: str) -> Metrics:
    metrics = Metrics("1.2.3")
    metrics.config_in_force("abc", models)
    return metrics


def samples(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = text_string_to_metric_families(metrics.render().decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return samples(metrics).get((name, frozenset(labels.items())))


def finish(
    metrics: Metrics,
    model: str = "m",
    *,
    status: str = "ok",
    http_status: int = 200,
    usage: Usage | None = None,
    cost: int = 0,
    first: float | None = None,
    total: float = 1.0,
    attempts: tuple[Attempt, ...] = (),
) -> None:
    metrics.request_finished(CHAT, model, status, http_status, usage, cost, first, total, attempts)


def test_requests_are_counted_by_how_they_ended() -> None:
    metrics = made("m")
    finish(metrics)
    finish(metrics)
    finish(metrics, status="error", http_status=502)
    total = "zurelay_requests_total"
    assert value(metrics, total, endpoint=CHAT, model="m", status="ok", http_status="200") == 2
    assert value(metrics, total, endpoint=CHAT, model="m", status="error", http_status="502") == 1


def test_each_class_of_tokens_is_counted_once() -> None:
    metrics = made("m")
    finish(metrics, usage=Usage(1, 2, 3, 4, 5, 60, 7, reasoning=50))
    counted = {
        name: value(metrics, "zurelay_tokens_total", model="m", **{"class": name})
        for name in (
            "input",
            "cached_input",
            "cache_write",
            "cache_write_long",
            "audio_input",
            "output",
            "audio_output",
        )
    }
    assert list(counted.values()) == [1, 2, 3, 4, 5, 60, 7]
    assert value(metrics, "zurelay_reasoning_tokens_total", model="m") == 50


def test_classes_that_a_model_never_counts_make_no_series() -> None:
    metrics = made("m")
    finish(metrics, usage=Usage(1, output=2))
    assert b"cached_input" not in metrics.render()
    finish(metrics, usage=Usage(1, cached_input=3, output=2))
    finish(metrics, usage=Usage(1, cached_input=4, output=2))
    assert value(metrics, "zurelay_tokens_total", model="m", **{"class": "cached_input"}) == 7
    assert value(metrics, "zurelay_tokens_total", model="m", **{"class": "input"}) == 3


def test_cost_adds_up_exactly() -> None:
    metrics = made("m", "n")
    for _ in range(10):
        finish(metrics, cost=100_000_001)
    finish(metrics, "n", cost=5)
    metrics.request_finished("/v1/messages", "m", "ok", 200, None, 7, None, 1.0)
    assert value(metrics, "zurelay_cost_usd_total", model="m") == 1.000000017
    assert value(metrics, "zurelay_cost_usd_total", model="n") == 5e-9
    assert value(metrics, "zurelay_cost_usd_total", model="m") == 1.000000017


def test_times_are_observed_and_a_missing_first_token_is_not() -> None:
    metrics = made("m")
    finish(metrics, first=0.3, total=2.0)
    finish(metrics, first=None, total=4.0)
    assert value(metrics, "zurelay_first_token_seconds_count", model="m") == 1
    assert value(metrics, "zurelay_first_token_seconds_bucket", model="m", le="0.25") == 0
    assert value(metrics, "zurelay_first_token_seconds_bucket", model="m", le="0.5") == 1
    assert value(metrics, "zurelay_request_seconds_sum", model="m") == 6


def test_attempts_are_counted_by_route_and_outcome() -> None:
    metrics = made("m")
    attempts = (
        Attempt("a:x", 1, "m", "failed", 0.0, reason="rate_limited"),
        Attempt("b:x", 2, "m", "ok", 1.0),
    )
    finish(metrics, attempts=attempts)
    finish(metrics, attempts=attempts[1:])
    total = "zurelay_attempts_total"
    assert value(metrics, total, route="a:x", outcome="rate_limited") == 1
    assert value(metrics, total, route="b:x", outcome="ok") == 2


def test_parameters_of_a_model_are_no_part_of_the_label() -> None:
    metrics = made("sandbox/lorem")
    for tokens in range(3):
        route = f"sandbox:sandbox/lorem?tokens={tokens}"
        finish(
            metrics,
            f"sandbox/lorem?tokens={tokens}",
            attempts=(Attempt(route, 1, "sandbox/lorem", "ok", 0.0),),
        )
    assert b"tokens=" not in metrics.render()
    assert value(metrics, "zurelay_request_seconds_count", model="sandbox/lorem") == 3
    assert (
        value(metrics, "zurelay_attempts_total", route="sandbox:sandbox/lorem", outcome="ok") == 3
    )


def test_models_that_are_not_served_share_one_label() -> None:
    metrics = made("m")
    for number in range(50):
        finish(metrics, f"invented-{number}", status="error", http_status=404)
    assert b"invented" not in metrics.render()
    assert value(metrics, "zurelay_request_seconds_count", model="other") == 50


def test_a_reload_changes_the_models_and_the_hash() -> None:
    metrics = made("m")
    finish(metrics, "n")
    metrics.config_in_force("def", ("m", "n"))
    finish(metrics, "n")
    assert value(metrics, "zurelay_request_seconds_count", model="n") == 1
    assert value(metrics, "zurelay_config_info", hash="def") == 1
    assert value(metrics, "zurelay_config_info", hash="abc") is None
    metrics.reload_failed()
    assert value(metrics, "zurelay_config_reload_failures_total") == 1


def test_mails_and_webhooks_are_counted_by_how_they_ended() -> None:
    metrics = made()
    metrics.notice_tried("mail", "sent")
    metrics.notice_tried("mail", "failed")
    metrics.watch_outbox(lambda: 3)
    assert value(metrics, "zurelay_notices_total", kind="mail", outcome="sent") == 1
    assert value(metrics, "zurelay_notices_total", kind="mail", outcome="failed") == 1
    assert value(metrics, "zurelay_outbox_waiting") == 3


def test_gauges_follow_what_is_open() -> None:
    metrics = made()
    for told in (metrics.stream_opened, metrics.stream_opened, metrics.stream_closed):
        told()
    for told in (metrics.request_started, metrics.request_started, metrics.request_left):
        told()
    metrics.watch_inflight_bytes(lambda: 12345)
    assert value(metrics, "zurelay_open_streams") == 1
    assert value(metrics, "zurelay_inflight_requests") == 1
    assert value(metrics, "zurelay_inflight_body_bytes") == 12345


def test_the_store_is_asked_at_each_scrape() -> None:
    metrics = made()
    assert value(metrics, "zurelay_store_pending") is None
    pending = iter([3, 9])
    metrics.watch_store(
        lambda: StoreHealth(pending=next(pending), lag_s=0.5, last_commit=1e9, commits=7, refused=2)
    )
    assert value(metrics, "zurelay_store_pending") == 3
    told = samples(metrics)
    assert told["zurelay_store_pending", frozenset()] == 9
    assert told["zurelay_store_lag_seconds", frozenset()] == 0.5
    assert told["zurelay_store_last_commit_timestamp_seconds", frozenset()] == 1e9
    assert told["zurelay_store_commits_total", frozenset()] == 7
    assert told["zurelay_store_refused_total", frozenset()] == 2


def test_the_rest_is_counted() -> None:
    metrics = made()
    metrics.invalid_key()
    metrics.settled(0.002)
    metrics.loop_lag(0.02)
    assert value(metrics, "zurelay_invalid_keys_total") == 1
    assert value(metrics, "zurelay_settle_seconds_bucket", le="0.0025") == 1
    assert value(metrics, "zurelay_event_loop_lag_seconds_bucket", le="0.01") == 0
    assert value(metrics, "zurelay_build_info", version="1.2.3") == 1


def test_alerts_that_hold_are_told_by_kind() -> None:
    metrics = made()
    assert value(metrics, "zurelay_alerts_open", kind="disk") is None
    metrics.watch_alerts(lambda: {"disk": 2})
    assert value(metrics, "zurelay_alerts_open", kind="disk") == 2


def test_file_descriptors_and_memory_of_the_process_are_there() -> None:
    assert (value(made(), "process_open_fds") or 0) > 0
    assert (value(made(), "process_resident_memory_bytes") or 0) > 0


def test_two_registries_do_not_share_anything() -> None:
    one, other = made("m"), made("m")
    finish(one)
    assert value(other, "zurelay_request_seconds_count", model="m") is None


def test_the_content_type_is_the_one_of_the_text_format() -> None:
    assert CONTENT_TYPE.startswith("text/plain; version=")


def test_the_documentation_names_every_series_and_no_other() -> None:
    metrics = made("m")
    metrics.watch_store(StoreHealth)
    metrics.watch_shared(SharedHealth)
    metrics.watch_contents(ContentHealth)
    finish(metrics, usage=Usage(1), first=1.0, attempts=(Attempt("r", 1, "m", "ok", 0.0),))
    shown = {
        line.split()[2]
        for line in metrics.render().decode().split("\n")
        if line.startswith("# TYPE zurelay_")
    }
    documented = set(re.findall(r"^\| `(zurelay_\w+)", DOCUMENT.read_text("utf-8"), re.MULTILINE))
    assert documented == shown


def test_what_is_shared_is_told_only_where_something_is() -> None:
    metrics = made()
    assert "shared_state" not in metrics.render().decode()
    metrics.watch_shared(lambda: None)
    assert "shared_state" not in metrics.render().decode()
    metrics.watch_shared(lambda: SharedHealth(True, 3, asked=9, late=1, by_share=4, reconnects=2))
    assert value(metrics, "zurelay_shared_state_up") == 1
    assert value(metrics, "zurelay_shared_state_nodes") == 3
    assert value(metrics, "zurelay_shared_state_connections_total") == 2
    assert value(metrics, "zurelay_limits_checked_total", how="asked") == 9
    assert value(metrics, "zurelay_limits_checked_total", how="late") == 1
    assert value(metrics, "zurelay_limits_checked_total", how="by_share") == 4
