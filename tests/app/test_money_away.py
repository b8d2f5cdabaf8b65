"""Money when the database is away, and when a gateway ends with requests under way."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.app.books import PREPAID, Books
from tests.app.conftest import Caller
from tests.app.gateways import Reader
from tests.app.test_money import config, stored
from tests.servers import postgresql_server
from zurelay.store import wallets
from zurelay.store.engine import open_store
from zurelay.store.requests import Filter, list_requests
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Stall, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

DOLLAR = 10**9


async def test_while_the_database_is_away_what_is_leased_is_spent_and_no_more(
    tmp_path: Path, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    usage = chat_usage(0, 100)
    upstream._answer = lambda _: json_reply(chat_reply(usage=usage))
    with postgresql_server() as server, server.database() as url:
        settings = config(upstream, second, PREPAID + stored(url))
        settings = settings.replace("max_output = 5000", "max_output = 100000")
        async with RunningGateway(tmp_path, settings) as gateway, HttpClient() as client:
            caller, books = Caller(gateway, client), Books(gateway)
            books.pay_in(DOLLAR)
            assert (await caller.chat(max_completion_tokens=100)).status == 200
            await books.audit()
            asked = len(upstream.requests)
            (leased,) = books.ledger.wallets._slices.values()
            assert 0 < leased.free < DOLLAR // 2  # a part, so that others could have theirs
            server.stop()
            for _ in range(3):
                assert (await caller.chat(max_completion_tokens=100)).status == 200
            refused = await caller.chat(max_completion_tokens=100_000)
            assert refused.status == 503, refused.body
            assert int(refused.headers["retry-after"]) >= 1
            assert len(upstream.requests) == asked + 3
            await asyncio.to_thread(server.start)
            answer = await caller.chat(max_completion_tokens=100_000)
            while answer.status == 503:  # connections of the pool are found dead one by one
                await asyncio.sleep(0.05)
                answer = await caller.chat(max_completion_tokens=100_000)
            assert answer.status == 200
            rows = await books.audit()
            paid = [row for row in rows if row.cost]
            assert len(paid) == 5
            assert books.balance() == DOLLAR - 5 * 500_000


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_gateway_that_ends_settles_what_runs_and_returns_what_it_leased(
    tmp_path: Path,
    upstream: ScriptedUpstream,
    second: ScriptedUpstream,
    store_url: str,
    at_once: bool,
) -> None:
    settings = config(upstream, second, PREPAID + stored(store_url))
    ends = "[server]\nshutdown_grace_s = 1\ndrain_delay_s = 0\n"
    settings = settings.replace("[server]\n", ends).replace(
        "_deadline_s = 1\n", "_deadline_s = 60\n"
    )
    gateway = await RunningGateway(tmp_path, settings).__aenter__()
    books = Books(gateway)
    books.pay_in(DOLLAR)
    account = books.account.id
    readers: list[Reader] = []
    told: list[Any] = chat_chunks(["One", " two"], usage=chat_usage())
    for number in range(6):
        begun = number % 2 == 0
        upstream.enqueue([*sse_reply(told)[:4], Stall()] if begun else [Stall()])
        readers.append(await Reader.ask(gateway, max_completion_tokens=1000))
        await upstream.wait_requests(number + 1)
        if begun:
            while b"two" not in await readers[-1].write():
                pass
    assert books.ledger.holds == 6
    gateway.process.stop(at_once=at_once, drain=False)
    await gateway.process.wait()
    gateway._store.close()
    for reader in readers:
        await reader.leave()
    store = open_store(gateway.data, store_url)
    with store.read() as connection:
        rows = list_requests(connection, Filter(), 100)
        left = wallets.balance(connection, f"balance:{account}")
        free = connection.execute(text("SELECT sum(available) FROM wallet")).scalar_one()
    store.close()
    assert len(rows) == 6
    assert sorted(row.cost > 0 for row in rows) == [False] * 3 + [True] * 3
    assert all(row.status == "error" for row in rows)
    assert left == free == DOLLAR - sum(row.cost for row in rows)
