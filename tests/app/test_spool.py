from pathlib import Path

import msgspec
import pytest

from tests.servers import PostgreSQL
from tests.store.rows import a_record, entry
from zurelay.app import spool
from zurelay.app.spool import deliver
from zurelay.live.journal import FILE, Journal, waiting
from zurelay.meter.wallets import Want
from zurelay.store.engine import open_store
from zurelay.store.log import StoredLog
from zurelay.store.requests import Filter
from zurelay.store.wallet_source import StoredWallets
from zurelay.store.wallets import account_balance, add_available, balance

WALLET = account_balance("acct_1")


def test_what_a_dead_process_left_arrives_once_and_its_money_returns(
    tmp_path: Path, postgresql: PostgreSQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "_BATCH", 2)
    with postgresql.database() as url:
        store = open_store(tmp_path / "other", url)
        log = StoredLog(store)
        with store.write() as connection:
            add_available(connection, WALLET, 1000)

        dead = tmp_path / "dead"
        dead.mkdir()
        journal = Journal(dead, ballast_mb=0)
        node = StoredWallets(store, journal.id, alone=False)
        node.begin()
        assert node.draw([Want(WALLET, 400)])[0].granted >= 400
        records = [a_record(cost=10 + at, postings={WALLET.id: 10 + at}) for at in range(5)]
        for record in records:
            journal.append([entry(record)[1]], 0)
        log.apply(journal.id, 1, [entry(records[0])])  # this one had arrived
        journal.close()
        assert waiting(dead, log.applied) == (4, records[1].created)

        assert deliver(dead, store) == 4
        assert deliver(dead, store) == 0
        assert waiting(dead, log.applied) == (0, None)
        assert {row.id for row in log.recent(Filter(), 10)} == {record.id for record in records}
        with store.read() as connection:
            assert balance(connection, WALLET.id) == 1000 - sum(record.cost for record in records)
        assert dict(node.leased()) == {}
        store.close()


def test_a_folder_without_a_journal_has_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert deliver(tmp_path / "none", store) == 0
    assert not (tmp_path / "none" / FILE).exists()
    store.close()


def test_what_a_dead_process_was_at_arrives_as_interrupted_and_what_it_settled_as_that(
    tmp_path: Path, postgresql: PostgreSQL
) -> None:
    with postgresql.database() as url:
        store = open_store(tmp_path / "other", url)
        dead = tmp_path / "dead"
        dead.mkdir()
        journal = Journal(dead, ballast_mb=0)
        left, settled = (a_record(status="running", cost=0) for _ in range(2))
        journal.mark([(one.id, entry(one)[1]) for one in (left, settled)], [])
        journal.append([entry(msgspec.structs.replace(settled, status="ok", cost=5))[1]], 0)
        journal.close()

        deliver(dead, store)
        found = {row.id: (row.status, row.cost) for row in StoredLog(store).recent(Filter(), 10)}
        assert found == {left.id: ("interrupted", 0), settled.id: ("ok", 5)}
        store.close()
