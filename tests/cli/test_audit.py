import json

from tests.cli.conftest import Run


def test_changes_are_a_table_or_json_newest_first(run: Run) -> None:
    run("keys", "create", "[/b]alice", "--account", "team")
    run("accounts", "stop", "team")
    lines = run("audit").out.split("\n")
    assert "account.stop" in lines[1]
    assert "[/b]alice" in lines[2]
    rows = json.loads(run("audit", "--json", "--action", "key").out)
    assert [row["action"] for row in rows] == ["key.create"]
    assert json.loads(run("audit", "--account", "team", "-n", "1", "--json").out)[0]["account"]
    assert run("audit", "--account", "nobody").code == 1
    ran = run("audit", "--target", "x")
    assert (ran.code, ran.out) == (0, "")
