from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, text

from tests.store.rows import ACCOUNT, NOON, a_record, entry
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import FUNDING, Wallet, Want, balance_of
from zurelay.store import wallets
from zurelay.store.counters import read_counter
from zurelay.store.engine import Store
from zurelay.store.requests import add_requests

BALANCE = wallets.account_balance(ACCOUNT.id)
BUDGET = Wallet("budget:key_1:2026-11", ACCOUNT.id, "key_1", "2026-11", 0, budget=500)


@contextmanager
def funded(store: Store, amount: int = 1000, *nodes: str) -> Iterator[Connection]:
    """A transaction on a store whose account has so much, and whose nodes have begun."""
    with store.write() as connection:
        wallets.add_available(connection, BALANCE, amount)
        for node in nodes or ("n1",):
            wallets.begin_node(connection, node, NOON, alone=False)
    with store.write() as connection:
        yield connection


def draw(
    connection: Connection, node: str, *wants: Want, alone: bool = False, now: float = NOON
) -> list[int]:
    drawn = wallets.draw(connection, node, 1, wants, now, alone=alone)
    return [one.granted for one in drawn]


def posted(connection: Connection, node: str, *records: RequestRecord) -> None:
    wallets.post(connection, node, records)


def paying(cost: int, **postings: int) -> RequestRecord:
    found = {name.replace("__", ":"): amount for name, amount in postings.items()}
    return a_record(cost=cost, postings=found or {BALANCE.id: cost})


def available(connection: Connection, wallet: str = BALANCE.id) -> int:
    found = connection.execute(text("SELECT available FROM wallet WHERE id = :id"), {"id": wallet})
    return int(found.scalar_one())


def entries(connection: Connection) -> list[tuple[str, str, int]]:
    found = connection.execute(text("SELECT debit, credit, amount FROM entry ORDER BY amount"))
    return [(debit, credit, int(amount)) for debit, credit, amount in found]


def test_the_only_node_takes_all_there_is(store: Store) -> None:
    with funded(store) as connection:
        assert draw(connection, "n1", Want(BALANCE, 10), alone=True) == [1000]
        assert available(connection) == 0
        assert wallets.balance(connection, BALANCE.id) == 1000
        assert wallets.leased(connection, "n1") == {BALANCE.id: 1000}
        assert draw(connection, "n1", Want(BALANCE, 10), alone=True) == [0]


@pytest.mark.parametrize(
    ("nodes", "need", "like", "granted"),
    [
        (1, 10, 0, 250),  # a quarter, so that there is something to come back for
        (2, 10, 0, 125),
        (2, 300, 0, 300),  # what is needed, in any case
        (2, 10, 400, 400),
        (2, 10, 900, 500),  # but no more than its part
        (2, 1001, 0, 0),
    ],
)
def test_one_of_several_nodes_takes_its_part(
    store: Store, nodes: int, need: int, like: int, granted: int
) -> None:
    with funded(store, 1000, *(f"n{n}" for n in range(nodes))) as connection:
        assert draw(connection, "n0", Want(BALANCE, need, like)) == [granted]
        assert available(connection) == 1000 - granted


def test_a_node_that_is_silent_does_not_share(store: Store) -> None:
    with funded(store, 1000, "n1", "n2") as connection:
        assert draw(connection, "n1", Want(BALANCE, 10), now=NOON + 16) == [250]


def test_a_drawer_is_told_what_is_left_and_where(store: Store) -> None:
    with funded(store, 1000, "n1", "n2") as connection:
        draw(connection, "n2", Want(BALANCE, 600))
        (one,) = wallets.draw(connection, "n1", 1, [Want(BALANCE, 500)], NOON, alone=False)
        assert (one.granted, one.left, one.elsewhere, one.nodes) == (0, 400, 600, 2)


def test_a_budget_is_made_when_it_is_first_drawn_on(store: Store) -> None:
    with funded(store) as connection:
        assert wallets.budget_left(connection, BUDGET) == 500
        assert draw(connection, "n1", Want(BUDGET, 1), Want(BALANCE, 1), alone=True) == [500, 1000]
        assert wallets.budget_left(connection, BUDGET) == 500


