import time

from tests.store.rows import ACCOUNT, a_record, entry
from zurelay.live.ports import WalletSource
from zurelay.meter.wallets import Wallet, Want
from zurelay.store import wallets
from zurelay.store.engine import Store
from zurelay.store.log import StoredLog
from zurelay.store.wallet_source import StoredWallets, database_time

BALANCE = wallets.account_balance(ACCOUNT.id)
BUDGET = Wallet("budget:key_1:total", ACCOUNT.id, "key_1", "total", 0, budget=500)


def test_it_is_what_a_process_asks_for(store: Store) -> None:
    source: WalletSource = StoredWallets(store, "n1", alone=True)
    assert source.alone


def test_a_node_draws_spends_and_returns(store: Store) -> None:
    with store.write() as connection:
        wallets.add_available(connection, BALANCE, 1000)
    one, two = (StoredWallets(store, name, alone=False) for name in ("n1", "n2"))
    one.begin()
    two.begin()
    assert [drawn.granted for drawn in one.draw([Want(BALANCE, 300), Want(BUDGET, 100)])] == [
        300,
        100,
    ]
    assert [drawn.elsewhere for drawn in two.draw([Want(BALANCE, 800)])] == [300]
    record = a_record(cost=120, postings={BALANCE.id: 120, BUDGET.id: 120})
    StoredLog(store).apply("n1", 1, [entry(record)])
    assert one.leased() == {BALANCE.id: 300, BUDGET.id: 100}
    assert one.left([BALANCE, BUDGET]) == [880, 380]
    assert one.spent(0, ACCOUNT.id, record.key) == 120
    one.renew({BALANCE.id: 5}, 0)
    one.give_back({BALANCE.id: 180})
    assert [drawn.granted for drawn in two.draw([Want(BALANCE, 800)])] == [800]


def test_the_same_entry_again_takes_nothing(store: Store) -> None:
    source = StoredWallets(store, "n1", alone=True)
    source.begin()
    record = a_record(cost=120, postings={BALANCE.id: 120})
    for group in (1, 2):
        StoredLog(store).apply("n1", group, [entry(record), entry(record)])
    assert source.left([BALANCE]) == [-120]


def test_recalls_are_heard_by_the_others(store: Store) -> None:
    one, two = (StoredWallets(store, name, alone=False) for name in ("n1", "n2"))
    with store.write() as connection:
        wallets.add_available(connection, BALANCE, 1000)
    one.begin()
    one.draw([Want(BALANCE, 10)])
    assert one.recalled() == {}
    two.recall([BALANCE.id])
    assert one.recalled() == {BALANCE.id: 1}
    assert one.recalled() == {BALANCE.id: 1}


def test_the_clock_is_the_databases(store: Store) -> None:
    with store.read() as connection:
        assert abs(database_time(connection) - time.time()) < 60
