import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_log import logged, record


@pytest.fixture
def data(run: Run, tmp_path: Path) -> Path:
    run("keys", "create", "alice")
    found = tmp_path / "zurelay-data"
    logged(found, [record(1, user="ann"), record(2, user="ann"), record(3, user="bob")])
    return found


def test_usage_is_written_as_csv_or_json_lines(run: Run, data: Path) -> None:
    text = run("export", "usage").out
    assert text.startswith("hour,account,")
    (row,) = [
        json.loads(line) for line in run("export", "usage", "--format", "jsonl").out.splitlines()
    ]
    assert row["requests"] == 3
    assert run("export", "usage", "--format", "jsonl", "--since", "1h").out == ""
    assert run("export", "usage", "--account", "default", "--format", "jsonl").out == ""


def test_personal_data_is_given_and_erased(run: Run, data: Path) -> None:
    lines = [json.loads(line) for line in run("export", "--user", "ann").out.splitlines()]
    assert [line["data"]["user"] for line in lines] == ["ann", "ann"]
    assert json.loads(run("erase", "--user", "ann", "--json").out)["requests"] == 2
    assert run("export", "--user", "ann").out == ""
    assert len(run("export", "--user", "bob").out.splitlines()) == 1
    ran = run("erase", "--account", "default", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "0 requests, 0 members, 0 keys; messages of 0 requests deleted" in ran.out


@pytest.mark.parametrize(
    "call",
    [
        ("export",),
        ("export", "everything"),
        ("export", "usage", "--format", "xml"),
        ("export", "usage", "--user", "ann"),
        ("export", "usage", "--since", "soon"),
        ("erase",),
    ],
)
def test_a_wrong_call_is_told(call: tuple[str, ...], run: Run, data: Path) -> None:
    ran = run(*call)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_an_account_that_is_none_is_told(run: Run, data: Path) -> None:
    assert run("export", "--account", "nobody").code == 1
    assert run("erase", "--account", "nobody").code == 1
