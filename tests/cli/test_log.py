import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Run
from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt, AutoChoice, RankedModel, RequestRecord
from zurelay.store.engine import open_store
from zurelay.store.keys import list_keys
from zurelay.store.requests import add_requests

NOON = 1_790_000_000


def id_of(number: int) -> str:
    return f"req_{NOON * 1000 + number:012x}{number:020x}"


def record(number: int, **changes: object) -> RequestRecord:
    plain = {
        "id": id_of(number),
        "created": NOON + number / 1000,
        "account": "acct_1",
        "key": "key_1",
        "endpoint": "/v1/chat/completions",
        "model": "gpt-6",
        "status": "ok",
        "http_status": 200,
        "answered_by": "gpt-6",
        "usage": Usage(input=100, cached_input=20, output=7),
        "cost": 54_399_000,
        "first_token_ms": 210.0,
        "duration_ms": 1234.0,
    }
    return RequestRecord(**{**plain, **changes})  # type: ignore[arg-type]


def logged(data: Path, records: Sequence[RequestRecord]) -> None:
    store = open_store(data)
    with store.write() as connection:
        add_requests(connection, [(one, msgspec.json.encode(one)) for one in records])
    store.close()


FAILED = record(
    2,
    status="error",
    http_status=502,
    error="upstream_failed",
    answered_by=None,
    usage=None,
    cost=0,
    user="[/b]\x1b[31mmallory",
    attempts=[
        Attempt(
            route="openai:gpt-6-2026",
            number=1,
            model="gpt-6",
            status="failed",
            start_ms=1.0,
            end_ms=900.0,
            reason="overloaded",
            http_status=503,
            detail="try \x1b[2Jlater",
        )
    ],
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    found = tmp_path / "zurelay-data"
    logged(found, [record(1), FAILED, record(3, model="m", answered_by="n", cost_estimated=True)])
    return found


def test_the_log_is_a_table_newest_first(run: Run, data: Path) -> None:
    ran = run("log")
    heading, *lines = ran.out.rstrip().split("\n")
    assert heading.split()[:3] == ["time", "id", "status"]
    assert [id_of(n) in line for n, line in zip((3, 2, 1), lines, strict=True)] == [True] * 3
    assert "09-21 14:13:20" in lines[2]
    assert "120" in lines[2]
    assert "0.054399" in lines[2]
    assert "1.23" in lines[2]
    assert "error upstream_failed" in lines[1]
    assert "m > n" in lines[0]
    assert "0.054399~" in lines[0]


def test_the_log_is_json_for_programs(run: Run, data: Path) -> None:
    rows = json.loads(run("log", "--json").out)
    assert [row["id"] for row in rows] == [id_of(3), id_of(2), id_of(1)]
    assert rows[2]["cost_usd"] == "0.054399"
    assert rows[1]["attempts"][0]["route_id"] == "openai:gpt-6-2026"


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (("--status", "error"), [2]),
        (("--model", "n"), [3]),
        (("-n", "2"), [3, 2]),
        (("--status", "ok", "--model", "gpt-6"), [1]),
    ],
)
def test_the_log_is_narrowed_down(
    options: tuple[str, ...], numbers: list[int], run: Run, data: Path
) -> None:
    rows = json.loads(run("log", "--json", *options).out)
    assert [row["id"] for row in rows] == [id_of(number) for number in numbers]


def test_the_log_of_a_key_is_found_by_its_name(run: Run, data: Path) -> None:
    run("keys", "create", "alice")
    store = open_store(data)
    with store.read() as connection:
        (key,) = list_keys(connection)
    store.close()
    logged(data, [record(4, key=key.id)])
    assert [row["id"] for row in json.loads(run("log", "--key", "alice", "--json").out)] == [
        id_of(4)
    ]
    assert "alice" in run("log").out


def test_one_request_is_shown_whole_and_harmless(run: Run, data: Path) -> None:
    ran = run("log", id_of(2))
    assert ran.code == 0
    assert "upstream_failed" in ran.out
    assert "openai:gpt-6-2026" in ran.out
    assert "overloaded" in ran.out
    assert "[/b] [31mmallory" in ran.out
    assert "\x1b" not in ran.out


def test_one_request_is_json_for_programs(run: Run, data: Path) -> None:
    found = json.loads(run("log", id_of(1), "--json").out)
    assert found["usage"]["prompt_tokens"] == 120


@pytest.mark.parametrize("wanted", [id_of(9), "nonsense", ""])
def test_a_request_that_is_none_is_a_failure(wanted: str, run: Run, data: Path) -> None:
    ran = run("log", wanted)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)


def test_a_smart_choice_is_shown_with_its_ranking(run: Run, tmp_path: Path) -> None:
    choice = AutoChoice(
        "strong",
        "Tier strong for effort high: gpt-6 (expected $0.0123) is the cheapest of 4 that will do.",
        {"kind": "code", "tokens": 300, "signs": ["code", "tools"], "schema": True},
        [RankedModel("gpt-6", "strong", 12_300_000), RankedModel("house", "unrated")],
    )
    logged(tmp_path / "zurelay-data", [record(1, model="zurelay-auto", auto=choice)])
    out = run("log", id_of(1)).out
    for part in (choice.reason, "kind code, tokens 300, signs code/tools, schema yes"):
        assert part in " ".join(out.split())
    assert "0.0123" in out
    assert "unknown" in out
    assert json.loads(run("log", id_of(1), "--json").out)["auto"]["tier"] == "strong"
