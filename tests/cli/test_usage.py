import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_log import NOON, logged, record
from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt

DAY = 86_400


@pytest.fixture
def data(tmp_path: Path) -> Path:
    found = tmp_path / "zurelay-data"
    other = Usage(input=1, output=2_000_000, reasoning=5)
    logged(
        found,
        [
            record(1),
            record(2),
            record(3, answered_by="cheap", usage=other, cost=1, cost_estimated=True),
            record(4, status="error", usage=None, cost=0, answered_by="cheap"),
        ],
    )
    return found


def test_usage_is_a_table_with_a_total(run: Run, data: Path) -> None:
    lines = [line.split() for line in run("usage").out.split("\n") if line.strip()]
    assert lines[1] == ["gpt-6", "2", "0", "240", "40", "14", "0", "0.108798"]
    assert lines[2] == ["cheap", "2", "1", "1", "0", "2,000,000", "5", "0.000000001~"]
    assert lines[3] == ["total", "4", "1", "241", "40", "2,000,014", "5", "0.108798001~"]


def test_usage_is_json_for_programs(run: Run, data: Path) -> None:
    rows = json.loads(run("usage", "--json", "--by", "day").out)
    assert [row["day"] for row in rows] == ["2026-09-21"]
    assert rows[0]["requests"] == 4
    assert rows[0]["cost_usd"] == "0.108798001"
    assert rows[0]["tokens"]["output"] == 2_000_014


def test_usage_of_keys_tells_their_names(run: Run, data: Path) -> None:
    run("keys", "create", "alice")
    (key,) = json.loads(run("keys", "list", "--json").out)
    logged(data, [record(5, key=key["id"])])
    rows = json.loads(run("usage", "--by", "key", "--json").out)
    assert {row.get("name") for row in rows} == {None, f"alice ({key['id']})"}
    (row,) = json.loads(run("usage", "--key", "alice", "--json").out)
    assert row["requests"] == 1
    assert json.loads(run("usage", "--account", "default", "--json").out) == []
    names = {row.get("name") for row in json.loads(run("usage", "--by", "account", "--json").out)}
    assert names == {None}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--since", "2026-09-21"), 4),
        (("--since", "2026-09-22"), 0),
        (("--until", "2026-09-21"), 0),
        (("--since", "2026-09-20", "--until", "2026-09-22"), 4),
        (("--since", "1h"), 0),
    ],
)
def test_usage_is_narrowed_down_by_time(
    options: tuple[str, ...],
    found: int,
    run: Run,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("zurelay.cli.usage.time.time", lambda: NOON + 3 * DAY)
    rows = json.loads(run("usage", "--json", *options).out)
    assert sum(row["requests"] for row in rows) == found


def test_times_ago_count_back_from_now(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.cli.usage.time.time", lambda: NOON + 3 * DAY)
    for ago, found in (("71h", 0), ("73h", 4), ("4d", 4), ("1w", 4)):
        rows = json.loads(run("usage", "--json", "--since", ago).out)
        assert sum(row["requests"] for row in rows) == found, ago


def test_nothing_used_says_so(run: Run) -> None:
    run("keys", "create", "alice")
    ran = run("usage")
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing was used\n")


def test_usage_by_user_is_read_from_the_log(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "zurelay-data"
    logged(data, [record(1, user="[/b]ann"), record(2, user="[/b]ann"), record(3)])
    rows = json.loads(run("usage", "--by", "user", "--since", "2026-09-01", "--json").out)
    assert [(row["user"], row["requests"]) for row in rows] == [("[/b]ann", 2), (None, 1)]
    shown = run("usage", "--by", "user", "--since", "2026-09-01").out
    assert "[/b]ann" in shown
    assert "(none)" in shown
    ran = run("usage", "--by", "user", "--since", "1h")
    assert (ran.out, ran.err) == ("", "nothing was used\n")


def test_usage_by_provider_tells_what_it_asks_and_what_was_lost(run: Run, tmp_path: Path) -> None:
    attempts = [
        Attempt("bad:m", 1, "m", "failed", 0.0, 1.0, cost=5),
        Attempt("good:m", 2, "m", "ok", 1.0),
    ]
    made = record(1, attempts=attempts, cost=30, upstream_cost=20)
    logged(tmp_path / "zurelay-data", [made])
    rows = {r["provider"]: r for r in json.loads(run("usage", "--by", "provider", "--json").out)}
    assert rows["good"]["charged_usd"] == "0.00000003"
    assert rows["good"]["cost_usd"] == "0.00000002"
    assert rows["bad"]["lost_usd"] == "0.000000005"
    lines = run("usage", "--by", "provider").out.split("\n")
    assert "charged USD" in lines[0]
    assert run("usage", "--by", "provider", "--key", "x").code == 2
    assert run("usage", "--by", "colour").code == 2
