import time
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from tests.store.rows import NOON, a_record, entry
from zurelay.store import schema
from zurelay.store.engine import Store, open_store
from zurelay.store.partitions import days
from zurelay.store.requests import Filter, add_requests, list_requests
from zurelay.store.sign_in_failures import KEPT_S, add_failure, failures_of
from zurelay.store.upkeep import Upkeep
from zurelay.store.usage import usage_by

DAY = 86_400
THEN = NOON - 1000 * DAY


@pytest.fixture
def upkeep(store: Store) -> Iterator[Upkeep]:
    made = Upkeep(store)
    yield made
    made.close()


def kept(store: Store) -> int:
    with store.read() as connection:
        return len(list_requests(connection, Filter(), 100))


def test_old_entries_go_and_the_sums_of_all_nodes_stay(store: Store, upkeep: Upkeep) -> None:
    with store.write() as connection:
        for shard in range(4):
            add_requests(connection, [entry(a_record(THEN + shard * DAY))], shard)
    assert upkeep.run(THEN + 2.5 * DAY, None)
    assert kept(store) == 4
    assert upkeep.run(THEN + 2.6 * DAY, DAY)
    assert kept(store) == 2
    with store.read() as connection:
        assert sum(row.requests for row in usage_by(connection, "day")) == 4


def test_the_sums_of_nodes_are_brought_together_once_their_hour_is_over(
    store: Store, upkeep: Upkeep
) -> None:
    def shards() -> set[int]:
        with store.read() as connection:
            return set(connection.execute(select(schema.usage_hour.c.shard)).scalars())

    with store.write() as connection:
        for shard in (1, 2):
            add_requests(connection, [entry(a_record(THEN))], shard)
    assert upkeep.run(THEN + 3600, None)
    assert shards() == {1, 2}
    assert upkeep.run(THEN + 2 * 3600, None)
    assert shards() == ({0} if store.kind == "postgresql" else {1, 2})
    assert upkeep.run(THEN + 60 * 3600, None)


def test_the_days_to_come_are_made_in_time(store: Store, upkeep: Upkeep) -> None:
    later = time.time() + 2 * DAY
    assert upkeep.run(later, None)
    if store.kind == "postgresql":
        with store.read() as connection:
            assert days(connection)[-1].start_ms > (later + 2 * DAY) * 1000


def test_one_node_does_it_for_all(store: Store, upkeep: Upkeep) -> None:
    assert upkeep.run(NOON, None)
    other = open_store(store.data, store.url)
    second = Upkeep(other)
    alone = store.kind == "sqlite"  # there is no second server
    assert second.run(NOON, None) is alone
    upkeep.close()
    assert second.run(NOON, None)
    second.close()
    other.close()


def test_failed_sign_ins_go_once_they_count_no_more(store: Store, upkeep: Upkeep) -> None:
    with store.write() as connection:
        add_failure(connection, {"old": "sif_1"}, int((NOON - KEPT_S - 1) * 1000))
        add_failure(connection, {"new": "sif_2"}, int((NOON - 1) * 1000))
    assert upkeep.run(NOON, None)
    with store.read() as connection:
        assert set(failures_of(connection, ["old", "new"], 0)) == {"new"}
