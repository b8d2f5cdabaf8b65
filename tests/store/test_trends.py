"""Usage over time, on SQLite and on PostgreSQL."""

import msgspec

from tests.store.rows import ACCOUNT, NOON, a_record
from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt, RequestRecord
from zurelay.store.engine import Store
from zurelay.store.requests import add_requests
from zurelay.store.trends import ProviderHour, provider_hours, samples, usage_trend

HOUR = int(NOON) // 3600
DAY = HOUR // 24 * 24


def written(store: Store, *records: RequestRecord) -> None:
    with store.write() as connection:
        add_requests(connection, [(one, msgspec.json.encode(one)) for one in records])


def test_sums_come_by_step_and_group(store: Store) -> None:
    tokens = Usage(input=10, cached_input=2, output=5)
    written(
        store,
        a_record(NOON, answered_by="a", cost=5, usage=tokens),
        a_record(NOON + 1, answered_by="a", cost=7, usage=tokens),
        a_record(NOON + 2, answered_by="b", cost=1, usage=None, status="error"),
        a_record(NOON - 3600, answered_by="a", cost=11, usage=None),
        a_record(NOON - 9 * 3600, answered_by="a", cost=100, usage=None),
    )
    with store.read() as connection:
        rows = usage_trend(connection, "model", HOUR - 1, HOUR + 1, 1)
        assert [(one.hour - HOUR, one.group, one.requests, one.cost) for one in rows] == [
            (-1, "a", 1, 11),
            (0, "a", 2, 12),
            (0, "b", 1, 1),
        ]
        assert rows[1].tokens[:2] == (20, 4)
        assert (rows[2].errors, rows[1].errors) == (1, 0)
        (whole,) = usage_trend(connection, "none", HOUR, HOUR + 6, 6)
        assert (whole.hour, whole.group, whole.cost) == (HOUR // 6 * 6, "", 13)


def test_steps_of_a_day_are_read_from_the_days(store: Store) -> None:
    written(store, a_record(NOON, cost=5), a_record(NOON - 86_400, cost=7))
    with store.read() as connection:
        rows = usage_trend(connection, "none", DAY - 24, DAY + 24, 24)
        assert [(one.hour - DAY, one.cost) for one in rows] == [(-24, 7), (0, 5)]


def test_only_what_belongs_to_an_account_or_key_counts(store: Store) -> None:
    written(
        store,
        a_record(NOON, cost=5),
        a_record(NOON + 1, cost=7, key="key_2"),
        a_record(NOON + 2, cost=9, account="acct_other", key="key_3"),
    )
    with store.read() as connection:
        by_account = usage_trend(connection, "account", HOUR, HOUR + 1, 1)
        assert {one.group: one.cost for one in by_account} == {ACCOUNT.id: 12, "acct_other": 9}
        mine = usage_trend(connection, "key", HOUR, HOUR + 1, 1, account=ACCOUNT.id)
        assert sum(one.cost for one in mine) == 12
        (one,) = usage_trend(connection, "none", HOUR, HOUR + 1, 1, key="key_2")
        assert one.cost == 7
        found = samples(connection, [HOUR], 1, 10, account=ACCOUNT.id)
        assert {sample.key for sample in found} == {"key_0000000000000001", "key_2"}
        assert len(samples(connection, [HOUR], 1, 10, key="key_3")) == 1


def test_samples_are_the_newest_of_each_step(store: Store) -> None:
    written(
        store,
        *(a_record(NOON + at, first_token_ms=float(at), duration_ms=50.0) for at in range(5)),
        a_record(NOON - 3600, first_token_ms=100.0),
        a_record(NOON + 10, first_token_ms=None),
    )
    with store.read() as connection:
        found = samples(connection, [HOUR - 1, HOUR], 1, 3)
    assert [one.first_token_ms for one in found] == [100.0, None, 4.0, 3.0]
    assert found[2].duration_ms == 50.0


def test_attempts_come_by_hour_and_provider(store: Store) -> None:
    def tried(route: str, status: str) -> Attempt:
        return Attempt(route=route, number=1, model="m", status=status, start_ms=0.0)

    written(
        store,
        a_record(NOON, attempts=[tried("a:m", "failed"), tried("b:m", "ok")]),
        a_record(NOON - 3600, attempts=[tried("a:m", "ok")]),
        a_record(NOON - 2 * 3600, attempts=[tried("a:m", "ok")]),
    )
    with store.read() as connection:
        assert provider_hours(connection, HOUR - 1, HOUR + 1) == [
            ProviderHour(HOUR - 1, "a", 1, 0),
            ProviderHour(HOUR, "a", 0, 1),
            ProviderHour(HOUR, "b", 1, 0),
        ]
