from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text

from tests.servers import PostgreSQL
from tests.store.filled import ROWS, fill
from tests.store.rows import a_record, entry
from zurelay.store import schema
from zurelay.store.copying import (
    check,
    copy_rows,
    filled,
    in_use,
    quiet,
    sums,
    tables,
    void_leases,
)
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.requests import add_requests


@pytest.fixture(params=["sqlite", "postgresql"])
def target(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store of each kind."""
    if request.param == "sqlite":
        with closing(open_store(tmp_path / "target")) as store:
            yield store
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    with server.database() as url, closing(open_store(tmp_path / "target", url)) as store:
        yield store


def test_every_row_of_every_table_arrives_as_it_was(store: Store, target: Store) -> None:
    fill(store)
    with store.read() as reading, target.write() as writing:
        assert filled(writing) == []
        read = copy_rows(reading, writing, quiet)
        check(writing, read)
        assert {name for name, found in read.items() if not found.rows} == set()
        for table in tables():
            rows = select(table).order_by(*table.primary_key)
            if table is schema.meta:
                rows = rows.where(table.c.name != "oldest")
            wanted = [tuple(row) for row in reading.execute(rows)]
            assert [tuple(row) for row in writing.execute(rows)] == wanted
        assert len(filled(writing)) == len(tables())


def test_sums_are_exact_where_the_databases_own_would_overflow(store: Store) -> None:
    with store.write() as connection:
        for number, amount in enumerate((2**63 - 1, 2**63 - 1, 2**63 - 5, -7, -1_000_001)):
            connection.execute(
                schema.entry.insert().values(
                    at_ms=number, id="x", debit="a", credit="b", amount=amount
                )
            )
        found = sums(connection, schema.entry)
    assert found.rows == 5
    assert found.columns == {"at_ms": 10, "amount": 3 * 2**63 - 7 - 7 - 1_000_001}


def test_a_row_that_did_not_arrive_is_noticed(store: Store, target: Store) -> None:
    fill(store)
    whole = pytest.raises(StoreError, match="table entry did not arrive whole: 2 rows for 3")
    with whole, store.read() as reading, target.write() as writing:
        read = copy_rows(reading, writing, quiet)
        writing.execute(text("DELETE FROM entry WHERE at_ms < 0"))
        check(writing, read)
    with target.read() as connection:
        assert filled(connection) == []


def test_an_amount_that_changed_on_the_way_is_noticed(store: Store, target: Store) -> None:
    fill(store)
    with store.read() as reading, target.write() as writing:
        read = copy_rows(reading, writing, quiet)
        writing.execute(text("UPDATE wallet SET available = available + 1 WHERE id LIKE 'i0%'"))
        with pytest.raises(StoreError, match="table wallet did not arrive whole"):
            check(writing, read)


def test_leases_return_to_their_wallets(store: Store) -> None:
    with store.write() as connection:
        for name, available in (("a", 100), ("b", 5)):
            connection.execute(
                schema.wallet.insert().values(
                    id=name, account="acct_1", owner="acct_1", period="", available=available,
                    recalled=0,
                )
            )  # fmt: skip
        for node, granted, spent in (("n1", 50, 20), ("n2", 0, 7)):
            connection.execute(
                schema.lease.insert().values(
                    wallet="a", node=node, epoch=1, granted=granted, spent=spent, held=9
                )
            )
        void_leases(connection)
        wallets = select(schema.wallet.c.id, schema.wallet.c.available)
        assert dict(map(tuple, connection.execute(wallets))) == {"a": 123, "b": 5}
        assert connection.execute(select(schema.lease)).all() == []


def test_text_that_only_sqlite_takes_is_cut_to_fit(tmp_path: Path, postgresql: PostgreSQL) -> None:
    with (
        postgresql.database() as url,
        closing(open_store(tmp_path / "new", url)) as new,
        closing(open_store(tmp_path / "old")) as old,
    ):
        with old.write() as connection:
            add_requests(connection, [entry(a_record())])
            connection.execute(
                text("UPDATE request SET error = :error, end_user = 'a' || char(0) || 'b'"),
                {"error": "e" * 150},
            )
        with old.read() as reading, new.write() as writing:
            check(writing, copy_rows(reading, writing, quiet))
            row = writing.execute(select(schema.request.c.error, schema.request.c.end_user)).one()
    assert tuple(row) == ("e" * 100, "ab")


def test_who_else_works_on_a_database_is_seen(tmp_path: Path, postgresql: PostgreSQL) -> None:
    with (
        postgresql.database() as url,
        closing(open_store(tmp_path, url)) as store,
        store.write() as connection,
    ):
        assert not in_use(connection)
        other = open_store(tmp_path, url)
        with other.read():
            assert in_use(connection)
        other.close()
        assert not in_use(connection)
        connection.execute(schema.node.insert().values(id="n", epoch=1, spool=0, seen=2**40))
        assert in_use(connection)


def test_what_the_tables_are_filled_with_is_more_than_one_row(store: Store) -> None:
    fill(store)
    with store.read() as connection:
        assert all(sums(connection, table).rows >= min(ROWS, 1) for table in tables())
