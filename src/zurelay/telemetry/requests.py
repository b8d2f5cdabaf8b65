"""Hears of requests and writes them down twice: in the metrics and in the log."""

from zurelay.meter.record import RequestRecord
from zurelay.telemetry.logs import log_request
from zurelay.telemetry.metrics import Metrics


class RequestObserver:
    """The relay's observer."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self.started = metrics.request_started  # as they are: every request calls them
        self.left = metrics.request_left

    def stream_opened(self) -> None:
        """A stream's head was sent."""
        self._metrics.stream_opened()

    def stream_closed(self) -> None:
        """An open stream ended."""
        self._metrics.stream_closed()

    def finished(self, record: RequestRecord) -> None:
        """A request is over."""
        first_token_ms = record.first_token_ms
        self._metrics.request_finished(
            endpoint=record.endpoint,
            model=record.answered_by or record.model,
            status_word=record.status,
            http_status=record.http_status,
            usage=record.usage,
            cost_nano=record.cost,
            first_token_s=None if first_token_ms is None else first_token_ms / 1000,
            total_s=(record.duration_ms or 0.0) / 1000,
            attempts=record.attempts,
        )
        if record.cost_estimated:
            self._metrics.charged_in_doubt("estimated")
        if record.unpriced:
            self._metrics.charged_in_doubt("unpriced")
        if record.implausible:
            self._metrics.charged_in_doubt("implausible")
        log_request(record)
