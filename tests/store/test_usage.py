from tests.store.rows import ACCOUNT, NOON, a_record
from zurelay.chat.usage import Usage
from zurelay.store.engine import Store
from zurelay.store.usage import add_usage, spent_by_day, usage_by

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
