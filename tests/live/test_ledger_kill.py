"""A gateway that is killed at any moment loses no settled charge and counts nothing twice."""

import random
import subprocess
import sys
import time
from pathlib import Path

from tests.store.rows import with_account
from zurelay.live.journal import Journal
from zurelay.live.ledger import JournalLedger
from zurelay.store.engine import open_store
from zurelay.store.log import StoredLog
from zurelay.store.requests import Filter

# Tells the id of each request in the moment its answer may end, as a caller would see it.
PROGRAM = """
import asyncio, os, pathlib, random, sys, time
from zurelay.live.ids import Ids
from zurelay.live.journal import Journal
from zurelay.live.ledger import JournalLedger
from zurelay.meter.record import RequestRecord
from zurelay.store.engine import open_store
from zurelay.store.log import StoredLog

async def main():
    folder = pathlib.Path(sys.argv[1])
    ledger = JournalLedger(Journal(folder, ballast_mb=0), StoredLog(open_store(folder)), delay_s=0.001)
    await ledger.start()
    os.write(1, b"ready\\n")
    ids = Ids()
    while True:
        for _ in range(random.randint(1, 5)):
            record = RequestRecord(ids.request(), time.time(), "acct_1", "key_1", "/v1", "m", "ok", cost=1)
            told = record.id.encode() + b"\\n"
            ledger.settle(None, record, lambda told=told: os.write(1, told))
        await asyncio.sleep(0)

asyncio.run(main())
"""


def run_and_kill(folder: Path, seconds: float) -> list[str]:
    """Ids whose answers ended before the process was killed."""
    output = folder / "told"
    with output.open("wb") as sink:
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)], stdout=sink)
        while not output.stat().st_size:
            assert process.poll() is None
            time.sleep(0.005)
        time.sleep(seconds)
        process.kill()
        process.wait()
    whole = output.read_text().rpartition("\n")[0]
    return whole.split("\n")[1:]


async def test_after_kill_9_every_ended_answer_is_charged_once(tmp_path: Path) -> None:
    with_account(open_store(tmp_path)).close()
    told: list[str] = []
    for _ in range(4):
        told += run_and_kill(tmp_path, random.uniform(0.01, 0.25))
    store = open_store(tmp_path)
    log = StoredLog(store)
    ledger = JournalLedger(Journal(tmp_path, ballast_mb=0), log)
    await ledger.start()
    entries = log.recent(Filter(), 10**6)
    ids = {record.id for record in entries}
    assert len(told) > 50
    assert set(told) <= ids
    assert len(entries) == len(ids) == ledger.spent("key_1")
    # An answer that had not ended may be recorded, but only those of the last groups.
    assert len(ids) - len(told) <= 4 * 10
    await ledger.close()
    store.close()
