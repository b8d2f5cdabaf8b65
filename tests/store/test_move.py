from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.servers import PostgreSQL
from tests.store.filled import fill
from tests.store.rows import NOON, a_key, a_record, entry, with_account
from zurelay.store.copying import filled, sums, tables
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.keys import list_keys
from zurelay.store.log import StoredLog
from zurelay.store.move import move
from zurelay.store.requests import Filter
from zurelay.store.usage import usage_by


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Store]:
    with closing(with_account(open_store(tmp_path / "old"))) as store:
        yield store


@pytest.fixture
def target(tmp_path: Path, postgresql: PostgreSQL) -> Iterator[Store]:
    with postgresql.database() as url, closing(open_store(tmp_path / "new", url)) as store:
        yield store


def test_a_moved_store_goes_on_as_the_old_one(source: Store, target: Store) -> None:
    fill(source, requests=0)
    log = StoredLog(source)
    records = [a_record(NOON + n, cost=10**n) for n in range(5)]
    log.apply("j", 4, [entry(record) for record in records])
    told: list[tuple[str, int]] = []
    moved = move(source, target, lambda *done: told.append(done))
    assert moved["request"].rows == 5
    assert ("request", 5) in told
    new = StoredLog(target)
    assert new.recent(Filter(), 10) == records[::-1]
    assert new.applied("j") == 4
    new.apply("j", 5, [entry(records[0]), entry(a_record(NOON + 9, cost=3))])
    with source.read() as old, target.read() as connection:
        assert list_keys(connection) == list_keys(old)
        usage = {row.group: row.cost for row in usage_by(connection, "key")}
        assert usage[a_key(1).id] == 11_111 + 3


def test_what_was_leased_returns_and_the_old_store_stays(source: Store, target: Store) -> None:
    fill(source)
    with source.read() as connection:
        before = {table.name: sums(connection, table) for table in tables()}
        balances = text(
            "SELECT sum(available / 1000) + (SELECT sum(granted / 1000 - spent / 1000) FROM lease)"
            " FROM wallet"
        )
        balance = int(connection.execute(balances).scalar_one())
    move(source, target)
    with source.read() as connection:
        assert {table.name: sums(connection, table) for table in tables()} == before
    with target.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM lease")).scalar_one() == 0
        available = text("SELECT sum(available / 1000) FROM wallet")
        assert abs(int(connection.execute(available).scalar_one()) - balance) < 10


def test_a_target_that_holds_something_is_refused(source: Store, target: Store) -> None:
    fill(source)
    with_account(target)
    with pytest.raises(StoreError, match="not empty: there is something in account, meta"):
        move(source, target)


def test_a_move_that_fails_leaves_the_target_empty(
    source: Store, target: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(source)

    def fail(*_: object) -> None:
        raise StoreError("table x did not arrive whole")

    monkeypatch.setattr("zurelay.store.move.check", fail)
    with pytest.raises(StoreError, match="did not arrive"):
        move(source, target)
    with target.read() as connection:
        assert filled(connection) == []
