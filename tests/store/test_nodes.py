from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.servers import PostgreSQL
from zurelay.meter.wallets import Want
from zurelay.store.engine import Store, open_store
from zurelay.store.nodes import clock_offset, keeps_sessions, list_nodes
from zurelay.store.wallet_source import StoredWallets
from zurelay.store.wallets import ALIVE_S, account_balance, add_available, balance


@pytest.fixture
def store(tmp_path: Path, store_url: str) -> Iterator[Store]:
    store = open_store(tmp_path, store_url)
    yield store
    store.close()


def test_a_node_is_alive_while_it_is_heard_of(store: Store) -> None:
    for name in ("b", "a"):
        StoredWallets(store, name, alone=False).begin()
    StoredWallets(store, "b", alone=False).renew({}, 7)
    with store.write() as connection:
        connection.execute(
            text("UPDATE node SET seen = seen - :long WHERE id = 'a'"), {"long": ALIVE_S + 1}
        )
    with store.read() as connection:
        found = list_nodes(connection)
    assert [(node.id, node.alive, node.spool) for node in found] == [
        ("a", False, 0),
        ("b", True, 7),
    ]
    assert found[0].silent_s >= ALIVE_S + 1


def test_a_node_that_ended_is_not_alive_and_holds_nothing(store: Store) -> None:
    wallet = account_balance("acct_1")
    with store.write() as connection:
        add_available(connection, wallet, 1000)
    node = StoredWallets(store, "a", alone=False)
    node.begin()
    node.draw([Want(wallet, 100)])
    node.end()
    with store.read() as connection:
        assert [one.alive for one in list_nodes(connection)] == [False]
        assert balance(connection, wallet.id) == 1000
    assert node.leased() == {wallet.id: 0}


def test_a_database_on_this_machine_has_the_same_clock(store: Store) -> None:
    with store.read() as connection:
        assert abs(clock_offset(connection)) < 0.5


def test_a_server_without_a_pooler_keeps_sessions(tmp_path: Path, postgresql: PostgreSQL) -> None:
    with postgresql.database() as url:
        store = open_store(tmp_path, url)
        assert keeps_sessions(store)
        store.close()


def test_a_pooler_that_lends_sessions_is_noticed(tmp_path: Path, postgresql: PostgreSQL) -> None:
    """Two real connections, handed out as such a pooler does: the free one that came back last."""
    with postgresql.database() as url:
        store = open_store(tmp_path, url)
        servers = [store.session(), store.session()]
        pooler = _Pooler(servers)
        assert not keeps_sessions(pooler)  # type: ignore[arg-type]
        for server in servers:
            server.close()
        store.close()


class _Pooler:
    name = "pooler"

    def __init__(self, servers: Sequence[object]) -> None:
        self.free = list(servers)

    def session(self) -> "_Client":
        return _Client(self)


class _Client:
    def __init__(self, pooler: _Pooler) -> None:
        self._pooler = pooler
        self._lent: object = None

    def __enter__(self) -> "_Client":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, statement: object) -> object:
        words = str(statement)
        server = self._lent or self._pooler.free.pop()
        result = server.execute(statement)  # type: ignore[attr-defined]
        self._lent = server if words == "BEGIN" or (self._lent and words != "ROLLBACK") else None
        if self._lent is None:
            self._pooler.free.append(server)
        return result
