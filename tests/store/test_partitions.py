from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.servers import PostgreSQL
from tests.store.rows import NOON, a_record, entry
from zurelay.store import partitions
from zurelay.store.engine import Store, open_store
from zurelay.store.partitions import DEFAULT, Day, days, make_days
from zurelay.store.requests import Filter, add_requests, get_request, list_requests

DAY = 86_400
THEN = NOON - 1000 * DAY


@pytest.fixture
def log(tmp_path: Path, postgresql: PostgreSQL) -> Iterator[Store]:
    with postgresql.database() as url, closing(open_store(tmp_path, url)) as store:
        yield store


def count(store: Store, table: str) -> int:
    with store.read() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())  # noqa: S608


def test_a_day_is_named_by_its_date_and_has_all_of_its_milliseconds() -> None:
    day = Day(20_000)
    assert (day.table, day.start_ms, day.end_ms) == (
        "request_20241004",
        1_728_000_000_000,
        1_728_086_400_000,
    )


def test_a_new_database_has_today_and_the_days_to_come(log: Store) -> None:
    with log.read() as connection:
        known = days(connection)
    assert len(known) == partitions.AHEAD_DAYS + 1
    assert [day.number for day in known] == list(range(known[0].number, known[0].number + 4))


def test_days_are_made_once_and_entries_go_where_they_belong(log: Store) -> None:
    with log.write() as connection:
        made = make_days(connection, THEN)
        assert make_days(connection, THEN) == []
        assert [day.table for day in make_days(connection, THEN + DAY)] == ["request_20240308"]
        records = [a_record(THEN + n * DAY) for n in (-1, 0, 0, 2)]
        add_requests(connection, [entry(record) for record in records])
    assert [count(log, day.table) for day in made] == [2, 0, 1, 0]
    assert count(log, DEFAULT) == 1
    with log.read() as connection:
        found = {record.id for record in list_requests(connection, Filter(), 10)}
        assert found == {record.id for record in records}
        assert all(get_request(connection, record.id, None) == record for record in records)


def test_entries_that_were_there_before_their_day_move_into_it(log: Store) -> None:
    records = [a_record(THEN + n) for n in range(3)]
    with log.write() as connection:
        add_requests(connection, [entry(record) for record in records])
        (first, *_) = make_days(connection, THEN)
        again = add_requests(connection, [entry(record) for record in records])
    assert list(again) == []
    assert (count(log, DEFAULT), count(log, first.table)) == (0, 3)


def test_a_day_with_too_many_of_them_stays_where_it_is(
    log: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "_STRAYS", 2)
    with log.write() as connection:
        add_requests(connection, [entry(a_record(THEN + n)) for n in range(3)])
        assert len(make_days(connection, THEN)) == partitions.AHEAD_DAYS
    assert count(log, DEFAULT) == 3


def test_those_who_write_do_not_wait_for_a_day_to_be_made(log: Store) -> None:
    with log.write() as connection:
        make_days(connection, THEN)
    with log.write(alone=False) as writer:
        add_requests(writer, [entry(a_record(THEN))])
        with log.write() as connection:
            connection.execute(text("SET LOCAL lock_timeout = '100ms'"))
            assert len(make_days(connection, THEN + DAY)) == 1
            # Now it has its locks: others write on.
            with log.write(alone=False) as other:
                other.execute(text("SET LOCAL lock_timeout = '100ms'"))
                add_requests(other, [entry(a_record(THEN + 1))], shard=1)


def test_a_question_about_one_day_reads_that_day_alone(log: Store) -> None:
    with log.write() as connection:
        (first, *_) = make_days(connection, THEN)
        plan = connection.execute(
            text("EXPLAIN SELECT 1 FROM request WHERE at_ms = :at AND id = 'x'"),
            {"at": first.start_ms},
        ).scalars()
        read = [line for line in plan if "request_" in line and " on " in line]
    assert len(read) == 1
    assert first.table in read[0]
