import pytest

from tests.office.people import ACCOUNT, ADMIN, MEMBER, NOON, READER, STRANGER, refusal
from tests.store.rows import a_record, entry
from zurelay.meter.record import Attempt
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.usage import usage, usage_of_providers, usage_of_users
from zurelay.store.requests import add_requests

HOUR = 3600


@pytest.fixture(autouse=True)
def used(desk: Desk) -> str:
    """Three requests of two accounts; the id of the key of the first."""
    key = create_key(desk, ADMIN, NewKey("alice")).details.id
    failed = Attempt("bad:x", 1, "m", "failed", 0.0, 5.0, cost=3)
    answered = Attempt("good:x", 2, "m", "ok", 5.0, 9.0, 6.0)
    records = [
        a_record(
            NOON, key=key, cost=100, user="ann", attempts=[failed, answered], upstream_cost=80
        ),
        a_record(NOON + HOUR, key=key, cost=50, status="error", cost_estimated=True),
        a_record(NOON, account="acct_2", key="key_2", cost=7, answered_by="m2"),
    ]
    with desk.store.write() as connection:
        add_requests(connection, [entry(record) for record in records])
    return key


def test_usage_is_summed_by_what_is_asked_for(desk: Desk, used: str) -> None:
    (dear, cheap) = usage(desk, READER, "model")
    assert (dear.group, dear.requests, dear.errors, dear.estimated) == ("gpt-6-sol", 2, 1, 1)
    assert (dear.cost_usd, dear.tokens["input"], dear.tokens["reasoning"]) == (
        "0.00000015",
        200,
        40,
    )
    assert cheap.group == "m2"
    by_key = usage(desk, READER, "key")
    assert [(row.group, row.name) for row in by_key] == [(used, "alice"), ("key_2", None)]
    by_account = usage(desk, READER, "account")
    assert [(row.group, row.name) for row in by_account] == [
        (ACCOUNT.id, "default"),
        ("acct_2", None),
    ]
    assert [row.group for row in usage(desk, READER, "day")] == ["2026-11-29"]


def test_usage_is_narrowed_down(desk: Desk, used: str) -> None:
    assert [row.requests for row in usage(desk, READER, "day", key="alice")] == [2]
    assert [row.requests for row in usage(desk, READER, "day", account="default")] == [2]
    assert [row.requests for row in usage(desk, READER, "day", since=NOON + HOUR)] == [1]
    assert [row.requests for row in usage(desk, READER, "day", until=NOON + HOUR)] == [2]
    assert refusal(usage, desk, READER, "day", key="nobody").status == 404


def test_users_are_told_from_the_log(desk: Desk) -> None:
    rows = usage_of_users(desk, READER)
    assert [(row.user, row.requests, row.cost_usd) for row in rows] == [
        ("ann", 1, "0.0000001"),
        (None, 1, "0.000000007"),
    ], "what has not begun yet is not there"
    until = NOON + 2 * HOUR
    (ann, rest) = usage_of_users(desk, READER, until=until, account="default", key="alice")
    assert (ann.user, rest.user, rest.errors) == ("ann", None, 1)
    assert usage_of_users(desk, READER, since=NOON + 1, until=NOON + 2) == []


def test_providers_are_told_with_what_they_ask_and_what_was_lost(desk: Desk) -> None:
    rows = {row.provider: row for row in usage_of_providers(desk, READER)}
    good, bad = rows["good"], rows["bad"]
    assert (good.requests, good.charged_usd, good.cost_usd) == (1, "0.0000001", "0.00000008")
    assert (bad.requests, bad.failed, bad.lost_usd) == (0, 1, "0.000000003")
    assert usage_of_providers(desk, READER, until=NOON - HOUR) == []


def test_a_member_sees_its_own_accounts_usage_and_no_provider(desk: Desk) -> None:
    assert [row.group for row in usage(desk, MEMBER, "account")] == [ACCOUNT.id]
    assert [row.user for row in usage_of_users(desk, MEMBER)] == ["ann"]
    assert usage(desk, STRANGER, "account") == []
    assert refusal(usage, desk, MEMBER, "day", account="acct_2").status == 404
    assert refusal(usage_of_providers, desk, MEMBER).status == 403
