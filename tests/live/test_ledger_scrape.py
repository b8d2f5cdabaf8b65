import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.live.switched import WALLETS, SwitchedLog, a_ledger, locked, settled, until_it_works
from tests.store.rows import NOON, a_record
from zurelay.chat.problems import Refused
from zurelay.telemetry.metrics import StoreHealth


async def test_a_scrape_sees_what_waits_and_what_was_refused(
    tmp_path: Path, log: SwitchedLog
) -> None:
    now = NOON
    ledger = a_ledger(tmp_path, log, delay_s=3600, retry_s=3600, clock=lambda: now)
    await ledger.start()
    assert ledger.store_health() == StoreHealth()
    log.away = True
    with capture_logs() as logs:
        await settled(ledger, a_record(NOON))
        now += 5
        await settled(ledger, *(a_record(NOON + n) for n in range(1, 513)))
        while not logs:
            await asyncio.sleep(0.001)
    ledger.settle(None, a_record(NOON + 513), lambda: None)
    assert ledger.store_health() == StoreHealth(
        pending=1, lag_s=5.0, spooled=513, last_commit=NOON + 5, commits=2
    )
    ledger.broken = "full"
    with pytest.raises(Refused):
        ledger.reserve(WALLETS, 1)
    assert ledger.store_health().refused == 1
    log.away = False
    await ledger.close()
    assert ledger.store_health().lag_s == 0


async def test_each_commit_tells_how_long_its_first_entry_waited(
    tmp_path: Path, log: SwitchedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.live.journal._BUSY_S", 0.0)
    waits: list[float] = []
    ledger = a_ledger(tmp_path, log, observe=waits.append)
    await ledger.start()
    await settled(ledger, a_record(NOON), a_record(NOON + 1))
    await settled(ledger, a_record(NOON + 2))
    assert len(waits) == 2
    assert min(waits) >= 0
    with locked(tmp_path / "journal.db"):
        waiting = asyncio.create_task(settled(ledger, a_record(NOON + 3)))
        while ledger.broken is None:
            await asyncio.sleep(0.001)
        assert len(waits) == 2
    await waiting
    await until_it_works(ledger)
    assert len(waits) == 3
    assert waits[2] > 0.005  # the pause after the failure is in it
    await ledger.close()
