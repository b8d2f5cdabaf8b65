import asyncio
import sqlite3
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from tests.live.switched import (
    WALLETS,
    SwitchedLog,
    a_ledger,
    locked,
    logged,
    settled,
    spent,
    until_it_works,
    until_logged,
)
from tests.store.rows import ACCOUNT, NOON, a_record
from zurelay.chat.problems import Refused
from zurelay.live.journal import Journal
from zurelay.live.ledger import JournalLedger
from zurelay.meter import ports
from zurelay.meter.record import RequestRecord
from zurelay.store.wallet_source import StoredWallets


async def test_it_is_the_ledger_that_the_request_path_asks_for(ledger: JournalLedger) -> None:
    asked: ports.Ledger = ledger
    hold: ports.Hold = asked.reserve(WALLETS, 7)
    assert hold.ceiling == 7


async def test_a_settled_request_is_in_the_journal_before_its_answer_ends(
    tmp_path: Path, ledger: JournalLedger, log: SwitchedLog
) -> None:
    log.go.clear()
    record = a_record()
    found: list[bytes] = []

    def done() -> None:
        other = sqlite3.connect(tmp_path / "journal.db")
        found.extend(blob for (blob,) in other.execute("SELECT records FROM entry"))
        other.close()

    ledger.settle(None, record, done)
    assert found == []  # never before settle returns
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [msgspec.json.decode(blob, type=list[RequestRecord]) for blob in found] == [[record]]


