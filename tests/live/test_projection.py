"""The way from the journal into the log, as the ledger goes it."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from tests.live.switched import (
    SwitchedLog,
    a_ledger,
    logged,
    settled,
    spent,
    until_logged,
)
from tests.store.rows import ACCOUNT, NOON, a_record
from zurelay.live.journal import Journal
from zurelay.live.ledger import JournalLedger


async def test_while_the_log_is_away_requests_go_on_and_arrive_later(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    log.away = True
    records = [a_record(NOON + n) for n in range(20)]
    with capture_logs() as logs:
        for record in records:
            await settled(ledger, record)
        assert ledger.backlog == 20
        assert await ledger.read(records[0].id, ACCOUNT.id) == records[0]
        while not logs:
            await asyncio.sleep(0.001)
        log.away = False
        await until_logged(ledger)
    assert logs[0]["event"] == "log_write_failed"
    assert logged(log) == {record.id for record in records}


async def test_a_whole_batch_waits_for_nobody_and_goes_in_one_transaction(
    tmp_path: Path, log: SwitchedLog
) -> None:
    ledger = a_ledger(tmp_path, log, delay_s=3600)
    await ledger.start()
    records = [a_record(NOON + n) for n in range(513)]
    for record in records[:511]:
        await settled(ledger, record)
    assert log.applications == 0
    await settled(ledger, records[511])
    while log.applications == 0:
        await asyncio.sleep(0.001)
    await settled(ledger, records[512])
    assert log.applications == 1
    await ledger.close()
    assert logged(log) == {record.id for record in records}


async def test_a_log_that_fails_is_left_alone_for_a_while_however_much_waits(
    tmp_path: Path, log: SwitchedLog
) -> None:
    ledger = a_ledger(tmp_path, log, delay_s=3600, retry_s=3600)
    await ledger.start()
    log.away = True
    with capture_logs() as logs:
        await settled(ledger, *(a_record(NOON + n) for n in range(256)))
        await settled(ledger, *(a_record(NOON + n) for n in range(256, 512)))
        while not logs:
            await asyncio.sleep(0.001)
        for n in range(512, 530):
            await settled(ledger, a_record(NOON + n))
        await asyncio.sleep(0)
    assert [line["event"] for line in logs] == ["log_write_failed"]
    log.away = False
    await ledger.close()
    assert len(logged(log)) == 530


async def test_memory_is_bounded_while_the_log_is_away(tmp_path: Path, log: SwitchedLog) -> None:
    ledger = a_ledger(tmp_path, log, keep=10, retry_s=0.01)
    await ledger.start()
    log.go.clear()
    records = [a_record(NOON + n) for n in range(50)]
    for record in records:
        await settled(ledger, record)
    assert len(ledger.unlogged()) <= 10
    log.go.set()
    await until_logged(ledger)
    assert logged(log) == {record.id for record in records}
    await ledger.close()


async def test_what_an_earlier_process_left_in_the_journal_is_brought_into_the_log(
    tmp_path: Path, log: SwitchedLog
) -> None:
    journal = Journal(tmp_path, ballast_mb=0)
    records = [a_record(NOON + n, cost=1) for n in range(2500)]
    for start in range(0, 2500, 7):
        journal.append([msgspec.json.encode(r) for r in records[start : start + 7]], 0)
    log.apply(journal.id, 100, [(r, msgspec.json.encode(r)) for r in records[:700]])
    journal.close()
    ledger = a_ledger(tmp_path, log)
    await ledger.start()
    assert len(logged(log)) == 2500
    assert sum(cost for _, _, cost in spent(log)) == 2500
    await settled(ledger, a_record(NOON - 1, cost=1))
    await ledger.close()
    assert sum(cost for _, _, cost in spent(log)) == 2501


async def test_a_journal_that_was_emptied_never_uses_a_number_the_log_knows(
    tmp_path: Path, log: SwitchedLog
) -> None:
    journal = Journal(tmp_path, ballast_mb=0)
    log.apply(journal.id, 100, [])
    journal.close()
    ledger = a_ledger(tmp_path, log, delay_s=60.0)
    await ledger.start()
    record = a_record()
    await settled(ledger, record)
    await ledger.close()
    assert logged(log) == {record.id}


async def test_the_journal_is_checkpointed_on_the_way(
    tmp_path: Path, log: SwitchedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.live.journal._CHECKPOINT_PAGES", 1)
    ledger = a_ledger(tmp_path, log)
    await ledger.start()
    before = (tmp_path / "journal.db").stat().st_size
    await settled(ledger, *(a_record(NOON + n) for n in range(50)))
    await until_logged(ledger)
    assert (tmp_path / "journal.db").stat().st_size > before
    await ledger.close()


async def test_closing_brings_everything_into_the_log(tmp_path: Path, log: SwitchedLog) -> None:
    ledger = a_ledger(tmp_path, log, delay_s=60.0)
    await ledger.start()
    records = [a_record(NOON + n) for n in range(10)]
    await settled(ledger, *records[:5])
    for record in records[5:]:
        ledger.settle(None, record, lambda: None)
    await ledger.close()
    assert logged(log) == {record.id for record in records}


async def test_closing_while_the_log_is_away_leaves_all_in_the_journal(
    tmp_path: Path, log: SwitchedLog
) -> None:
    ledger = a_ledger(tmp_path, log, delay_s=60.0)
    await ledger.start()
    log.away = True
    record = a_record()
    await settled(ledger, record)
    with capture_logs() as logs:
        await ledger.close()
    assert logs[0]["event"] == "log_write_failed"
    log.away = False
    again = a_ledger(tmp_path, log)
    await again.start()
    assert logged(log) == {record.id}
    await again.close()
