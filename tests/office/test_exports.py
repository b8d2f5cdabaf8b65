import csv
import io
import json

import pytest

from tests.office.people import ADMIN, MEMBER, NOON, READER, STRANGER, refusal
from tests.store.rows import a_record, entry
from zurelay.office import exports
from zurelay.office.desk import Desk
from zurelay.office.exports import COLUMNS, export_usage
from zurelay.office.keys import NewKey, create_key
from zurelay.store.requests import add_requests


@pytest.fixture(autouse=True)
def used(desk: Desk) -> None:
    key = create_key(desk, ADMIN, NewKey("=HYPERLINK(1)")).details.id
    records = [a_record(NOON + n * 3600, key=key, cost=n + 1) for n in range(5)]
    records.append(a_record(NOON, account="acct_2", key="key_2", cost=9))
    with desk.store.write() as connection:
        add_requests(connection, [entry(record) for record in records])


def test_a_csv_file_has_a_row_per_hour_and_no_formula(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "CHUNK", 2)
    pieces = list(export_usage(desk, READER, "csv"))
    assert len(pieces) == 4, "a head and three pieces"
    rows = list(csv.DictReader(io.StringIO("".join(pieces))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 6
    assert rows[0]["hour"] == "2026-11-29T12:00:00Z"
    assert rows[0]["key_name"] == "'=HYPERLINK(1)"
    assert rows[0]["cost_usd"] == "0.000000001"
    assert rows[1]["account_name"] == ""


def test_json_lines_hold_the_same(desk: Desk) -> None:
    lines = "".join(export_usage(desk, READER, "jsonl", since=NOON + 3600)).splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["cost_usd"][-1] for row in rows] == ["2", "3", "4", "5"]
    assert rows[0]["key_name"] == "=HYPERLINK(1)"
    assert list(export_usage(desk, READER, "jsonl", until=NOON - 3600)) == []


def test_a_member_gets_its_own_account(desk: Desk) -> None:
    text = "".join(export_usage(desk, MEMBER, "jsonl"))
    assert "acct_2" not in text
    assert len(text.splitlines()) == 5
    assert "".join(export_usage(desk, STRANGER, "jsonl")) == ""
    assert refusal(export_usage, desk, MEMBER, "csv", account="acct_2").status == 404