async def test_what_settles_in_one_turn_of_the_loop_is_one_group(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    log.go.clear()
    await settled(ledger, *(a_record(NOON + n) for n in range(5)))
    assert ledger.backlog == 1
    await settled(ledger, a_record())
    assert ledger.backlog == 2


async def test_every_request_reaches_the_log_once(ledger: JournalLedger, log: SwitchedLog) -> None:
    records = [a_record(NOON + n, cost=n) for n in range(300)]
    for start in range(0, 300, 3):
        await settled(ledger, *records[start : start + 3])
    await until_logged(ledger)
    assert logged(log) == {record.id for record in records}
    assert spent(log) == [(records[0].key, int(NOON) // 86_400, sum(range(300)))]
    assert log.applications < 100


async def test_a_request_can_be_read_at_every_stage(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    log.go.clear()
    record = a_record(status="running")
    hold = ledger.reserve(WALLETS, 1)
    ledger.begin(record)
    assert await ledger.read(record.id, ACCOUNT.id) is record
    record.status = "ok"
    ledger.settle(hold, record, lambda: None)
    assert (await ledger.read(record.id, ACCOUNT.id)) is record  # queued
    await settled(ledger, a_record())
    assert (await ledger.read(record.id, ACCOUNT.id)) is record  # in the journal
    log.go.set()
    await until_logged(ledger)
    assert ledger.find(record.id) is None
    assert await ledger.read(record.id, ACCOUNT.id) == record  # in the log
    assert await ledger.read(record.id, None) == record


async def test_no_stage_shows_a_request_to_another_account(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    log.go.clear()
    running, queued = a_record(NOON), a_record(NOON + 1)
    ledger.begin(running)
    ledger.settle(None, queued, lambda: None)
    assert await ledger.read(running.id, "acct_2") is None
    assert await ledger.read(queued.id, "acct_2") is None
    log.go.set()
    await settled(ledger, running)
    await until_logged(ledger)
    assert await ledger.read(queued.id, "acct_2") is None
    assert await ledger.read("req_nonsense", ACCOUNT.id) is None


async def test_what_the_log_lacks_is_listed_newest_first(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    log.go.clear()
    records = [a_record(NOON + n) for n in range(3)]
    ledger.begin(records[1])
    await settled(ledger, records[0], records[2])
    assert ledger.unlogged() == records[::-1]


async def test_holds_are_released_by_settling_and_only_once(ledger: JournalLedger) -> None:
    one = ledger.reserve(WALLETS, 100)
    two = ledger.reserve(WALLETS, 50)
    assert (ledger.held, ledger.holds) == (150, 2)
    ledger.settle(one, a_record(NOON), lambda: None)
    with capture_logs():
        ledger.settle(one, a_record(NOON + 1), lambda: None)
    assert (ledger.held, ledger.holds) == (50, 1)
    ledger.settle(two, a_record(NOON + 2), lambda: None)
    assert (ledger.held, ledger.holds) == (0, 0)


@pytest.mark.parametrize("same_hold", [True, False])
async def test_a_second_settling_is_told_and_charges_nothing(
    ledger: JournalLedger, log: SwitchedLog, same_hold: bool
) -> None:
    log.go.clear()
    record = a_record(cost=5)
    hold = ledger.reserve(WALLETS, 1)
    ended = asyncio.Event()
    ledger.settle(hold, record, lambda: None)
    with capture_logs() as logs:
        ledger.settle(hold if same_hold else None, record, ended.set)
    await ended.wait()
    assert [(line["event"], line["request_id"]) for line in logs] == [("settled_twice", record.id)]
    log.go.set()
    await until_logged(ledger)
    assert spent(log) == [(record.key, int(NOON) // 86_400, 5)]


async def test_one_answer_that_fails_to_end_does_not_stop_the_others(
    ledger: JournalLedger,
) -> None:
    ended = asyncio.Event()
    with capture_logs() as logs:
        ledger.settle(None, a_record(NOON), lambda: 1 / 0)  # type: ignore[arg-type]
        ledger.settle(None, a_record(NOON + 1), ended.set)
        await ended.wait()
    assert [line["event"] for line in logs] == ["settle_callback_failed"]


async def test_with_power_safety_the_journal_is_written_from_a_thread(
    tmp_path: Path, log: SwitchedLog
) -> None:
    journal = Journal(tmp_path, power_safe=True, ballast_mb=0)
    wallets = StoredWallets(log.store, journal.id, alone=True)
    ledger = JournalLedger(journal, log, wallets, power_safe=True, delay_s=0.0)
    await ledger.start()
    records = [a_record(NOON + n) for n in range(60)]
    await asyncio.gather(*(settled(ledger, record) for record in records[:50]))
    for record in records[50:]:
        ledger.settle(None, record, lambda: None)
    await ledger.close()
    assert logged(log) == {record.id for record in records}


@pytest.mark.parametrize("power_safe", [False, True])
async def test_a_journal_that_cannot_be_written_refuses_new_requests_and_loses_none(
    tmp_path: Path, log: SwitchedLog, monkeypatch: pytest.MonkeyPatch, power_safe: bool
) -> None:
    monkeypatch.setattr("zurelay.live.journal._BUSY_S", 0.0)
    ledger = a_ledger(tmp_path, log, power_safe=power_safe)
    await ledger.start()
    hold = ledger.reserve(WALLETS, 1)
    records = [a_record(NOON), a_record(NOON + 1)]
    ended = [asyncio.Event(), asyncio.Event()]
    with capture_logs() as logs, locked(tmp_path / "journal.db"):
        ledger.settle(hold, records[0], ended[0].set)
        # The answer ends although its record still waits, after one more try.
        await ended[0].wait()
        assert ledger.broken is not None
        with pytest.raises(Refused) as refused:
            ledger.reserve(WALLETS, 1)
        assert refused.value.problem.status == 503
        assert refused.value.problem.retry_after is not None
        ledger.settle(None, records[1], ended[1].set)
        await ended[1].wait()
        assert await ledger.read(records[0].id, ACCOUNT.id) is records[0]
    with capture_logs():
        await until_it_works(ledger)
    assert [line["event"] for line in logs if line["log_level"] == "error"] == [
        "journal_write_failed"
    ]
    ledger.reserve(WALLETS, 1)
    await settled(ledger, a_record(NOON + 2))
    await ledger.close()
    assert logged(log) >= {record.id for record in records}
    assert len(logged(log)) == 3


async def test_what_cannot_be_written_at_the_very_end_is_told_whole(
    tmp_path: Path, log: SwitchedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.live.journal._BUSY_S", 0.0)
    ledger = a_ledger(tmp_path, log)
    await ledger.start()
    record = a_record()
    with capture_logs() as logs, locked(tmp_path / "journal.db"):
        ledger.settle(None, record, lambda: None)
        await ledger.close()
    (told,) = [line for line in logs if line["event"] == "request_not_recorded"]
    assert msgspec.json.decode(told["record"], type=RequestRecord) == record


async def test_a_record_that_no_column_could_hold_does_not_block_the_log(
    ledger: JournalLedger, log: SwitchedLog
) -> None:
    with capture_logs() as logs:
        await settled(ledger, a_record(cost=10**30, user="\ud800"), a_record(NOON + 1))
    await until_logged(ledger)
    assert [line["event"] for line in logs] == ["absurd_usage"]
    assert len(logged(log)) == 2
