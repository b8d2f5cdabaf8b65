import json

import pytest

from tests.cli.conftest import Run


def test_an_account_is_made_shown_changed_stopped_and_resumed(run: Run) -> None:
    options = "--prepaid yes --budget 100/month --zone Europe/Brussels --rpm 60 --markup 1.2"
    ran = run("accounts", "create", "team", *options.split())
    assert ran.code == 0
    assert "team" in ran.out
    shown = run("accounts", "show", "team").out
    for word in ("prepaid", "yes", "100 USD/month", "60 rpm", "prices x 1.2", "Europe/Brussels"):
        assert word in shown, word
    ran = run("accounts", "set", "team", "--prepaid", "no", "--rpm", "none", "--name", "crew")
    assert ran.code == 0
    row = json.loads(run("accounts", "show", "crew", "--json").out)
    assert (row["prepaid"], row["rpm"], row["markup"]) == (False, None, "1.2")
    run("accounts", "set", "crew", "--prepaid", "default")
    assert "as configured" in run("accounts", "show", "crew").out
    assert run("accounts", "stop", "crew").code == 0
    assert "stopped" in run("accounts", "list").out
    assert "stopped" in run("accounts", "show", "crew").out
    assert run("accounts", "resume", "crew").code == 0
    assert "stopped" not in run("accounts", "list").out


def test_accounts_are_a_table_or_json(run: Run) -> None:
    run("keys", "create", "alice")
    run("accounts", "create", "[/b]team", "--tpm", "5", "--concurrency", "2")
    assert "[/b]team" in run("accounts", "list").out
    rows = json.loads(run("accounts", "list", "--json").out)
    assert {row["name"] for row in rows} == {"default", "[/b]team"}
    assert rows[0]["balance_usd"] == "0"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--budget", "5"), 2),
        (("--rpm", "many"), 2),
        (("--prepaid", "maybe"), 2),
        (("--zone", "Mars"), 1),
        (("--markup", "x"), 1),
    ],
)
def test_terms_that_cannot_be_are_refused(options: tuple[str, ...], code: int, run: Run) -> None:
    run("accounts", "create", "team")
    for ran in (
        run("accounts", "create", "other", *options),
        run("accounts", "set", "team", *options),
    ):
        assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)


def test_an_account_that_is_none_or_there_already_is_told(run: Run) -> None:
    run("accounts", "create", "team")
    for call in (("create", "team"), ("show", "x"), ("set", "x"), ("stop", "x"), ("resume", "x")):
        ran = run("accounts", *call)
        assert (ran.code, ran.err.count("\n")) == (1, 1), call
