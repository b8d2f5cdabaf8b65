"""A gateway process that is killed under load: who got the last byte is charged, once."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import text

from tests.app.test_money import config
from zurelay.meter.wallets import balance_of
from zurelay.store import wallets
from zurelay.store.accounts import list_accounts
from zurelay.store.engine import Store, open_store
from zurelay.store.requests import Filter, list_requests
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import Script, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream
from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.client import HttpClient

KILLS = 10
CALLERS = 12
CREDIT = 10**15

# Starts a gateway for each line it reads, in a process of its own that need not import anything.
PROGRAM = """
import json, os, pathlib, sys
from zurelay.app.options import ServeOptions
from zurelay.app.run import run
from zurelay.catalogue.load import standard
from zurelay.store.engine import open_store

folder = pathlib.Path(sys.argv[1])
options = ServeOptions(
    folder / "data", folder / "zurelay.toml", "127.0.0.1", 0, environ={}, ballast_mb=0
)

def announce(started):
    told = {"pid": os.getpid(), "origin": started.base_url, "key": started.first_key}
    print(json.dumps(told), flush=True)

standard()
open_store(folder / "other").close()  # the migrations too are read once
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        run(options, announce)
        os._exit(0)
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


class Callers:
    """Ask in all ways, and note what each answer that was whole says that it used."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.whole: dict[str, int] = {}
        self.cut = 0

    async def ask(self, origin: str, key: str, client: HttpClient) -> None:
        """Until the gateway is gone."""
        while True:
            stream = self.dice.random() < 0.6
            body = {
                "model": "test-model",
                "messages": [{"role": "user", "content": "Hi"}],
                "max_completion_tokens": 1000,
                **({"stream": True, "stream_options": {"include_usage": True}} if stream else {}),
            }
            call = Call(
                method="POST",
                url=f"{origin}/v1/chat/completions",
                headers=(("authorization", f"Bearer {key}"),),
                body=json.dumps(body).encode(),
            )
            try:
                answer = await client.fetch(call)
            except UpstreamError:
                self.cut += 1
                return
            assert answer.status == 200, answer.body
            told = answer.body
            if stream:
                if not told.endswith(b"data: [DONE]\n\n"):
                    self.cut += 1
                    return
                told = told.split(b"\n\n")[-3].removeprefix(b"data: ")
            usage = json.loads(told)["usage"]
            cost = usage["prompt_tokens"] * 1000 + usage["completion_tokens"] * 5000
            self.whole[answer.headers["x-request-id"]] = cost


def upstream_of(dice: random.Random) -> ScriptedUpstream:
    def answer(request: Request) -> Script:
        usage = chat_usage(dice.randint(1, 50), dice.randint(1, 900))
        if request.json.get("stream"):
            return sse_reply(chat_chunks("a b c d e", usage=usage), dice.choice((0, 0.001, 0.01)))
        return json_reply(chat_reply(usage=usage))

    return ScriptedUpstream(answer=answer)


def pay_in(store: Store) -> str:
    """A balance that does not run out; gives the account."""
    with store.write() as connection:
        account = list_accounts(connection)[0].id
        wallets.add_available(connection, wallets.account_balance(account), CREDIT)
    return account


async def kill_often(folder: Path, store: Store, callers: Callers) -> str:
    """Let gateways work in that folder, one after the other, each until a random answer.

    Gives the account that pays. The last one ends in order.
    """
    account = key = ""
    async with HttpClient() as client:
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as parent:
            for number in range(KILLS + 1):
                started: dict[str, Any] = json.loads(await asyncio.to_thread(said, parent, "go"))
                pid = started["pid"]
                try:
                    key = key or started["key"]
                    account = account or pay_in(store)
                    asking = [
                        asyncio.create_task(callers.ask(started["origin"], key, client))
                        for _ in range(CALLERS if number < KILLS else 0)
                    ]
                    enough = len(callers.whole) + callers.dice.randint(0, 40) * bool(asking)
                    while len(callers.whole) < enough:
                        assert not all(task.done() for task in asking)
                        await asyncio.sleep(0.001)
                    await asyncio.sleep(callers.dice.uniform(0.0, 0.1))
                finally:
                    os.kill(pid, signal.SIGKILL if number < KILLS else signal.SIGINT)
                await asyncio.gather(*asking)
                assert await asyncio.to_thread(said, parent) == "dead\n"
    return account


def said(process: "subprocess.Popen[str]", line: str = "") -> str:
    """What it says next, after it was told that line."""
    assert process.stdin is not None
    assert process.stdout is not None
    if line:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
    return process.stdout.readline()


async def test_ten_times_kill_9_loses_no_charge_and_doubles_none(
    tmp_path: Path, second: ScriptedUpstream, store_url: str
) -> None:
    dice = random.Random(11)
    callers = Callers(dice)
    store = open_store(tmp_path / "data", store_url)
    async with upstream_of(dice) as upstream:
        more = f'[billing]\nprepaid = true\n[storage]\nurl = "{store_url}"\n'
        settings = config(upstream, second, more).replace("_deadline_s = 1\n", "_deadline_s = 30\n")
        quick = "[server]\nshutdown_grace_s = 1\ndrain_delay_s = 0\n"
        settings = settings.replace("[server]\n", quick)
        (tmp_path / "zurelay.toml").write_text(settings, encoding="utf-8")
        account = await kill_often(tmp_path, store, callers)
    with store.read() as connection:
        rows = list_requests(connection, Filter(), 10**6)
        left = wallets.balance(connection, balance_of(account))
        entered = connection.execute(text("SELECT sum(amount) FROM entry")).scalar_one()
        debits = connection.execute(text("SELECT DISTINCT debit FROM entry")).scalars().all()
    store.close()
    logged = {row.id: row.cost for row in rows}
    assert len(rows) == len(logged)
    assert len(callers.whole) > 10 * KILLS
    assert callers.whole.items() <= logged.items()
    # An answer whose last byte was not seen may be charged: it was ready when the process died.
    assert len(logged) - len(callers.whole) <= callers.cut <= CALLERS * KILLS
    assert CREDIT - left == sum(logged.values()) == int(entered)
    assert debits == [balance_of(account)]
