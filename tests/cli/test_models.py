import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from zurelay.cli.models import _tokens
from zurelay.store.engine import open_store
from zurelay.store.prices import PriceRow, set_price


def test_models_are_a_table(run: Run) -> None:
    lines = run("models").out.rstrip().split("\n")
    assert len(lines) == 14
    assert lines[1].split()[:3] == ["sandbox/echo", "128k", "10k"]
    (thinking,) = [line for line in lines if line.startswith("sandbox/reasoning")]
    assert "low medium* high" in thinking


def test_levels_are_a_table_of_their_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text(
        '[providers.moonshot]\nkind = "moonshot"\napi_key = "k"\n'
        '[models."house"]\nroutes = ["moonshot"]'
    )
    lines = {
        line.split()[0]: line.split()[1:] for line in run("models", "--reasoning").out.splitlines()
    }
    assert lines["sandbox/reasoning"][-2:] == ["medium", "off"]
    assert lines["kimi-k3"] == ["low", "high", "max", "low"]
    assert lines["sandbox/echo"] == ["none", "off"]
    assert lines["house"] == ["unknown"]


def test_models_are_json_for_programs(run: Run) -> None:
    rows = json.loads(run("models", "--json").out)
    assert rows[0]["id"] == "sandbox/echo"
    assert rows[0]["routes"] == ["sandbox:sandbox/echo"]
    assert rows[0]["price"]["input"] == "0.00"


def test_prices_are_those_of_the_file_with_mark_up_and_those_set_at_run_time(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "zurelay.toml").write_text(
        '[billing]\nmarkup = "2"\n[providers.p]\nkind = "groq"\napi_key = "k"\n'
        'catalogue = false\n[models.a]\nroutes = ["p"]\n[models.b]\nroutes = ["p"]\n'
        'price = { input = "1", output = "5" }'
    )
    store = open_store(tmp_path / "zurelay-data")
    with store.write() as connection:
        set_price(connection, PriceRow("a", "", '{"input": "3", "output": "4"}', "me", 0))
    store.close()
    rows = {row["id"]: row["price"] for row in json.loads(run("models", "--json").out)}
    assert (rows["a"]["input"], rows["b"]["input"]) == ("6.00", "2.00")


def test_a_server_of_ones_own_is_asked_for_its_models(
    run: Run, tmp_path: Path, sandbox: str
) -> None:
    (tmp_path / "zurelay.toml").write_text(
        f'[sandbox]\nenabled = false\n[providers.own]\nkind = "openai"\nbase_url = "{sandbox}"'
    )
    rows = json.loads(run("models", "--json").out)
    assert "own:sandbox/echo" in [route for row in rows for route in row["routes"]]


def test_a_server_that_is_away_is_noted(run: Run, tmp_path: Path, dead_port: int) -> None:
    (tmp_path / "zurelay.toml").write_text(
        f'[providers.own]\nkind = "ollama"\nbase_url = "http://127.0.0.1:{dead_port}/v1"'
    )
    ran = run("models", "--json")
    assert ran.code == 0
    assert "own told no models" in ran.err
    assert len(json.loads(ran.out)) == 13


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, ""), (512, "512"), (8_192, "8.19k"), (128_000, "128k"), (1_048_576, "1.05M")],
)
def test_token_counts_are_short(count: int | None, text: str) -> None:
    assert _tokens(count) == text