def test_a_budget_set_in_mid_period_counts_what_was_spent_before(store: Store) -> None:
    before = a_record(NOON, cost=80, key="key_1")
    others = [a_record(NOON, cost=5, key="key_2"), a_record(NOON - 7200, cost=7, key="key_1")]
    wallet = Wallet("budget:key_1:x", ACCOUNT.id, "key_1", "x", int(NOON), budget=500)
    whole = Wallet("budget:acct_1:x", ACCOUNT.id, ACCOUNT.id, "x", int(NOON), budget=500)
    with funded(store) as connection:
        add_requests(connection, [entry(record) for record in (before, *others)])
        assert draw(connection, "n1", Want(wallet, 1), Want(whole, 1), alone=True) == [420, 415]


def test_a_budget_whose_day_begins_inside_an_hour_counts_from_that_moment(store: Store) -> None:
    half_past = NOON + 1800  # midnight in Mumbai is half past an hour of UTC
    records = [
        a_record(half_past + minutes * 60, cost=cost, key="key_1")
        for minutes, cost in ((-31, 1), (-1, 2), (0, 4), (29, 8), (31, 16), (120, 32))
    ]
    wallet = Wallet("budget:key_1:x", ACCOUNT.id, "key_1", "x", int(half_past), budget=500)
    whole = Wallet("budget:acct_1:x", ACCOUNT.id, ACCOUNT.id, "x", int(half_past), budget=500)
    with funded(store) as connection:
        add_requests(connection, [entry(record) for record in records])
        assert draw(connection, "n1", Want(wallet, 1), Want(whole, 1), alone=True) == [440, 440]


def test_a_budget_that_is_overspent_when_it_is_set_gives_nothing(store: Store) -> None:
    wallet = Wallet("budget:key_1:x", ACCOUNT.id, "key_1", "x", 0, budget=50)
    with funded(store) as connection:
        add_requests(connection, [entry(a_record(NOON, cost=80, key="key_1"))])
        assert draw(connection, "n1", Want(wallet, 0), alone=True) == [0]
        assert wallets.budget_left(connection, wallet) == -30


def test_what_requests_cost_is_taken_from_the_lease_and_entered_twice(store: Store) -> None:
    with funded(store) as connection:
        draw(connection, "n1", Want(BALANCE, 1), Want(BUDGET, 1), alone=True)
        posted(connection, "n1", paying(30, balance__acct_1=30, **{"budget__key_1__2026-11": 30}))
        posted(connection, "n1", paying(12), paying(0))
        assert wallets.balance(connection, BALANCE.id) == 958
        assert wallets.budget_left(connection, BUDGET) == 470
        assert entries(connection) == [(BALANCE.id, "revenue", 12), (BALANCE.id, "revenue", 30)]


def test_what_an_account_had_not_is_the_operators(store: Store) -> None:
    with funded(store, 20) as connection:
        draw(connection, "n1", Want(BALANCE, 1), alone=True)
        posted(connection, "n1", paying(50, balance__acct_1=20))
        assert wallets.balance(connection, BALANCE.id) == 0
        assert entries(connection) == [
            (BALANCE.id, "revenue", 20),
            ("overrun", "revenue", 30),
        ]


def test_an_account_without_a_limit_needs_no_lease_and_may_owe(store: Store) -> None:
    with funded(store, 0) as connection:
        connection.execute(text("DELETE FROM wallet"))
        posted(connection, "n1", paying(50), paying(1))
        posted(connection, "n1", paying(2))
        assert wallets.balance(connection, BALANCE.id) == -53


def test_idle_parts_go_back_but_never_more_than_there_are(store: Store) -> None:
    with funded(store) as connection:
        draw(connection, "n1", Want(BALANCE, 400), alone=True)
        posted(connection, "n1", paying(300))
        wallets.give_back(connection, "n1", {BALANCE.id: 701})
        assert available(connection) == 0
        wallets.give_back(connection, "n1", {BALANCE.id: 700})
        assert available(connection) == 700
        assert wallets.leased(connection, "n1") == {BALANCE.id: 300}


