"""`zurelay auto explain`: the ranking of a request that is never sent."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Run
from zurelay.store.engine import open_store
from zurelay.store.keys import list_keys

CONFIG = """
[auto]
tiers = { small = "light", large = "strong" }
exclude = ["barred"]
[sandbox]
enabled = false
[providers.here]
kind = "groq"
base_url = "http://127.0.0.1:9/v1"
api_key = "k"
catalogue = false
[models.small]
routes = ["here"]
price = { input = "0.10", output = "0.50" }
[models.large]
routes = ["here"]
reasoning = { levels = ["low", "high"] }
price = { input = "4.00", output = "20.00" }
[models.barred]
routes = ["here"]
price = "free"
"""
CHAT = {"messages": [{"role": "user", "content": "Hi"}], "reasoning_effort": "max"}


@pytest.fixture(autouse=True)
def configured(tmp_path: Path, run: Run) -> None:
    (tmp_path / "zurelay.toml").write_text(CONFIG, encoding="utf-8")


def written(folder: Path, body: object) -> str:
    path = folder / "request.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    return str(path)


def test_the_ranking_is_a_table_with_its_reason(run: Run, tmp_path: Path) -> None:
    ran = run("auto", "explain", written(tmp_path, {"model": "whatever", **CHAT}))
    assert (ran.code, ran.err) == (0, "")
    assert "tier frontier for effort max" in ran.out.lower()
    assert ran.out.index("large") < ran.out.index("small")
    assert "excluded by the operator" in ran.out


def test_it_is_json_for_programs_with_the_effort_of_each(run: Run, tmp_path: Path) -> None:
    view = json.loads(run("auto", "explain", "--json", written(tmp_path, CHAT)).out)
    assert [one["model"] for one in view["ranking"]] == ["large", "small"]
    assert view["ranking"][0]["effort"] == "high"
    assert float(view["ranking"][0]["expected_cost_usd"]) > 0
    assert view["ruled_out"] == {"excluded by the operator": ["barred"]}


def test_a_body_comes_from_stdin_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in ((), ("-",)):
        given = SimpleNamespace(buffer=io.BytesIO(json.dumps(CHAT).encode()))
        monkeypatch.setattr(sys, "stdin", given)
        assert run("auto", "explain", *arguments).code == 0


@pytest.mark.parametrize(
    ("body", "options", "tier"),
    [
        ({"input": "Hi", "reasoning": {"effort": "high"}}, (), "strong"),
        (
            {**CHAT, "max_tokens": 5, "output_config": {"effort": "low"}, "reasoning_effort": None},
            (),
            "light",
        ),
        ({"messages": CHAT["messages"], "max_tokens": 5}, ("--endpoint", "messages"), "light"),
        (CHAT, ("--endpoint", "chat"), "frontier"),
    ],
)
def test_bodies_of_every_endpoint_are_read(
    body: dict[str, object], options: tuple[str, ...], tier: str, run: Run, tmp_path: Path
) -> None:
    ran = run("auto", "explain", "--json", *options, written(tmp_path, body))
    assert json.loads(ran.out)["tier"] == tier


def test_a_key_narrows_what_is_explained(run: Run, tmp_path: Path) -> None:
    run("keys", "create", "alice", "--models", "small")
    store = open_store(tmp_path / "zurelay-data")
    with store.read() as connection:
        assert [key.name for key in list_keys(connection)] == ["alice"]
    store.close()
    ran = run("auto", "explain", "--json", "--key", "alice", written(tmp_path, CHAT))
    assert [one["model"] for one in json.loads(ran.out)["ranking"]] == ["small"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ([], "no JSON object"),
        ({"messages": []}, "messages"),
        ({**CHAT, "models": ["nothing"]}, "does not exist"),
        ({**CHAT, "models": ["barred"]}, "has no model left"),
    ],
)
def test_what_a_caller_would_be_refused_is_told_in_one_line(
    body: object, told: str, run: Run, tmp_path: Path
) -> None:
    ran = run("auto", "explain", written(tmp_path, body))
    assert (ran.code, ran.out) == (1, "")
    assert told in ran.err
    assert ran.err.count("\n") == 1


def test_an_endpoint_that_there_is_not_is_a_wrong_call(run: Run, tmp_path: Path) -> None:
    assert run("auto", "explain", "--endpoint", "x", written(tmp_path, CHAT)).code == 2
    assert run("auto", "explain", "missing.json").code == 1
