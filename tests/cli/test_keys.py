import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from zurelay.access.accounts import Budget
from zurelay.access.auto import AutoTerms, Ceiling
from zurelay.access.keys import hash_key, well_formed
from zurelay.store.engine import open_store
from zurelay.store.keys import find_key


def test_a_new_key_stands_alone_on_the_last_line_of_stdout(run: Run) -> None:
    ran = run("keys", "create", "alice")
    assert ran.code == 0
    assert ran.out.count("\n") == 1
    assert well_formed(ran.out.rstrip("\n"))
    assert ran.out.strip() not in ran.err


def test_only_the_hash_of_a_key_is_kept(run: Run, tmp_path: Path) -> None:
    text = run("keys", "create", "alice").out.strip()
    store = open_store(tmp_path / "zurelay-data")
    with store.read() as connection:
        assert find_key(connection, "alice").hash == hash_key(text)
    store.close()
    for file in (tmp_path / "zurelay-data").iterdir():
        assert text.encode() not in file.read_bytes()


def test_every_limit_is_kept(run: Run, tmp_path: Path) -> None:
    options = (
        "--account team --models gpt-6,sandbox/*,gpt-6 --budget 12.50/month --rpm 60 --tpm 9000"
    )
    more = "--concurrency 4 --expires 2099-12-31"
    assert run("keys", "create", "bob", *options.split(), *more.split()).code == 0
    store = open_store(tmp_path / "zurelay-data")
    with store.read() as connection:
        key = find_key(connection, "bob")
    store.close()
    assert key.account_name == "team"
    assert key.models == ("gpt-6", "sandbox/*")
    assert key.budget == Budget(12_500_000_000, "month")
    assert (key.rpm, key.tpm, key.concurrency) == (60, 9000, 4)
    assert key.expires == 4102444800, "the end of that day in UTC"


@pytest.mark.parametrize(
    "option",
    [
        "--budget=12",
        "--budget=12/year",
        "--budget=-1/day",
        "--budget=1e3/day",
        "--expires=tomorrow",
        "--expires=2020-01-01",
        "--models=,",
        "--rpm=0",
        "--concurrency=x",
    ],
)
def test_a_limit_that_cannot_be_is_a_wrong_call_and_makes_nothing(
    option: str, run: Run, tmp_path: Path
) -> None:
    ran = run("keys", "create", "bob", option)
    assert (ran.code, ran.out) == (2, "")
    assert option.split("=", maxsplit=1)[0] in ran.err
    assert not (tmp_path / "zurelay-data").exists()


def test_a_name_that_cannot_be_is_refused(run: Run) -> None:
    ran = run("keys", "create", "a\nb")
    assert (ran.code, ran.out) == (1, "")


def test_keys_are_listed_with_hostile_names_shown_as_they_are(run: Run) -> None:
    run("keys", "create", "[/b]bob")
    ran = run("keys", "list")
    assert "[/b]bob" in ran.out
    assert "live" in ran.out
    assert "never" in ran.out
    assert "zk-" not in ran.out


def test_keys_are_listed_as_json(run: Run) -> None:
    run("keys", "create", "alice", "--budget", "5/day")
    run("keys", "create", "bob", "--account", "team")
    rows = json.loads(run("keys", "list", "--json").out)
    by_name = {row["name"]: row for row in rows}
    assert sorted(by_name) == ["alice", "bob"]
    assert by_name["alice"]["limits"]["budget_usd"] == "5"
    assert by_name["alice"]["remaining_usd"] == "5"
    found = json.loads(run("keys", "list", "--account", "team", "--json").out)
    assert [row["name"] for row in found] == ["bob"]


def test_an_account_that_is_none_is_a_failure(run: Run) -> None:
    run("keys", "create", "alice")
    ran = run("keys", "list", "--account", "nobody")
    assert ran.code == 1
    assert "nobody" in ran.err


@pytest.mark.parametrize("by", ["id", "name", "beginning"])
def test_a_key_is_revoked_by_id_beginning_or_name(by: str, run: Run) -> None:
    run("keys", "create", "alice")
    (row,) = json.loads(run("keys", "list", "--json").out)
    wanted = {"id": row["id"], "name": "alice", "beginning": row["id"][:9]}[by]
    ran = run("keys", "revoke", wanted)
    assert ran.code == 0
    assert row["id"] in ran.out
    assert json.loads(run("keys", "list", "--json").out)[0]["state"] == "revoked"