def test_a_node_that_starts_again_returns_what_it_had(store: Store) -> None:
    with funded(store, 1000, "n1", "n2") as connection:
        draw(connection, "n1", Want(BALANCE, 400))
        draw(connection, "n2", Want(BALANCE, 300))
        posted(connection, "n1", paying(100))
        assert wallets.begin_node(connection, "n1", NOON, alone=False) == 2
        assert available(connection) == 600
        assert wallets.leased(connection, "n1") == {}
        assert wallets.leased(connection, "n2") == {BALANCE.id: 300}


def test_the_only_node_returns_what_any_had(store: Store) -> None:
    with funded(store, 1000, "n1", "n2") as connection:
        draw(connection, "n1", Want(BALANCE, 400))
        posted(connection, "n1", paying(1))
        wallets.begin_node(connection, "n3", NOON, alone=True)
        assert available(connection) == 999


@pytest.mark.parametrize(
    ("after", "back"), [(299, 0), (301, 250), (300 + 86_000, 250), (300 + 86_500, 350)]
)
def test_a_dead_node_loses_its_lease_and_later_what_its_requests_held(
    store: Store, after: int, back: int
) -> None:
    with funded(store) as connection:
        draw(connection, "n1", Want(BALANCE, 400))
        posted(connection, "n1", paying(50))
        wallets.renew(connection, "n1", {BALANCE.id: 100}, 0, NOON)
        lost = wallets.expire(connection, NOON + after)
        assert lost == (["n1"] if back else [])
        assert available(connection) == 600 + back
        assert wallets.balance(connection, BALANCE.id) == 950


def test_what_a_dead_node_settled_still_finds_its_lease(store: Store) -> None:
    with funded(store) as connection:
        draw(connection, "n1", Want(BALANCE, 400))
        wallets.renew(connection, "n1", {BALANCE.id: 100}, 0, NOON)
        wallets.expire(connection, NOON + 400)
        posted(connection, "n1", paying(100))
        assert wallets.balance(connection, BALANCE.id) == 900
        assert available(connection) == 900


def test_renewing_keeps_a_lease(store: Store) -> None:
    with funded(store) as connection:
        draw(connection, "n1", Want(BALANCE, 400))
        wallets.renew(connection, "n1", {}, 3, NOON + 200)
        assert wallets.expire(connection, NOON + 499) == []
        assert connection.execute(text("SELECT spool FROM node")).scalar_one() == 3


def test_a_recall_is_seen_by_those_who_have_a_lease(store: Store) -> None:
    with funded(store, 1000, "n1", "n2") as connection:
        draw(connection, "n1", Want(BALANCE, 400))
        assert wallets.recalled(connection, "n1") == {}
        wallets.recall(connection, BALANCE.id)
        wallets.recall(connection, BALANCE.id)
        assert wallets.recalled(connection, "n1") == {BALANCE.id: 2}
        assert wallets.recalled(connection, "n2") == {}
        assert read_counter(connection, wallets.RECALLS) == 2


def test_a_budget_that_changes_keeps_what_was_spent(store: Store) -> None:
    with funded(store) as connection:
        draw(connection, "n1", Want(BUDGET, 1), alone=True)
        posted(connection, "n1", paying(100, **{"budget__key_1__2026-11": 100}))
        wallets.change_budget(connection, "key_1", "2026-11", 800)
        assert wallets.budget_left(connection, BUDGET) == 700
        wallets.change_budget(connection, "key_1", "2026-11", 50)
        assert wallets.budget_left(connection, BUDGET) == -50
        wallets.change_budget(connection, "key_1", "2026-12", 9)
        assert wallets.budget_left(connection, BUDGET) == -50


def test_an_entry_is_written_once(store: Store) -> None:
    with funded(store) as connection:
        for _ in range(2):
            wallets.add_entry(connection, 5, "txn_1", FUNDING, balance_of(ACCOUNT.id), 7)
        assert entries(connection) == [(FUNDING, BALANCE.id, 7)]


def test_wallets_that_nothing_happened_to_are_empty(store: Store) -> None:
    with store.read() as connection:
        assert wallets.balance(connection, "balance:nobody") == 0
