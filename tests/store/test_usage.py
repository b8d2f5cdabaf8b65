from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Table, func, select

from tests.store.rows import ACCOUNT, NOON, a_record, spent_by_day
from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt
from zurelay.store import schema
from zurelay.store.engine import Store
from zurelay.store.usage import (
    SHARDS,
    add_usage,
    cost_since,
    fold_shards,
    shard_of,
    usage_by,
    usage_by_provider,
)

HOUR = 3600
DAY = 86_400


def test_counts_costs_and_tokens_are_summed_by_class(store: Store) -> None:
    records = [
        a_record(usage=Usage(1, 2, 3, 4, 5, 6, 7, reasoning=2), cost=10),
        a_record(usage=Usage(input=100), cost=5, cost_estimated=True, status="client_closed"),
        a_record(usage=None, cost=0, status="error", error="upstream_failed"),
    ]
    with store.write() as connection:
        add_usage(connection, records[:2])
        add_usage(connection, records[2:])
        (row,) = usage_by(connection, "model")
    assert (row.group, row.requests, row.errors, row.estimated, row.cost) == (
        "gpt-6-sol", 3, 1, 1, 15,
    )  # fmt: skip
    assert row.tokens == {
        "input": 101,
        "cached_input": 2,
        "cache_write": 3,
        "cache_write_long": 4,
        "audio_input": 5,
        "output": 6,
        "audio_output": 7,
        "reasoning": 2,
    }


def test_groups_are_told_dearest_first_and_days_in_order(store: Store) -> None:
    with store.write() as connection:
        add_usage(
            connection,
            [
                a_record(NOON, key="key_a", cost=1),
                a_record(NOON - DAY, key="key_b", cost=5),
                a_record(NOON + DAY, key="key_a", cost=2, account="acct_2"),
            ],
        )
        assert [row.group for row in usage_by(connection, "key")] == ["key_b", "key_a"]
        assert [row.group for row in usage_by(connection, "account")] == [ACCOUNT.id, "acct_2"]
        days = [(row.group, row.cost) for row in usage_by(connection, "day")]
        assert days == [("2026-11-28", 5), ("2026-11-29", 1), ("2026-11-30", 2)]
        assert [r.cost for r in usage_by(connection, "model", key="key_a", account="acct_2")] == [2]


def test_a_range_counts_the_hours_it_touches_whole(store: Store) -> None:
    with store.write() as connection:
        add_usage(connection, [a_record(NOON + n * HOUR, cost=10**n) for n in range(4)])

        def cost(since: float | None, until: float | None) -> int:
            return sum(row.cost for row in usage_by(connection, "model", since, until))

        assert cost(None, None) == 1111
        assert cost(NOON + HOUR, None) == 1110
        assert cost(NOON + HOUR + 1, None) == 1110
        assert cost(None, NOON + 2 * HOUR) == 11
        assert cost(None, NOON + 2 * HOUR + 0.5) == 111
        assert cost(NOON + HOUR, NOON + HOUR) == 0


def test_a_model_counts_without_its_parameters_and_made_up_names_count_together(
    store: Store,
) -> None:
    with store.write() as connection:
        add_usage(
            connection,
            [
                a_record(model="sandbox/slow?first=1", answered_by=None, cost=3),
                a_record(model="sandbox/slow?first=2", answered_by="sandbox/slow", cost=3),
                a_record(model="nonsense-1", answered_by=None, error="model_not_found", cost=0),
                a_record(model="nonsense-2", answered_by=None, error="model_not_found", cost=0),
            ],
        )
        groups = [(row.group, row.requests) for row in usage_by(connection, "model")]
    assert groups == [("sandbox/slow", 2), ("", 2)]


def test_spending_is_told_by_key_and_day(store: Store) -> None:
    with store.write() as connection:
        add_usage(
            connection,
            [
                a_record(NOON, key="key_a", cost=1),
                a_record(NOON + HOUR, key="key_a", cost=2, model="x", answered_by="x"),
                a_record(NOON + DAY, key="key_a", cost=4),
                a_record(NOON, key="key_b", cost=8),
            ],
        )
        day = int(NOON) // DAY
        assert sorted(spent_by_day(connection)) == [
            ("key_a", day, 3),
            ("key_a", day + 1, 4),
            ("key_b", day, 8),
        ]


def test_sums_stay_exact_far_beyond_what_a_float_holds(store: Store) -> None:
    with store.write() as connection:
        for cost in (2**53, 1, 2**53, 1):
            add_usage(connection, [a_record(cost=cost)])
        (row,) = usage_by(connection, "model")
    assert row.cost == 2**54 + 2


def ended(route: str, status: str, first_token_ms: float | None = None, cost: int = 0) -> Attempt:
    return Attempt(route, 1, "m", status, 0.0, first_token_ms=first_token_ms, cost=cost)


def test_a_provider_gets_what_callers_paid_for_and_what_nobody_did(store: Store) -> None:
    answered = a_record(
        attempts=[ended("azure:gpt", "failed", cost=7), ended("openai:gpt", "ok", 5.0)],
        usage=Usage(input=100, output=50),
        cost=1200,
        upstream_cost=1000,
    )
    cut_short = a_record(
        attempts=[ended("openai:gpt", "cancelled", 9.0), ended("azure:gpt", "cancelled", cost=3)],
        usage=Usage(input=10),
        cost=12,
        upstream_cost=10,
        first_token_ms=9.0,
        status="client_closed",
    )
    refused = a_record(attempts=[], usage=None, cost=0, status="error")
    with store.write() as connection:
        add_usage(connection, [answered, cut_short, refused])
        openai, azure = usage_by_provider(connection)
    assert (openai.provider, openai.requests, openai.failed) == ("openai", 2, 0)
    assert (openai.cost, openai.upstream_cost, openai.lost) == (1212, 1010, 0)
    assert (openai.tokens["input"], openai.tokens["output"]) == (110, 50)
    assert (azure.provider, azure.requests, azure.failed, azure.lost) == ("azure", 0, 1, 10)
    assert (azure.cost, azure.upstream_cost) == (0, 0)


