import json

import pytest

from tests.cli.conftest import Run


def test_models_and_providers_are_stopped_and_resumed(run: Run) -> None:
    run("keys", "create", "alice")
    ran = run("stop", "model", "sandbox/echo", "--note", "[/b]dear")
    assert (ran.code, ran.err) == (0, "")
    ran = run("stop", "provider", "sandbux")
    assert ran.code == 0, "another node's configuration may know it"
    assert "sandbox" in ran.err
    assert "[/b]dear" in run("stops").out
    rows = json.loads(run("stops", "--json").out)
    assert [(row["kind"], row["name"]) for row in rows] == [
        ("model", "sandbox/echo"),
        ("provider", "sandbux"),
    ]
    ran = run("stop", "route", "sandbox:sandbox/echo")
    assert (ran.code, ran.err) == (0, "")
    assert "Did you mean" in run("stop", "route", "sandbox:sandbox/furst").err
    for name in ("sandbox:sandbox/echo", "sandbox:sandbox/furst"):
        assert run("resume", "route", name).code == 0
    assert run("resume", "model", "sandbox/echo").code == 0
    assert run("resume", "model", "sandbox/echo").code == 1
    run("resume", "provider", "sandbux")
    ran = run("stops")
    assert (ran.out, ran.err) == ("", "nothing is stopped\n")


def test_an_account_is_stopped_and_resumed(run: Run) -> None:
    run("accounts", "create", "team")
    assert run("stop", "account", "team").code == 0
    assert json.loads(run("accounts", "show", "team", "--json").out)["stopped"]
    assert run("resume", "account", "team").code == 0
    assert run("stop", "account", "nobody").code == 1


@pytest.mark.parametrize("command", ["stop", "resume"])
def test_another_kind_of_thing_is_a_wrong_call(command: str, run: Run) -> None:
    run("keys", "create", "alice")
    ran = run(command, "planet", "earth")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
