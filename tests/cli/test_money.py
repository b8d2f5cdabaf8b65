import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.store.rows import a_record, entry
from zurelay.meter.wallets import balance_of
from zurelay.store.accounts import find_account
from zurelay.store.engine import open_store
from zurelay.store.requests import add_requests
from zurelay.store.wallets import post

NOON = 1_795_953_600.0  # 2026-11-29


@pytest.fixture
def request_id(run: Run, tmp_path: Path) -> str:
    """A request of the account `team` that cost two dollars."""
    run("accounts", "create", "team")
    store = open_store(tmp_path / "zurelay-data")
    with store.write() as connection:
        team = find_account(connection, "team")
        assert team is not None
        cost = 2_000_000_000
        record = a_record(NOON, account=team.id, cost=cost, postings={balance_of(team.id): cost})
        add_requests(connection, [entry(record)])
        post(connection, "node", [record])
    store.close()
    return record.id


def balance(run: Run) -> str:
    found: str = json.loads(run("accounts", "show", "team", "--json").out)["balance_usd"]
    return found


def test_money_moves_once_per_ref(run: Run) -> None:
    run("accounts", "create", "team")
    ran = run("credit", "team", "100", "--note", "thanks", "--ref", "inv-1")
    assert "credit of 100 USD, ref inv-1" in ran.out
    run("credit", "team", "100", "--ref", "inv-1")
    assert balance(run) == "100"
    run("credit", "team", "1")
    run("credit", "team", "1")
    made = json.loads(run("debit", "team", "0.50", "--json").out)
    assert made["amount_usd"] == "-0.5"
    assert balance(run) == "101.5"
    ran = run("credit", "team", "5", "--ref", "inv-1")
    assert (ran.code, ran.err.count("\n")) == (1, 1)


def test_a_prepaid_balance_is_not_debited_below_zero(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.office.money.RETURN_S", 0.0)
    monkeypatch.setattr("zurelay.office.money._PAUSE_S", 0.01)
    run("accounts", "create", "team", "--prepaid", "yes")
    run("credit", "team", "1")
    assert run("debit", "team", "2").code == 1
    assert balance(run) == "1"


def test_the_configuration_decides_for_accounts_that_do_not_say(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.office.money.RETURN_S", 0.0)
    monkeypatch.setattr("zurelay.office.money._PAUSE_S", 0.01)
    run("accounts", "create", "team")
    assert run("debit", "team", "2").code == 0
    (tmp_path / "zurelay.toml").write_text("[billing]\nprepaid = true\n")
    assert run("debit", "team", "2").code == 1


def test_a_refund_gives_back_at_most_the_charge(run: Run, request_id: str) -> None:
    assert "refund of 0.5 USD" in run("refund", request_id, "--amount", "0.5", "--ref", "a").out
    assert run("refund", request_id, "--amount", "1.6", "--ref", "b").code == 1
    assert "refund of 1.5 USD" in run("refund", request_id).out
    assert "refund of 1.5 USD" in run("refund", request_id).out
    assert balance(run) == "0"
    assert run("refund", "req_x").code == 1


def test_a_statement_is_tables_json_or_csv(run: Run, request_id: str) -> None:
    run("credit", "team", "5", "--note", "=1+1")
    shown = run("statement", "team", "2026-11").out
    for word in ("gpt-6-sol", "2026-11-29", "-2 USD"):
        assert word in shown, word
    made = json.loads(run("statement", "team", "2026-11", "--json").out)
    assert made["charges_usd"] == "2"
    rows = list(csv.DictReader(io.StringIO(run("statement", "team", "2026-11", "--csv").out)))
    assert rows[-1]["kind"] == "closing"
    assert run("statement", "team", "2026-13").code == 1
    assert run("statement", "team", "2026-11", "--csv", "--json").code == 2


@pytest.mark.parametrize("amount", ["0", "1e3", "ten", "0.0000000001"])
def test_an_amount_that_cannot_be_is_a_wrong_call(amount: str, run: Run) -> None:
    run("accounts", "create", "team")
    for call in (("credit", "team", amount), ("debit", "team", amount)):
        assert run(*call).code == 2
    assert run("refund", "req_x", "--amount", amount).code == 2
