import pytest
import typer

from zurelay.cli.moments import moment, span

NOW = 1_795_953_600.0


def test_moments_are_dates_or_times_ago() -> None:
    assert moment(None, NOW, "--since") is None
    assert moment("2026-11-29", NOW, "--since") == NOW - 43_200
    assert moment("2h", NOW, "--since") == NOW - 7200
    assert moment("1w", NOW, "--since") == NOW - 7 * 86_400
    for text in ("soon", "2026-13-01", "5m", ""):
        with pytest.raises(typer.BadParameter):
            moment(text, NOW, "--since")


def test_spans_are_hours_days_weeks_or_nothing() -> None:
    assert [span(text, "--overlap") for text in ("0", "2h", "1d", "1w")] == [
        0,
        7200,
        86_400,
        7 * 86_400,
    ]
    with pytest.raises(typer.BadParameter):
        span("1", "--overlap")
