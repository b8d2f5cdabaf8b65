import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.plan.made import route, served, table
from tests.served import Served
from zurelay.cli.routes import Target, target
from zurelay.cli.terminal import Failed
from zurelay.plan.report import Report, Standing
from zurelay.plan.view import routes_view

HERE = "http://127.0.0.1:8123"
TOKEN = "zka-x"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder that a gateway runs on."""
    (tmp_path / "admin-token").write_text(f"zka-local\n{HERE}\n")
    return tmp_path


def test_the_gateway_on_the_data_folder_is_asked(data: Path, tmp_path: Path) -> None:
    assert target({}, data, None) == Target(HERE, "zka-local")
    assert target({"ZURELAY_BASE_URL": f"{HERE}/v1/"}, data, None) == Target(HERE, "zka-local")
    assert target({}, data, 8123) == Target(HERE, "zka-local")
    assert target({}, tmp_path / "other", None) is None


def test_a_named_gateway_is_asked_with_the_token_of_the_environment(data: Path) -> None:
    environ = {"ZURELAY_ADMIN_TOKEN": TOKEN, "ZURELAY_BASE_URL": "https://far.example/v1"}
    assert target(environ, data, None) == Target("https://far.example", TOKEN)
    assert target(environ, data, 9) == Target("http://127.0.0.1:9", TOKEN)
    assert target({"ZURELAY_ADMIN_TOKEN": TOKEN}, data, None) == Target(HERE, TOKEN)
    assert target({"ZURELAY_ADMIN_TOKEN": TOKEN}, data / "x", None) == Target(
        "http://127.0.0.1:8000", TOKEN
    )


def test_the_folders_token_is_sent_to_nobody_else(data: Path) -> None:
    with pytest.raises(Failed, match="ZURELAY_ADMIN_TOKEN"):
        target({"ZURELAY_BASE_URL": "https://far.example"}, data, None)
    with pytest.raises(Failed, match="ZURELAY_ADMIN_TOKEN"):
        target({}, data, 9)


def test_routes_of_a_running_gateway_are_shown(run: Run, served: Served) -> None:
    data = str(served.folder / "zurelay-data")
    rows = json.loads(run("routes", "--data", data, "--json").out)
    assert {row["state"] for row in rows} == {"closed"}
    ran = run("routes", "--data", data, "--model", "sandbox/echo")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 2
    assert "sandbox/echo" in ran.out
    assert "no route of x" in run("routes", "--data", data, "--model", "x").err


def test_several_processes_are_shown_together_with_whom_that_leaves_out(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = [
        Report("j1", "gw:worker-1", {"p:u": Standing(in_flight=2)}),
        Report("j2", "gw:worker-2", {"p:u": Standing("open", "connection", 4.0, in_flight=3)}),
    ]

    def process(name: str, age_s: float, *, counted: bool = True) -> dict[str, object]:
        return {"id": name, "name": name, "age_s": age_s, "asked": False, "counted": counted}

    told: dict[str, Any] = {
        "data": routes_view(table(served("m", [route()])), reports),
        "processes": [process("a", 0.0), process("b", 4.6), process("c", 41.0, counted=False)],
        "store_away": False,
    }

    async def answer(*_: object) -> dict[str, Any]:
        return told

    monkeypatch.setattr("zurelay.cli.routes._ask", answer)
    ran = run("routes", "--data", str(data))
    assert "open in 1 of 2 (connection), 4 s" in ran.out
    assert "note: 2 processes together; the oldest report is 5 s old" in ran.err
    assert "note: c was last heard of 41 s ago and is left out" in ran.err
    told["processes"], told["store_away"] = [process("a", 0.0)], True
    assert "the asked process alone" in run("routes", "--data", str(data)).err
    del told["processes"], told["store_away"]  # as an older gateway answers
    del told["data"][0]["processes"], told["data"][0]["state_at"]
    ran = run("routes", "--data", str(data))
    assert (ran.err, "open (connection), 4 s" in ran.out) == ("", True)


def test_without_a_gateway_the_configured_routes_are_shown(run: Run) -> None:
    ran = run("routes", "-m", "sandbox/echo")
    assert ran.code == 0
    assert "unknown" in ran.out
    assert "no gateway runs" in ran.err


def test_a_gateway_that_is_gone_is_told(run: Run, data: Path, dead_port: int) -> None:
    (data / "admin-token").write_text(f"zka-local\nhttp://127.0.0.1:{dead_port}\n")
    ran = run("routes", "--data", str(data), "--json")
    assert {row["state"] for row in json.loads(ran.out)} == {"unknown"}
    assert f"http://127.0.0.1:{dead_port}" in ran.err


def test_a_token_that_is_refused_is_a_failure(
    run: Run, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZURELAY_ADMIN_TOKEN", TOKEN)
    monkeypatch.setenv("ZURELAY_BASE_URL", served.base_url)
    ran = run("routes")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "admin token" in ran.err
