import pytest

from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt, RequestRecord
from zurelay.telemetry import logs
from zurelay.telemetry.metrics import Metrics
from zurelay.telemetry.requests import RequestObserver


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[RequestRecord]:
    found: list[RequestRecord] = []
    monkeypatch.setattr(logs._requests, "write", found.append)
    return found


def finished(**fields: object) -> tuple[str, RequestRecord]:
    metrics = Metrics("1")
    metrics.config_in_force("", ("asked", "other-model"))
    record = RequestRecord("req_1", 1.0, "default", "key_1", "/v1/chat/completions", "asked")
    for name, value in fields.items():
        setattr(record, name, value)
    RequestObserver(metrics).finished(record)
    return metrics.render().decode(), record


def test_a_request_is_counted_and_written_once(written: list[RequestRecord]) -> None:
    text, record = finished(
        status="ok",
        http_status=200,
        usage=Usage(3, output=4),
        cost=2_000_000_000,
        first_token_ms=1500.0,
        duration_ms=2500.0,
        attempts=[Attempt("p:asked", 1, "asked", "ok", 0.0)],
    )
    assert written == [record]
    assert 'status="ok"} 1.0' in text
    assert 'zurelay_first_token_seconds_sum{model="asked"} 1.5' in text
    assert 'zurelay_request_seconds_sum{model="asked"} 2.5' in text
    assert 'zurelay_cost_usd_total{model="asked"} 2.0' in text
    assert 'zurelay_attempts_total{outcome="ok",route="p:asked"} 1.0' in text


def test_a_charge_in_doubt_is_counted_by_why(written: list[RequestRecord]) -> None:
    text, _ = finished(status="ok", cost_estimated=True, unpriced=("model",), implausible=True)
    for why in ("estimated", "unpriced", "implausible"):
        assert f'zurelay_charged_in_doubt_total{{why="{why}"}} 1.0' in text
    assert "charged_in_doubt_total{" not in finished(status="ok")[0]


def test_it_counts_for_the_model_that_answered(written: list[RequestRecord]) -> None:
    text, _ = finished(status="ok", http_status=200, answered_by="other-model", duration_ms=1.0)
    assert 'zurelay_request_seconds_count{model="other-model"} 1.0' in text
    assert 'model="asked"' not in text


def test_a_failed_request_counts_for_the_model_asked_for(written: list[RequestRecord]) -> None:
    text, _ = finished(status="error", http_status=502)
    assert 'http_status="502",model="asked",status="error"} 1.0' in text
    assert 'zurelay_first_token_seconds_count{model="asked"} 0.0' in text


def test_streams_are_counted_while_they_are_open(written: list[RequestRecord]) -> None:
    metrics = Metrics("1")
    observer = RequestObserver(metrics)
    observer.stream_opened()
    observer.stream_opened()
    observer.stream_closed()
    assert b"zurelay_open_streams 1.0" in metrics.render()
