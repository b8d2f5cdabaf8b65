import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from zurelay.access.keys import hash_key
from zurelay.access.tokens import is_token
from zurelay.store.engine import open_store
from zurelay.store.tokens import find_token


def test_a_new_token_stands_alone_on_the_last_line_of_stdout(run: Run, tmp_path: Path) -> None:
    ran = run("tokens", "create", "monitoring")
    assert ran.code == 0
    assert ran.out.count("\n") == 1
    text = ran.out.strip()
    assert is_token(text)
    assert text not in ran.err
    store = open_store(tmp_path / "zurelay-data")
    with store.read() as connection:
        found = find_token(connection, "monitoring")
    store.close()
    assert (found.hash, found.role) == (hash_key(text), "admin")


def test_a_role_is_one_of_three(run: Run, tmp_path: Path) -> None:
    ran = run("tokens", "create", "x", "--role", "root")
    assert (ran.code, ran.out) == (2, "")
    assert "read-only" in ran.err
    assert not (tmp_path / "zurelay-data").exists()
    assert run("tokens", "create", "x", "--role", "read-only").code == 0


def test_tokens_are_listed_without_their_text(run: Run) -> None:
    text = run("tokens", "create", "[/b]bob", "--role", "owner").out.strip()
    ran = run("tokens", "list")
    assert "[/b]bob" in ran.out
    assert "owner" in ran.out
    assert text not in ran.out
    (row,) = json.loads(run("tokens", "list", "--json").out)
    assert (row["state"], row["last4"]) == ("live", text[-4:])


@pytest.mark.parametrize("by", ["id", "name", "beginning"])
def test_a_token_is_revoked_by_id_beginning_or_name(by: str, run: Run) -> None:
    run("tokens", "create", "ci")
    (row,) = json.loads(run("tokens", "list", "--json").out)
    wanted = {"id": row["id"], "name": "ci", "beginning": row["id"][:9]}[by]
    assert run("tokens", "revoke", wanted).code == 0
    assert json.loads(run("tokens", "list", "--json").out)[0]["state"] == "revoked"


def test_a_token_that_is_none_cannot_be_revoked(run: Run) -> None:
    run("tokens", "create", "ci")
    ran = run("tokens", "revoke", "bob")
    assert (ran.code, ran.err.count("\n")) == (1, 1)


def test_a_members_token_belongs_to_an_account(run: Run) -> None:
    run("accounts", "create", "team")
    assert run("tokens", "create", "ci", "--role", "member", "--account", "team").code == 0
    (row,) = json.loads(run("tokens", "list", "--json").out)
    assert row["role"] == "member"
    assert row["account"].startswith("acct_")
    assert run("tokens", "create", "ci", "--role", "member").code == 1
    assert run("tokens", "create", "ci", "--role", "member", "--account", "x").code == 1
