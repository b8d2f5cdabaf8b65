import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.servers import PostgreSQL
from tests.store.rows import NOON, a_key, a_record, entry
from zurelay.access.keys import Key
from zurelay.cli import examining_store
from zurelay.cli.examining import Finding
from zurelay.cli.examining_store import messages, shared, spool
from zurelay.live.journal import FILE, Journal
from zurelay.meter.content import Content, Stored
from zurelay.store.content import StoredContents
from zurelay.store.engine import Store, open_store
from zurelay.store.log import StoredLog
from zurelay.store.sealing import Sealer
from zurelay.store.wallet_source import StoredWallets


@pytest.fixture
def store(tmp_path: Path, postgresql: PostgreSQL) -> Iterator[Store]:
    with postgresql.database() as url:
        store = open_store(tmp_path, url)
        yield store
        store.close()


def found(findings: Iterator[Finding]) -> dict[str, tuple[str, str]]:
    return {one.what: (one.state, one.says) for one in findings}


def test_nodes_alive_are_counted_and_two_need_valkey(store: Store) -> None:
    StoredWallets(store, "a", alone=False).begin()
    assert found(shared(store, valkey=False)) == {
        "clock of the database": ("ok", "agrees with ours"),
        "nodes": ("ok", "1 node alive"),
    }
    StoredWallets(store, "b", alone=False).begin()
    assert found(shared(store, valkey=True))["nodes"] == ("ok", "2 nodes alive")
    state, says = found(shared(store, valkey=False))["nodes"]
    assert (state, "storage.valkey_url" in says) == ("warning", True)


def test_a_node_that_went_with_records_is_named(store: Store) -> None:
    node = StoredWallets(store, "gone", alone=False)
    node.begin()
    node.renew({}, 3)
    assert "spool elsewhere" not in found(shared(store, valkey=True))
    with store.write() as connection:
        connection.execute(text("UPDATE node SET seen = seen - 600"))
    state, says = found(shared(store, valkey=True))["spool elsewhere"]
    assert (state, "gone (10 min ago)" in says) == ("warning", True)


@pytest.mark.parametrize(
    ("ahead", "says"), [(3.0, "3.0 s ahead of ours"), (-90.0, "90.0 s behind ours")]
)
def test_a_clock_that_is_off_is_told(
    store: Store, monkeypatch: pytest.MonkeyPatch, ahead: float, says: str
) -> None:
    monkeypatch.setattr(examining_store, "clock_offset", lambda _: ahead)
    state, told = found(shared(store, valkey=True))["clock of the database"]
    assert (state, says in told) == ("warning", True)


def test_a_pooler_that_lends_sessions_is_a_fault(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examining_store, "keeps_sessions", lambda _: False)
    assert found(shared(store, valkey=True))["sessions"][0] == "fault"


def test_with_sqlite_there_is_nothing_to_share(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert found(shared(store, valkey=False)) == {}
    store.close()


def test_records_under_way_are_counted_with_their_age(tmp_path: Path, store_url: str) -> None:
    store = open_store(tmp_path, store_url)
    assert found(spool(store, tmp_path)) == {"spool": ("ok", "empty: every record is in the log")}
    folder = tmp_path / "worker-2"
    folder.mkdir()
    journal = Journal(folder, ballast_mb=0)
    now = time.time()
    old, new = a_record(now - 30), a_record(now)
    journal.append([entry(old)[1], entry(new)[1]], 0)
    state, says = found(spool(store, tmp_path))["spool"]
    assert (state, says[:35]) == ("ok", "2 records on the way into the log, ")
    assert "30 s ago" in says or "31 s ago" in says

    journal.append([entry(a_record(now - 7200))[1]], 0)
    assert found(spool(store, tmp_path))["spool"] == (
        "warning",
        "3 records on the way into the log, the oldest 2 h ago",
    )
    StoredLog(store).apply(journal.id, 2, [])
    assert found(spool(store, tmp_path))["spool"][1].startswith("empty")
    journal.close()
    (folder / FILE).write_bytes(b"nonsense" * 100)
    assert found(spool(store, tmp_path))["spool"][0] == "fault"
    store.close()


def test_messages_that_are_wanted_or_cannot_be_read_are_told_of(
    tmp_path: Path, store_url: str
) -> None:
    store = open_store(tmp_path / "data", store_url)
    keeper, sealer = a_key(store_days=3), Sealer(["k" * 32])

    def told(keys: list[Key], known: Sealer | None) -> tuple[str, str]:
        one = messages(store, keys, known)
        return one.state, one.says

    assert told([a_key()], None) == ("ok", "none, and no key wants any")
    assert told([keeper, a_key(2)], sealer) == ("ok", "of 1 key, encrypted")
    state, says = told([keeper], None)
    assert (state, "[log] content_key" in says) == ("warning", True)
    made = StoredContents(store)
    made.sealer = sealer
    one = Stored("req_1", NOON, "acct_1", keeper.id, None, int(NOON) + 9, Content("openai_chat"))
    made.add([(one, made.seal(one))])
    assert told([keeper], sealer)[0] == "ok"
    assert told([a_key()], None)[0] == "warning"
    state, says = told([keeper], Sealer(["o" * 32]))
    assert (state, "content_previous_keys" in says) == ("warning", True)
    store.close()
