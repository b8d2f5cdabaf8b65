"""A ledger that commits on the log itself, and keeps the journal for when that is not to be had."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.live.switched import SwitchedLog, a_ledger, logged, settled, spent, until_logged
from tests.store.rows import NOON, a_record, with_account
from zurelay.live.ledger import JournalLedger
from zurelay.store.engine import open_store


@pytest.fixture
async def log(tmp_path: Path, store_url: str) -> AsyncIterator[SwitchedLog]:
    (tmp_path / "data").mkdir()
    store = with_account(open_store(tmp_path / "data", store_url))
    yield SwitchedLog(store)
    store.close()


@pytest.fixture
async def ledger(
    tmp_path: Path, log: SwitchedLog, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[JournalLedger]:
    """One that waits for a commit, however long that takes on a busy machine."""
    monkeypatch.setattr("zurelay.live.ledger._PATIENCE_S", 60)
    made = a_ledger(tmp_path, log, direct=True, power_safe=True)
    await made.start()
    yield made
    log.go.set()
    log.away = False
    await made.close()


async def test_what_is_settled_is_in_the_log_before_its_answer_ends(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    records = [a_record(NOON + n, cost=1) for n in range(5)]
    await settled(ledger, *records)
    assert logged(log) == {record.id for record in records}
    assert log.applications == 1
    assert ledger.backlog == 0
    assert ledger.find(records[0].id) is None


async def test_what_comes_during_a_commit_is_the_next_group(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    log.go.clear()
    first = asyncio.create_task(settled(ledger, a_record(NOON)))
    await asyncio.sleep(0.01)
    others = [asyncio.create_task(settled(ledger, a_record(NOON + n))) for n in range(1, 40)]
    await asyncio.sleep(0.01)
    log.go.set()
    await asyncio.gather(first, *others)
    assert log.applications == 2
    assert len(logged(log)) == 40


async def test_a_commit_that_fails_is_the_journals(ledger: JournalLedger, log: SwitchedLog) -> None:
    log.away = True
    records = [a_record(NOON + n, cost=1) for n in range(10)]
    with capture_logs() as logs:
        for record in records:
            await settled(ledger, record)
        assert ledger.backlog == 10
        assert ledger.store_health().spooled == 10
        while logs[-1]["event"] != "log_write_failed":
            await asyncio.sleep(0.001)
    assert logs[0]["event"] == "commit_failed"
    # While the log is known to be away it is not tried by each request.
    assert sum(line["event"] == "commit_failed" for line in logs) == 1
    log.away = False
    await until_logged(ledger)
    assert [cost for _, _, cost in spent(log)] == [10]


async def test_a_commit_that_takes_too_long_is_the_journals_too_and_counts_once(
    ledger: JournalLedger, log: SwitchedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.live.ledger._PATIENCE_S", 0.01)
    log.go.clear()
    record = a_record(cost=7)
    await settled(ledger, record)
    assert ledger.backlog == 1
    later = a_record(NOON + 1, cost=1)
    await settled(ledger, later)
    assert ledger.backlog == 2  # in order: it does not overtake
    log.go.set()
    await until_logged(ledger)
    assert [cost for _, _, cost in spent(log)] == [8]
    assert logged(log) == {record.id, later.id}


async def test_the_log_is_used_again_once_it_has_what_the_journal_took(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    log.away = True
    with capture_logs():
        await settled(ledger, a_record(NOON))
        log.away = False
        await until_logged(ledger)
    before = log.applications
    await settled(ledger, a_record(NOON + 1))
    assert log.applications == before + 1
    assert ledger.backlog == 0


async def test_closing_in_the_middle_of_a_commit_loses_nothing(
    tmp_path: Path, log: SwitchedLog
) -> None:
    ledger = a_ledger(tmp_path, log, direct=True, power_safe=True)
    await ledger.start()
    records = [a_record(NOON + n) for n in range(20)]
    for record in records:
        ledger.settle(None, record, lambda: None)
        await asyncio.sleep(0)
    await ledger.close()
    assert logged(log) == {record.id for record in records}
