import json
from pathlib import Path

import pytest

from bench import log_scale


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_both_databases_are_filled_and_asked(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_scale, "QUIET_S", 0.05)
    monkeypatch.setattr(log_scale, "DURABLE", "")
    log_scale.main(["--rows", "600", "--times", "2", "--only", database])
    small, large, kept = map(json.loads, capsys.readouterr().out.splitlines())
    assert [(one["database"], one["rows"]) for one in (small, large, kept)] == [
        (database, 600),
        (database, 1200),
        (database, 1200),
    ]
    assert small["rows_per_s"] > 0
    assert large["usage_hour_model"] == small["usage_hour_model"] > 0
    assert large["questions"]["one by its id"]["median_ms"] > 0
    assert kept["retention"]["deleted"] == 1200 * 2 // log_scale.DAYS
    assert kept["retention"]["write_ms_before"]["writes"] > 0


def test_the_script_is_part_of_the_package() -> None:
    assert Path(log_scale.__file__).name == "log_scale.py"
