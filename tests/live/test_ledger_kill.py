"""A gateway that is killed at any moment loses no settled charge and counts nothing twice."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.store.rows import ACCOUNT, with_account
from zurelay.live.journal import Journal
from zurelay.live.ledger import JournalLedger
from zurelay.store import wallets
from zurelay.store.engine import Store, open_store
from zurelay.store.log import StoredLog
from zurelay.store.requests import Filter
from zurelay.store.wallet_source import StoredWallets

KILLS = 100
CREDIT = 10**15

# For each line it reads it starts a gateway's ledger under load in a process of its own, which
# tells the id of each request in the moment its answer may end, as a caller would see it.
PROGRAM = """
import asyncio, os, pathlib, random, sys, time
from zurelay.live import ledger as module
from zurelay.live.ids import Ids
from zurelay.live.journal import Journal
from zurelay.live.ledger import JournalLedger
from zurelay.live.wallets import Short
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Wallet
from zurelay.store.engine import open_store
from zurelay.store.log import StoredLog
from zurelay.store.wallet_source import StoredWallets

# Requests are noted as under way at once, so that kills meet those that have ended since.
module.PATIENCE_S = 0.002
WALLETS = (Wallet("balance:acct_1", "acct_1", "acct_1"),)

async def main(folder, url, told):
    store = open_store(folder, url)
    journal = Journal(folder, power_safe=bool(url), ballast_mb=0)
    wallets = StoredWallets(store, journal.id, alone=not url)
    ledger = JournalLedger(
        journal, StoredLog(store), wallets, direct=bool(url), power_safe=bool(url), delay_s=0.001
    )
    await ledger.start()
    ids = Ids()
    until = time.monotonic() + 10  # whoever should kill it may be gone
    running = []
    while time.monotonic() < until:
        for hold, record in running[:random.randint(1, 5)]:
            running.remove((hold, record))
            record.status, record.cost = "ok", random.randint(0, 1000)
            line = f"{record.id} {record.cost}\\n".encode()
            ledger.settle(hold, record, lambda line=line: os.write(told, line))
        while len(running) < 20:
            hold = await ledger.fund(WALLETS, 1000)
            begun = time.time() - 1
            record = RequestRecord(ids.request(), begun, "acct_1", "key_1", "/v1", "m", "running")
            ledger.begin(record)
            running.append((hold, record))
        await asyncio.sleep(0)

folder = pathlib.Path(sys.argv[1])
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        random.seed()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # log lines are not for whoever reads here
        asyncio.run(main(folder, sys.argv[2], os.open(folder / "told", os.O_WRONLY | os.O_APPEND)))
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


def kill_often(folder: Path, url: str, dice: random.Random) -> None:
    """Let ledgers work in that folder, one after the other, each for a random moment."""
    told = folder / "told"
    told.touch()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        for _ in range(KILLS):
            before = told.stat().st_size
            parent.stdin.write("go\n")
            parent.stdin.flush()
            child = int(parent.stdout.readline())
            until = time.monotonic() + 30
            while told.stat().st_size == before and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(dice.uniform(0, 0.06))
            os.kill(child, signal.SIGKILL)
            assert parent.stdout.readline() == "dead\n"
        parent.stdin.close()


def give_credit(store: Store) -> None:
    with store.write() as connection:
        wallets.add_available(connection, wallets.account_balance(ACCOUNT.id), CREDIT)


@pytest.mark.timeout(300)
async def test_after_kill_9_every_ended_answer_is_charged_once(
    tmp_path: Path, store_url: str
) -> None:
    store = with_account(open_store(tmp_path, store_url))
    give_credit(store)
    store.close()
    kill_often(tmp_path, store_url, random.Random(7))
    lines = (tmp_path / "told").read_text().rpartition("\n")[0].split("\n")
    told = {id_: int(cost) for id_, cost in (line.split() for line in lines)}
    store = open_store(tmp_path, store_url)
    log = StoredLog(store)
    journal = Journal(tmp_path, ballast_mb=0)
    ledger = JournalLedger(journal, log, StoredWallets(store, journal.id, alone=not store_url))
    await ledger.start()
    entries = log.recent(Filter(), 10**6)
    logged = {record.id: record.cost for record in entries}
    assert {record.status for record in entries} == {"ok", "interrupted"}
    assert not any(record.cost for record in entries if record.status == "interrupted")
    assert len(lines) == len(told) > 10 * KILLS
    assert told.items() <= logged.items()
    assert len(entries) == len(logged)
    # Of answers that had not ended, those of the last groups may be recorded as well.
    with store.read() as connection:
        left = wallets.balance(connection, f"balance:{ACCOUNT.id}")
        entered = connection.exec_driver_sql("SELECT count(*), sum(amount) FROM entry").one()
    assert CREDIT - left == sum(logged.values()) == entered[1]
    assert entered[0] == sum(cost > 0 for cost in logged.values())
    await ledger.close()
    store.close()
