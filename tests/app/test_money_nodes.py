"""Several nodes on one PostgreSQL spend one balance: never below zero, and exact to the last."""

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.app.books import PREPAID, Books
from tests.app.conftest import Caller
from tests.app.test_money import config
from tests.app.test_money_races import spend_all
from tests.servers import PostgreSQL
from zurelay.store import wallets
from zurelay.store.engine import Store, open_store
from zurelay.store.requests import Filter, list_requests
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Pause, Script, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream
from zurelay.upstream.client import HttpClient

CENT = 10**7
NODES = 3

# A process with 70 callers, who reserve, spend and settle until there is nothing at all to be had.
PROGRAM = """
import asyncio, pathlib, random, sys, time
from zurelay.live.ids import Ids
from zurelay.live.journal import Journal
from zurelay.live.ledger import JournalLedger
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Wallet
from zurelay.store.engine import open_store
from zurelay.store.log import StoredLog
from zurelay.store.wallet_source import StoredWallets

BALANCE = Wallet("balance:acct_1", "acct_1", "acct_1")
BUDGET = Wallet("budget:key_1:total", "acct_1", "key_1", "total", 0, 10**12)

async def main(folder, url, seed):
    store = open_store(folder, url)
    journal = Journal(folder, power_safe=True, ballast_mb=0)
    ledger = JournalLedger(
        journal, StoredLog(store), StoredWallets(store, journal.id, alone=False),
        power_safe=True, direct=True,
    )
    await ledger.start()
    ids, dice = Ids(), random.Random(seed)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)

    async def spend():
        while True:
            ceiling = dice.randint(1, 300_000)
            while (hold := await ledger.fund((BALANCE, BUDGET), ceiling)) is None:
                if ceiling == 1:
                    return
                ceiling = max(1, min(ceiling // 2, ledger.wallets.affordable((BALANCE,))))
            await asyncio.sleep(dice.uniform(0, 0.01))
            cost = dice.choice((0, ceiling, dice.randint(1, ceiling)))
            record = RequestRecord(
                ids.request(), time.time(), "acct_1", "key_1", "/v1", "m", "ok", cost=cost
            )
            settled = asyncio.get_running_loop().create_future()
            ledger.settle(hold, record, lambda: settled.set_result(None))
            await settled

    await asyncio.gather(*(spend() for _ in range(70)))
    assert (ledger.held, ledger.overrun) == (0, 0)
    await ledger.close()
    store.close()

asyncio.run(main(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
"""


@pytest.fixture
def url(postgresql: PostgreSQL) -> Iterator[str]:
    with postgresql.database() as made:
        yield made


def pay_in(store: Store, account: str, amount: int) -> None:
    with store.write() as connection:
        wallets.add_available(connection, wallets.account_balance(account), amount)


def below_zero(store: Store) -> list[str]:
    """Wallets that have less than nothing, or whose leases do."""
    with store.read() as connection:
        found = connection.execute(
            text(
                "SELECT id FROM wallet WHERE available < 0"
                " UNION ALL SELECT wallet FROM lease WHERE spent > granted"
            )
        )
        return [str(name) for name in found.scalars()]


def spent(store: Store, wallet: str) -> tuple[int, int, int]:
    """What the log says that was spent, what the ledger says, and what is left in a wallet."""
    with store.read() as connection:
        rows = list_requests(connection, Filter(), 10**6)
        entered = connection.execute(text("SELECT coalesce(sum(amount), 0) FROM entry"))
        return (
            sum(row.cost for row in rows),
            int(entered.scalar_one()),
            wallets.balance(connection, wallet),
        )


async def test_three_processes_spend_the_last_cent_and_not_one_nano_dollar_more(
    tmp_path: Path, url: str
) -> None:
    store = open_store(tmp_path, url)
    pay_in(store, "acct_1", CENT)
    nodes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / f"n{n}"), url, str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(NODES)
    ]
    try:
        for node in nodes:
            assert node.stdout is not None
            assert await asyncio.to_thread(node.stdout.readline) == "ready\n"
        ends = []
        for node in nodes:
            assert node.stdin is not None
            node.stdin.write("go\n")
            node.stdin.flush()
            ends.append(asyncio.create_task(asyncio.to_thread(node.wait, 50)))
        while not all(end.done() for end in ends):
            assert await asyncio.to_thread(below_zero, store) == []
            await asyncio.sleep(0.05)
        for node in nodes:
            assert node.stderr is not None
            assert node.returncode == 0, node.stderr.read()
    finally:
        for node in nodes:
            node.kill()
            node.communicate()
    assert spent(store, "balance:acct_1") == (CENT, CENT, 0)
    with store.read() as connection:
        assert wallets.balance(connection, "budget:key_1:total") == 10**12 - CENT
        used = connection.execute(text("SELECT count(*) FROM lease WHERE spent > 0")).scalar_one()
    assert used == 2 * NODES  # all had a part in it
    store.close()


@pytest.fixture
async def callers(
    tmp_path: Path, url: str, second: ScriptedUpstream
) -> AsyncIterator[list[Caller]]:
    """A caller for each of three whole gateways, with one key for all."""
    dice = random.Random(1)

    def answer(request: Request) -> Script:
        usage = chat_usage(
            dice.randint(1, 8), dice.randint(1, request.json["max_completion_tokens"])
        )
        pause = Pause(dice.uniform(0, 0.02))
        if request.json.get("stream"):
            return [pause, *sse_reply(chat_chunks("Hello there", usage=usage))]
        return [pause, *json_reply(chat_reply(usage=usage))]

    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(ScriptedUpstream(answer=answer))
        settings = config(upstream, second, f'{PREPAID}[storage]\nurl = "{url}"\n')
        settings = settings.replace("_deadline_s = 1\n", "_deadline_s = 30\n")
        made: list[Caller] = []
        for number in range(NODES):
            folder = tmp_path / f"n{number}"
            folder.mkdir()
            gateway = await stack.enter_async_context(RunningGateway(folder, settings))
            gateway.key = gateway.key or made[0].gateway.key
            client = await stack.enter_async_context(HttpClient())
            made.append(Caller(gateway, client))
        yield made


async def test_callers_of_three_gateways_spend_one_balance(callers: list[Caller]) -> None:
    books = Books(callers[0].gateway)
    store = books.gateway.store
    books.pay_in(CENT)
    spending = [
        asyncio.create_task(spend_all(caller, 60, number)) for number, caller in enumerate(callers)
    ]
    while not all(task.done() for task in spending):
        assert await asyncio.to_thread(below_zero, store) == []
        await asyncio.sleep(0.05)
    answers = [await task for task in spending]
    assert all(seen.keys() == {200, 402} for seen in answers)
    for caller in callers:
        ledger = Books(caller.gateway).ledger
        while ledger.unlogged():
            await asyncio.sleep(0.01)
        assert (ledger.held, ledger.overrun) == (0, 0)
    logged, entered, left = spent(store, f"balance:{books.account.id}")
    assert logged == entered == CENT - left
    assert 0 <= left < 14 * 1000 + 5000
    mine = [(await caller.get("/v1/key")).json for caller in callers]
    assert [float(one["remaining_usd"]) for one in mine] == [left / 10**9] * NODES