def test_an_empty_answer_that_is_charged_stands_with_the_provider_who_gave_it(
    store: Store,
) -> None:
    empty = Attempt("openai:m", 1, "m", "failed", 0.0, reason="empty", cost=100, charged=120)
    records = [
        a_record(usage=Usage(input=7), cost=120, upstream_cost=100, attempts=[empty]),
        a_record(
            usage=Usage(input=5),
            cost=126,
            upstream_cost=105,
            attempts=[empty, Attempt("azure:m", 2, "m", "ok", 0.0)],
        ),
    ]
    with store.write() as connection:
        add_usage(connection, records)
        openai, azure = usage_by_provider(connection)
    assert (openai.provider, openai.requests, openai.failed) == ("openai", 0, 2)
    assert (openai.cost, openai.upstream_cost, openai.lost) == (240, 200, 0)
    assert (azure.cost, azure.upstream_cost, azure.lost) == (6, 5, 0)
    assert (openai.tokens["input"], azure.tokens["input"]) == (7, 5)


def test_providers_are_told_by_the_same_ranges(store: Store) -> None:
    with store.write() as connection:
        add_usage(connection, [a_record(NOON + n * HOUR, cost=10**n) for n in range(3)])
        (row,) = usage_by_provider(connection, NOON + 1, NOON + 2 * HOUR)
        assert row.cost == 11
        assert usage_by_provider(connection, NOON + 3 * HOUR) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    first=st.integers(-30, 80),
    hours=st.integers(-5, 80),
    by=st.sampled_from(["day", "key", "model", "account"]),
)
def test_a_range_is_summed_from_days_and_hours_and_misses_nothing(
    store: Store, first: int, hours: int, by: str
) -> None:
    with store.write() as connection:
        if not usage_by(connection, "key"):
            records = [a_record(NOON + n * HOUR, cost=2**n, key=f"key_{n % 3}") for n in range(60)]
            add_usage(connection, records)
        since, until = NOON + first * HOUR, NOON + (first + hours) * HOUR
        wanted = sum(2**n for n in range(60) if first <= n < first + hours)
        rows = usage_by(connection, by, since, until)  # type: ignore[arg-type]
        assert sum(row.cost for row in rows) == wanted
        of_one = usage_by(connection, by, since, until, key="key_1")  # type: ignore[arg-type]
        wanted = sum(2**n for n in range(1, 60, 3) if first <= n < first + hours)
        assert sum(row.cost for row in of_one) == wanted


def test_nodes_add_to_rows_of_their_own_and_are_told_together(store: Store) -> None:
    assert {shard_of(f"node_{n}") for n in range(1000)} == set(range(1, SHARDS + 1))
    with store.write() as connection:
        for shard in (0, 3, 9):
            add_usage(connection, [a_record(cost=shard + 1)], shard)
        (row,) = usage_by(connection, "model", NOON - DAY, NOON + 30 * DAY)
        (provider,) = usage_by_provider(connection)
        rows = select(func.count()).select_from(schema.usage_hour)
        assert connection.execute(rows).scalar_one() == 3
    assert (row.requests, row.cost, provider.cost) == (3, 15, 15)


def test_rows_of_hours_that_are_over_are_brought_together(store: Store) -> None:
    if store.kind == "sqlite":
        return  # there are no shards
    hour = int(NOON) // HOUR
    of_hours = (
        schema.usage_hour,
        schema.usage_hour_model,
        schema.usage_hour_key,
        schema.usage_provider_hour,
    )
    of_days = (schema.usage_day, schema.usage_day_key)

    def rows(connection: Connection, *tables: Table) -> list[int]:
        counts = (select(func.count()).select_from(table) for table in tables)
        return [connection.execute(count).scalar_one() for count in counts]

    with store.write() as connection:
        for shard in (0, 3, 9):
            add_usage(connection, [a_record(cost=shard + 1)], shard)
        before = usage_by(connection, "model"), usage_by_provider(connection)
        assert fold_shards(connection, hour - 1) == 0
        assert fold_shards(connection, hour) == 8
        assert rows(connection, *of_hours) == [1] * 4
        assert rows(connection, *of_days) == [3] * 2
        assert fold_shards(connection, hour + 11) == 4  # the last of the day
        assert rows(connection, *of_days) == [1] * 2
        assert (usage_by(connection, "model"), usage_by_provider(connection)) == before
        add_usage(connection, [a_record(cost=100)], 9)
        assert fold_shards(connection, hour) == 4
        assert [row.cost for row in usage_by(connection, "key", NOON, NOON + 1)] == [115]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(first=st.integers(-30, 80))
def test_what_was_spent_since_an_hour_is_exact_for_a_key_and_its_account(
    store: Store, first: int
) -> None:
    hour = int(NOON) // HOUR
    with store.write() as connection:
        if not usage_by(connection, "key"):
            records = [a_record(NOON + n * HOUR, cost=2**n, key=f"key_{n % 3}") for n in range(60)]
            add_usage(connection, records)
        later = [n for n in range(60) if n >= first]
        assert cost_since(connection, hour + first, ACCOUNT.id, None) == sum(2**n for n in later)
        of_key = sum(2**n for n in later if n % 3 == 1)
        assert cost_since(connection, hour + first, ACCOUNT.id, "key_1") == of_key
        assert cost_since(connection, 0, "acct_2", None) == 0
