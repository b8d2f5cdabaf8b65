from tests.store.rows import ACCOUNT, NOON, a_record, entry
from zurelay.meter.wallets import balance_of
from zurelay.store.engine import Store
from zurelay.store.requests import add_requests
from zurelay.store.statements import (
    ClosedMonth,
    balance_before,
    charges_between,
    charges_by_hour,
    close_month,
    closed_month,
    first_entry_ms,
    last_closed,
)
from zurelay.store.wallets import account_balance, add_available, add_entry, post

WALLET = balance_of(ACCOUNT.id)
AT = int(NOON * 1000)


def test_a_closed_month_comes_back(store: Store) -> None:
    months = [ClosedMonth("acct_1", f"2026-{n}", 1, 2, -5, "{}", 9) for n in ("09", "10")]
    with store.write() as connection:
        assert last_closed(connection, "acct_1") is None
        for month in months:
            close_month(connection, month)
        assert closed_month(connection, "acct_1", "2026-09") == months[0]
        assert closed_month(connection, "acct_2", "2026-09") is None
        assert last_closed(connection, "acct_1") == months[1]


def test_a_balance_at_a_time_is_counted_back_from_now(store: Store) -> None:
    records = [a_record(NOON + n, cost=10, postings={WALLET: 10}) for n in range(3)]
    with store.write() as connection:
        assert first_entry_ms(connection, WALLET) is None
        wallet = account_balance(ACCOUNT.id, limited=False)
        add_entry(connection, AT - 5, "xfer_1", "funding", WALLET, 100)
        add_available(connection, wallet, 100)
        add_requests(connection, [entry(record) for record in records])
        post(connection, "node", records)
        assert first_entry_ms(connection, WALLET) == AT - 5
        assert balance_before(connection, WALLET, AT - 5) == 0
        assert balance_before(connection, WALLET, AT) == 100
        assert balance_before(connection, WALLET, AT + 1) == 90
        assert balance_before(connection, WALLET, AT + 9999) == 70
        assert charges_between(connection, WALLET, AT, AT + 2000) == 20
        assert charges_between(connection, "balance:acct_2", AT, AT + 2000) == 0


def test_charges_are_summed_by_hour_and_model(store: Store) -> None:
    records = [
        a_record(NOON, cost=1),
        a_record(NOON + 1, cost=2),
        a_record(NOON + 3600, cost=4, answered_by="b"),
        a_record(NOON, cost=8, account="acct_2"),
    ]
    with store.write() as connection:
        add_requests(connection, [entry(record) for record in records])
        hour = int(NOON) // 3600
        rows = charges_by_hour(connection, ACCOUNT.id, hour, hour + 2)
        assert [(row.hour - hour, row.model, row.requests, row.cost) for row in rows] == [
            (0, "gpt-6-sol", 2, 3),
            (1, "b", 1, 4),
        ]
        assert (rows[0].tokens_in, rows[0].tokens_out) == (220, 100)
        assert charges_by_hour(connection, ACCOUNT.id, hour + 2, hour + 3) == []
        day = hour - hour % 24
        days = charges_by_hour(connection, ACCOUNT.id, day, day + 24, whole_days=True)
        assert [(row.hour, row.model, row.cost) for row in days] == [
            (day, "b", 4),
            (day, "gpt-6-sol", 3),
        ]
        assert charges_by_hour(connection, ACCOUNT.id, day + 24, day + 48, whole_days=True) == []
