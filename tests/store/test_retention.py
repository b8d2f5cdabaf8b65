from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.servers import PostgreSQL
from tests.store.rows import NOON, a_record, entry
from zurelay.store.engine import Store, open_store
from zurelay.store.partitions import days, make_days
from zurelay.store.requests import Filter, add_requests, list_requests
from zurelay.store.retention import delete_older
from zurelay.store.usage import usage_by

DAY = 86_400
LONG_AGO = NOON - 1000 * DAY  # PostgreSQL has no partition for it


def add(store: Store, *times: float) -> None:
    with store.write() as connection:
        add_requests(connection, [entry(a_record(at)) for at in times])


def left(store: Store) -> list[float]:
    with store.read() as connection:
        return [record.created for record in list_requests(connection, Filter(), 100)]


@pytest.mark.parametrize("batch", [1, 2, 5, 1000])
def test_everything_older_goes_in_batches(
    store: Store, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.store.retention.BATCH", batch)
    add(store, *(LONG_AGO + n for n in range(6)))
    assert delete_older(store, LONG_AGO + 5) == 5
    assert delete_older(store, LONG_AGO + 5) == 0
    assert left(store) == [LONG_AGO + 5]


@pytest.fixture
def log(tmp_path: Path, postgresql: PostgreSQL) -> Iterator[Store]:
    """A store on PostgreSQL that has days from `LONG_AGO` to three days later."""
    with postgresql.database() as url, closing(open_store(tmp_path, url)) as store:
        with store.write() as connection:
            make_days(connection, LONG_AGO)
        yield store


def test_whole_days_are_dropped_and_their_sums_stay(log: Store) -> None:
    times = [LONG_AGO + n * DAY / 2 for n in range(5)]
    add(log, *times)
    with log.read() as connection:
        before = days(connection)
    assert delete_older(log, LONG_AGO + 1.6 * DAY) == 3  # noon, midnight and noon again
    assert left(log) == [LONG_AGO + 2 * DAY, LONG_AGO + 1.5 * DAY]
    with log.read() as connection:
        assert days(connection) == before[2:]
        assert sum(row.requests for row in usage_by(connection, "day")) == 5


def test_an_entry_that_comes_after_its_day_was_dropped_is_kept_until_the_next_time(
    log: Store,
) -> None:
    delete_older(log, LONG_AGO + DAY)
    add(log, LONG_AGO)
    assert left(log) == [LONG_AGO]
    assert delete_older(log, LONG_AGO + DAY) == 1


def test_those_who_write_and_read_today_do_not_wait_for_an_old_day_to_go(log: Store) -> None:
    add(log, LONG_AGO)
    with log.write(alone=False) as writer:
        add_requests(writer, [entry(a_record(LONG_AGO + 2 * DAY))])
        # It has the log open, so the old day's table is emptied and stays.
        assert delete_older(log, LONG_AGO + DAY) == 1
        add_requests(writer, [entry(a_record(LONG_AGO + 2 * DAY))])
    with log.read() as connection:
        assert len(days(connection)) >= 4
    assert delete_older(log, LONG_AGO + DAY) == 0
    with log.read() as connection:
        assert days(connection)[0].start_ms >= (LONG_AGO + DAY / 2) * 1000


def test_a_day_that_somebody_reads_stays_for_the_next_time(
    log: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(log, LONG_AGO)
    with log.read() as reader:
        table = days(reader)[0].table
        reader.execute(text(f"SELECT count(*) FROM {table}"))  # noqa: S608
        monkeypatch.setattr("zurelay.store.retention._WAIT", "10ms")
        assert delete_older(log, LONG_AGO + DAY) == 0
        assert left(log) == [LONG_AGO]
    assert delete_older(log, LONG_AGO + DAY) == 1
