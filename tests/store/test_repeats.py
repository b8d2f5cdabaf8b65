from sqlalchemy import text

from tests.store.rows import NOON, a_record, entry
from zurelay.meter.record import RequestRecord
from zurelay.store.engine import Store
from zurelay.store.log import StoredLog
from zurelay.store.repeats import forget_repeats, paid_once
from zurelay.store.wallets import account_balance, balance

NAME = "ab" * 32


def using(at: float = NOON, **changes: object) -> RequestRecord:
    wallet = account_balance("acct_1").id
    fields: dict[str, object] = {"cost": 7, "postings": {wallet: 7}, "repeat": NAME}
    return a_record(at, **(fields | changes))


def charged(store: Store, *records: RequestRecord) -> list[int]:
    """What each costs in the log after all were written, one group after another."""
    log = StoredLog(store)
    for n, record in enumerate(records):
        log.add(f"n{n}", [entry(record)])
    found = [log.get(record.id, None) for record in records]
    return [-1 if one is None else one.cost for one in found]


def owed(store: Store) -> int:
    with store.read() as connection:
        return -balance(connection, account_balance("acct_1").id)


def test_the_second_answer_to_the_same_use_costs_nothing(store: Store) -> None:
    assert charged(store, using(), using(NOON + 1), using(NOON + 2)) == [7, 0, 0]
    assert owed(store) == 7


def test_the_same_request_again_stays_charged(store: Store) -> None:
    record = using()
    assert charged(store, record, record) == [7, 7]
    assert owed(store) == 7


def test_two_of_one_group_are_one(store: Store) -> None:
    StoredLog(store).add("n1", [entry(using()), entry(using(NOON + 1))])
    assert owed(store) == 7


def test_other_uses_and_other_accounts_are_charged(store: Store) -> None:
    records = (using(), using(repeat="cd" * 32), using(account="acct_2", postings={}))
    assert charged(store, *records) == [7, 7, 7]


def test_what_failed_leaves_the_use_free(store: Store) -> None:
    assert charged(store, using(status="error"), using(NOON + 1)) == [7, 7]


def test_after_an_hour_a_use_is_a_new_one(store: Store) -> None:
    records = [using(NOON), using(NOON + 3599), using(NOON + 3700), using(NOON + 3800)]
    assert charged(store, *records) == [7, 0, 7, 0]


def test_uses_are_forgotten(store: Store) -> None:
    charged(store, using())
    with store.write() as connection:
        forget_repeats(connection, NOON + 3500)
        count = text("SELECT count(*) FROM idempotency")
        assert connection.execute(count).scalar_one() == 1
        forget_repeats(connection, NOON + 3700)
        assert connection.execute(count).scalar_one() == 0


def test_requests_without_the_header_cost_no_statement(store: Store) -> None:
    entries = [entry(a_record())]
    with store.write() as connection:
        assert paid_once(connection, entries) is entries
