import asyncio
from pathlib import Path

import pytest
import structlog
from sqlalchemy import text

from tests.app.conftest import until
from tests.servers import PostgreSQL
from tests.store.rows import NOON, a_record, entry
from zurelay.app.housekeeping import Housekeeping
from zurelay.meter.wallets import Want
from zurelay.store.engine import Store, open_store
from zurelay.store.requests import Filter, add_requests, list_requests
from zurelay.store.route_reports import list_reports, tell
from zurelay.store.wallet_source import StoredWallets
from zurelay.store.wallets import account_balance, add_available, balance

WALLET = account_balance("acct_a")
YEAR = 365 * 86_400.0


def rows(store: Store) -> int:
    with store.read() as connection:
        return len(list_requests(connection, Filter(), 10))


async def test_old_entries_go_from_either_database(tmp_path: Path, store_url: str) -> None:
    store = open_store(tmp_path, store_url)
    with store.write() as connection:
        add_requests(connection, [entry(a_record(NOON - 2 * YEAR))])
    kept = None
    house = Housekeeping(store, lambda: kept)
    house._round()
    assert rows(store) == 1
    kept = YEAR
    house._due = 0.0
    job = asyncio.create_task(house.run())
    await until(lambda: rows(store) == 0)
    job.cancel()
    await house.close()
    store.close()


async def test_one_node_works_and_when_it_leaves_another_does(
    tmp_path: Path, postgresql: PostgreSQL
) -> None:
    with postgresql.database() as url:
        stores = [open_store(tmp_path, url) for _ in range(2)]
        houses = [Housekeeping(store, lambda: None) for store in stores]
        for house in (*houses, *houses):
            house._round()
        assert [house._due > 0 for house in houses] == [True, False]
        assert [house.leading for house in houses] == [True, False]
        await houses[0].close()
        houses[1]._round()
        assert [house.leading for house in houses] == [False, True]
        assert houses[1]._due > 0
        await houses[1].close()
        for store in stores:
            store.close()


async def test_what_dead_processes_said_of_their_routes_goes(
    tmp_path: Path, postgresql: PostgreSQL
) -> None:
    with postgresql.database() as url:
        store = open_store(tmp_path, url)
        with store.write() as connection:
            for node in ("gone", "here"):
                tell(connection, node, node, "{}")
            connection.execute(
                text("UPDATE route_report SET seen_ms = seen_ms - 400000 WHERE node = 'gone'")
            )
        house = Housekeeping(store, lambda: None)
        house._round()
        with store.read() as connection:
            assert [one.node for one in list_reports(connection)] == ["here"]
        await house.close()
        store.close()


async def test_what_dead_nodes_had_leased_returns(tmp_path: Path, postgresql: PostgreSQL) -> None:
    with postgresql.database() as url:
        store = open_store(tmp_path, url)
        with store.write() as connection:
            add_available(connection, WALLET, 1000)
        node = StoredWallets(store, "node", alone=False)
        node.begin()
        (drawn,) = node.draw([Want(WALLET, 300, 300)])
        assert drawn.granted >= 300
        house = Housekeeping(store, lambda: None)
        house._round()
        assert node.leased() == {WALLET.id: drawn.granted}
        with store.write() as connection:
            connection.execute(text("UPDATE lease SET expires = 1"))
        with structlog.testing.capture_logs() as told:
            house._round()
        assert node.leased() == {WALLET.id: 0}
        assert [line["nodes"] for line in told] == [["node"]]
        with store.read() as connection:
            assert balance(connection, WALLET.id) == 1000
        await house.close()
        store.close()


async def test_a_database_that_is_away_is_told_once_and_asked_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    house = Housekeeping(store, lambda: YEAR)
    with store.write() as connection:
        connection.execute(text("ALTER TABLE request RENAME TO gone"))
    with structlog.testing.capture_logs() as told:
        house._round()
        house._round()
    assert [line["event"] for line in told] == ["upkeep failed"]
    with store.write() as connection:
        connection.execute(text("ALTER TABLE gone RENAME TO request"))
    house._round()
    assert not house._failing
    await house.close()
    store.close()


@pytest.fixture(autouse=True)
def _every_log_line() -> None:
    structlog.reset_defaults()
