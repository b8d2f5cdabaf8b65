import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.rows import ACCOUNT, NOON, a_record, entry
from zurelay.meter.record import RequestRecord
from zurelay.store.engine import Store
from zurelay.store.requests import (
    Filter,
    add_requests,
    at_ms,
    delete_requests,
    get_request,
    list_requests,
)
from zurelay.store.usage import usage_by

LONG_AGO = NOON - 1000 * 86_400  # PostgreSQL has no partition for it


def add(store: Store, *records: RequestRecord) -> int:
    with store.write() as connection:
        return len(add_requests(connection, [entry(record) for record in records]))


def listed(store: Store, wanted: Filter, limit: int = 100) -> list[RequestRecord]:
    with store.read() as connection:
        return list_requests(connection, wanted, limit)


def counted(store: Store) -> int:
    with store.read() as connection:
        return sum(row.requests for row in usage_by(connection, "model"))


def test_an_entry_comes_back_whole(store: Store) -> None:
    record = a_record(user="élise \N{SNOWMAN}", error="x", cost=2**53)
    add(store, record)
    with store.read() as connection:
        assert get_request(connection, record.id, ACCOUNT.id) == record
        assert get_request(connection, record.id, None) == record


def test_an_entry_of_another_account_is_not_found(store: Store) -> None:
    record = a_record()
    add(store, record)
    with store.read() as connection:
        assert get_request(connection, record.id, "acct_2") is None


@pytest.mark.parametrize("id_", ["", "req_", "req_" + "z" * 32, "chatcmpl-" + "0" * 27, "' OR 1=1"])
def test_what_is_no_request_id_is_not_found(store: Store, id_: str) -> None:
    assert at_ms(id_) is None
    with store.read() as connection:
        assert get_request(connection, id_, None) is None


def test_the_time_is_read_from_the_id() -> None:
    assert at_ms(a_record(NOON + 0.25).id) == NOON * 1000 + 250


@pytest.mark.parametrize("size", [1, 63, 64, 65, 200])
def test_every_size_of_batch_arrives(store: Store, size: int) -> None:
    records = [a_record(NOON + n / 1000) for n in range(size)]
    assert add(store, *records) == size
    assert listed(store, Filter(), 1000) == records[::-1]
    assert counted(store) == size


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.lists(st.integers(0, 20), max_size=90), max_size=4))
def test_every_entry_is_written_and_counted_once_however_often_it_comes(
    store: Store, batches: list[list[int]]
) -> None:
    base = counted(store)
    records = [a_record(NOON + n) for n in range(21)]
    for batch in batches:
        add(store, *(records[n] for n in batch))
    wanted = {records[n].id for batch in batches for n in batch}
    assert {r.id for r in listed(store, Filter(), 10_000)} >= wanted
    assert counted(store) == base + len(wanted)


def test_of_two_entries_of_one_request_that_come_together_the_first_counts(store: Store) -> None:
    settled = a_record(NOON + 500, cost=77)
    later = msgspec.structs.replace(settled, status="interrupted", cost=0, usage=None)
    with store.write() as connection:
        new = add_requests(connection, [entry(settled), entry(later)])
    assert [record for record, _ in new] == [settled]
    assert listed(store, Filter()) == [settled]


def test_nothing_to_write_is_no_work(store: Store) -> None:
    assert add(store) == 0


def test_entries_are_listed_newest_first_and_page_by_page(store: Store) -> None:
    records = [a_record(NOON + n // 2) for n in range(6)]  # two in each moment
    ordered = sorted(records, key=lambda record: record.id, reverse=True)
    add(store, *records)
    first = listed(store, Filter(), 3)
    rest = listed(store, Filter(before=first[-1].id), 10)
    assert first + rest == ordered
    assert listed(store, Filter(before="nonsense")) == ordered


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(account="acct_2"), {"b"}),
        (Filter(key="key_c"), {"c"}),
        (Filter(model="claude-opus-5-5"), {"d", "e"}),
        (Filter(status="error"), {"f"}),
        (Filter(user="g"), {"g"}),
        (Filter(since=NOON + 7), {"h"}),
        (Filter(until=NOON + 1), {"a"}),
        (Filter(since=NOON, until=NOON + 2, account=ACCOUNT.id), {"a"}),
        (Filter(account="acct_2", status="error"), set()),
    ],
)
def test_a_filter_leaves_what_passes_all_of_it(
    store: Store, wanted: Filter, found: set[str]
) -> None:
    changes: dict[str, dict[str, object]] = {
        "a": {},
        "b": {"account": "acct_2"},
        "c": {"key": "key_c"},
        "d": {"model": "claude-opus-5-5"},
        "e": {"answered_by": "claude-opus-5-5"},
        "f": {"status": "error"},
        "g": {"user": "g"},
        "h": {},
    }
    for n, (name, change) in enumerate(changes.items()):
        add(store, a_record(NOON + n, client=name, **change))
    assert {record.client for record in listed(store, wanted)} == found


def test_names_longer_than_a_column_are_cut_there_and_kept_whole_in_the_entry(store: Store) -> None:
    record = a_record(model="m" * 1000, answered_by=None)
    add(store, record)
    assert listed(store, Filter(model="m" * 200)) == [record]


def test_old_entries_are_deleted_a_few_at_a_time_and_their_sums_stay(store: Store) -> None:
    records = [a_record(LONG_AGO + n) for n in range(10)]
    add(store, *records)
    deleted = []
    for _ in range(4):
        with store.write() as connection:
            deleted.append(delete_requests(connection, LONG_AGO + 7, 3))
    assert deleted == [3, 3, 1, 0]
    assert listed(store, Filter()) == records[:6:-1]
    assert counted(store) == 10


def test_an_entry_of_an_older_release_still_reads(store: Store) -> None:
    record = a_record()
    fields = msgspec.json.decode(msgspec.json.encode(record))
    fields["not_known_any_more"] = 1
    with store.write() as connection:
        add_requests(connection, [(record, msgspec.json.encode(fields))])
        assert get_request(connection, record.id, None) == record