def test_a_key_that_is_none_cannot_be_revoked(run: Run) -> None:
    run("keys", "create", "alice")
    ran = run("keys", "revoke", "bob")
    assert (ran.code, ran.err.count("\n")) == (1, 1)


def test_keys_are_managed_without_the_secrets_of_providers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text('[providers.o]\nkind = "openai"\napi_key = "$NOT_HERE"')
    assert run("keys", "create", "alice").code == 0
    assert run("keys", "list").code == 0


def test_a_database_that_cannot_be_reached_is_told_without_its_password(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "zurelay.toml").write_text(
        '[storage]\nurl = "postgresql://u:hunter2@127.0.0.1:9/d"'
    )
    ran = run("keys", "create", "alice")
    assert ran.code == 1
    assert "127.0.0.1" in ran.err
    assert "hunter2" not in ran.err


def test_limits_are_changed_and_taken_away(run: Run) -> None:
    run("keys", "create", "alice", "--rpm", "5", "--budget", "5/day", "--models", "a,b")
    changes = "--rpm none --tpm 9 --budget 7/month --models all --name bob --expires 2099-12-31"
    ran = run("keys", "set", "alice", *changes.split())
    assert ran.code == 0
    (row,) = json.loads(run("keys", "list", "--json").out)
    assert row["name"] == "bob"
    limits = row["limits"]
    assert (limits["rpm"], limits["tpm"], limits["models"]) == (None, 9, None)
    assert (limits["budget_usd"], limits["budget_period"]) == ("7", "month")
    assert run("keys", "set", "bob", "--expires", "none", "--markup", "1.5").code == 0
    (row,) = json.loads(run("keys", "list", "--json").out)
    assert row["limits"]["expires"] is None
    for option in ("--rpm=x", "--rpm=0", "--budget=5", "--expires=2020-01-01", "--models=,"):
        assert run("keys", "set", "bob", option).code == 2, option
    assert run("keys", "set", "bob", "--markup", "x").code == 1
    assert run("keys", "set", "nobody", "--rpm", "1").code == 1


def test_a_new_text_stands_alone_on_the_last_line_of_stdout(run: Run, tmp_path: Path) -> None:
    old = run("keys", "create", "alice").out.strip()
    ran = run("keys", "rotate", "alice", "--overlap", "7d")
    new = ran.out.strip()
    assert ran.out.count("\n") == 1
    assert well_formed(new)
    assert "works until" in ran.err
    store = open_store(tmp_path / "zurelay-data")
    with store.read() as connection:
        key = find_key(connection, "alice")
    store.close()
    assert (key.hash, key.previous_hash) == (hash_key(new), hash_key(old))
    ran = run("keys", "rotate", "alice", "--overlap", "0")
    assert "does not work any more" in ran.err
    assert run("keys", "rotate", "alice", "--overlap", "soon").code == 2


def test_every_change_is_in_the_audit_log_by_the_name_of_the_user(run: Run) -> None:
    run("keys", "create", "alice", "--account", "team")
    run("keys", "set", "alice", "--rpm", "5")
    run("keys", "revoke", "alice")
    rows = json.loads(run("audit", "--json").out)
    actions = [row["action"] for row in rows[::-1]]
    assert actions == ["account.create", "key.create", "key.change", "key.revoke"]
    assert {row["actor"].partition(":")[0] for row in rows} == {"cli"}


def test_a_key_is_given_terms_for_the_smart_choice(run: Run, tmp_path: Path) -> None:
    def kept() -> AutoTerms | None:
        store = open_store(tmp_path / "zurelay-data")
        with store.read() as connection:
            key = find_key(connection, "alice")
        store.close()
        return key.auto

    run("keys", "create", "alice", "--auto", "allow=gpt-6*, claude-*; ceiling=5.00/25")
    assert kept() == AutoTerms(("gpt-6*", "claude-*"), None, Ceiling(5 * 10**12, 25 * 10**12))
    assert run("keys", "set", "alice", "--auto", "exclude=*-astra;ceiling=/9").code == 0
    assert kept() == AutoTerms(None, ("*-astra",), Ceiling(None, 9 * 10**12))
    assert run("keys", "set", "alice", "--auto", "none").code == 0
    assert kept() is None
    assert run("keys", "set", "alice", "--auto", "only=this").code == 2
    assert run("keys", "set", "alice", "--auto", "ceiling=much").code == 1
