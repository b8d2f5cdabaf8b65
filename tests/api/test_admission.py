"""Letting requests in: limits and money together or neither, and nothing stays set aside."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.app.books import Books
from tests.app.conftest import Caller as Client
from tests.app.conftest import until
from zurelay.access.accounts import Budget
from zurelay.meter.wallets import Drawn, Want
from zurelay.store.errors import StoreError
from zurelay.testing.chat import chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Pause, json_reply
from zurelay.testing.upstream import ScriptedUpstream

CENT = 10**7


@pytest.fixture
async def books(gateway: RunningGateway) -> Books:
    made = Books(gateway)
    await made.set_account(prepaid=True)
    return made


class Slow:
    """Stands before a gateway's wallets: their store answers when the test lets it, or is away."""

    def __init__(self, books: Books) -> None:
        source: Any = books.ledger.wallets._source
        self.draw = source.draw
        source.draw = self._answer
        self.go = asyncio.Event()
        self.asked = 0
        self.away = False
        self._loop = asyncio.get_running_loop()

    def _answer(self, wants: Sequence[Want]) -> list[Drawn]:
        self.asked += 1
        if self.away:
            raise StoreError("away")
        asyncio.run_coroutine_threadsafe(self.go.wait(), self._loop).result(20)
        drawn: list[Drawn] = self.draw(wants)
        return drawn


async def test_a_first_request_asks_the_store_for_money_and_the_next_does_not(
    client: Client, books: Books, upstream: ScriptedUpstream
) -> None:
    store = Slow(books)
    store.go.set()
    books.pay_in(100 * CENT)
    upstream.enqueue(*[json_reply(chat_reply())] * 3)
    for _ in range(3):
        assert (await client.chat(max_completion_tokens=100)).status == 200
    assert store.asked == 1
    await books.audit()


async def test_others_are_served_while_one_waits_for_its_money(
    client: Client, books: Books, upstream: ScriptedUpstream
) -> None:
    store = Slow(books)
    books.pay_in(CENT)
    waiting = asyncio.create_task(client.chat(max_completion_tokens=100))
    await until(lambda: store.asked)
    assert (await client.get("/v1/models")).status == 200
    assert not waiting.done()
    upstream.enqueue(json_reply(chat_reply()))
    store.go.set()
    assert (await waiting).status == 200
    await books.audit()


async def test_a_caller_who_leaves_while_the_store_is_asked_leaves_nothing_behind(
    client: Client, books: Books, upstream: ScriptedUpstream
) -> None:
    store = Slow(books)
    books.pay_in(CENT)
    await books.set_key(rpm=1, concurrency=1)
    waiting = asyncio.create_task(client.chat(max_completion_tokens=100))
    await until(lambda: store.asked)
    waiting.cancel()
    await asyncio.wait([waiting])
    await until(books.ledger.unlogged)
    store.go.set()
    (row,) = await books.audit()
    assert (row.status, row.http_status, row.cost) == ("client_closed", 499, 0)
    assert upstream.requests == []
    upstream.enqueue(json_reply(chat_reply()))
    assert (await client.chat(max_completion_tokens=100)).status == 200  # it used nothing up
    await books.audit()


async def test_without_the_store_those_with_limits_get_503_and_others_are_served(
    client: Client, books: Books, upstream: ScriptedUpstream
) -> None:
    store = Slow(books)
    store.away = True
    books.pay_in(CENT)
    answer = await client.chat(max_completion_tokens=100)
    assert (answer.status, answer.json["error"]["code"]) == (503, "no_route_available")
    assert int(answer.headers["retry-after"]) >= 1
    assert upstream.requests == []
    await books.set_account(prepaid=False)
    upstream.enqueue(json_reply(chat_reply()))
    assert (await client.chat()).status == 200
    await books.set_account(prepaid=True)
    store.away = False
    store.go.set()
    upstream.enqueue(json_reply(chat_reply()))
    assert (await client.chat(max_completion_tokens=100)).status == 200
    await books.audit()


async def test_who_cannot_pay_uses_no_limit_up_and_who_is_limited_holds_no_money(
    client: Client, books: Books, upstream: ScriptedUpstream
) -> None:
    await books.set_key(rpm=2, tpm=10_000, concurrency=1)
    for _ in range(5):
        assert (await client.chat(max_completion_tokens=100)).status == 402
    books.pay_in(CENT)
    await asyncio.sleep(0.06)
    go = asyncio.Event()
    upstream.enqueue([Pause(go), *json_reply(chat_reply())])
    asked = asyncio.create_task(client.chat(max_completion_tokens=100))
    await upstream.wait_requests()
    held = books.ledger.held
    limited = await client.chat(max_completion_tokens=100)
    assert limited.status == 429
    assert (books.ledger.held, books.ledger.holds) == (held, 1)
    go.set()
    answer = await asked
    assert answer.headers["x-ratelimit-remaining-requests"] == "1"
    upstream.enqueue(json_reply(chat_reply()))
    assert (await client.chat(max_completion_tokens=100)).status == 200
    statuses = sorted(row.http_status for row in await books.audit())
    assert statuses == [200, 200, *[402] * 5, 429]


async def test_two_repeats_that_wait_for_money_become_one_request(
    client: Client, books: Books, upstream: ScriptedUpstream
) -> None:
    store = Slow(books)
    books.pay_in(CENT)
    upstream.enqueue(json_reply(chat_reply()))
    name = {"idempotency-key": "order-1"}
    asked = [asyncio.create_task(client.chat(name, max_completion_tokens=100)) for _ in range(3)]
    await until(lambda: store.asked)
    await asyncio.sleep(0.02)
    store.go.set()
    answers = await asyncio.gather(*asked)
    assert {answer.status for answer in answers} == {200}
    assert len({answer.headers["x-request-id"] for answer in answers}) == 1
    assert len(await books.audit()) == len(upstream.requests) == 1


async def test_what_running_requests_hold_is_not_there_for_others(
    client: Client, books: Books, upstream: ScriptedUpstream
) -> None:
    books.pay_in(550_000)
    go = asyncio.Event()
    upstream.enqueue([Pause(go), *json_reply(chat_reply())])
    asked = asyncio.create_task(client.chat(max_completion_tokens=100))
    await upstream.wait_requests()
    refused = await client.chat(max_completion_tokens=20)
    assert refused.status == 402
    go.set()
    assert (await asked).status == 200
    upstream.enqueue(json_reply(chat_reply()))
    assert (await client.chat(max_completion_tokens=100)).status == 200  # the rest was released
    await books.audit()


async def test_a_fault_of_ours_after_admission_leaves_nothing_set_aside(
    client: Client, books: Books, gateway: RunningGateway, upstream: ScriptedUpstream
) -> None:
    books.pay_in(CENT)
    await books.set_key(rpm=1, budget=Budget(CENT, "day"))
    ids: Any = gateway.process._parts.parts.ids
    made, ids.answer = ids.answer, _broken
    answer = await client.chat(max_completion_tokens=100)
    assert (answer.status, answer.json["error"]["code"]) == (500, "internal_error")
    ids.answer = made
    await books.audit()
    upstream.enqueue(json_reply(chat_reply()))
    assert (await client.chat(max_completion_tokens=100)).status == 200


def _broken(*_: object) -> str:
    raise RuntimeError("a fault of ours")
