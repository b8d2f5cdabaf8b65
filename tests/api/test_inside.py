"""Requests from inside the process: the same path, another way in and out."""

import asyncio
import json

import pytest

from zurelay.access.keys import hash_key
from zurelay.api.inside import MOST_BUFFERED, InsideExchange, ask
from zurelay.chat.problems import Refused
from zurelay.office.desk import Desk
from zurelay.office.requests import get
from zurelay.office.rights import Actor
from zurelay.testing.gateway import RunningGateway

OWNER = Actor("test", "owner")


def body(model: str, **more: object) -> bytes:
    messages = [{"role": "user", "content": "Hello"}]
    return json.dumps({"model": model, "messages": messages, **more}).encode()


async def asked(gateway: RunningGateway, model: str, **more: object) -> InsideExchange:
    core = gateway.process._gateway.core
    headers = [(b"user-agent", b"Browser/1")]
    return await ask(core, hash_key(gateway.key), body(model, **more), headers, "192.0.2.9")


async def whole(exchange: InsideExchange) -> bytes:
    found = b""
    while (piece := await exchange.piece()) is not None:
        found += piece
    return found


async def row(gateway: RunningGateway, exchange: InsideExchange) -> dict[str, object]:
    """Its entry in the log, once it is over."""
    for _ in range(200):
        try:
            found = get(Desk(gateway.store), OWNER, exchange.request_id)
        except Refused:
            found = {"status": "running"}
        if found["status"] != "running":
            return found
        await asyncio.sleep(0.02)
    raise AssertionError("it never ended")


async def test_a_plain_answer_has_status_headers_and_body(gateway: RunningGateway) -> None:
    exchange = await asked(gateway, "sandbox/echo")
    status, headers = await exchange.head() or (0, ())
    assert status == 200
    told = dict(headers)
    assert told[b"x-request-id"].decode() == exchange.request_id
    assert told[b"x-zurelay-model"] == b"sandbox/echo"
    assert json.loads(await whole(exchange))["choices"][0]["message"]["content"] == "Hello"
    assert not exchange.cut
    found = await row(gateway, exchange)
    assert (found["status"], found["client"]) == ("ok", "Browser/1")


async def test_a_refusal_is_an_answer_too(gateway: RunningGateway) -> None:
    exchange = await asked(gateway, "nothing-so-called")
    status, _ = await exchange.head() or (0, ())
    assert status == 404
    assert json.loads(await whole(exchange))["error"]["code"] == "model_not_found"


async def test_who_leaves_ends_the_request(gateway: RunningGateway) -> None:
    early = await asked(gateway, "sandbox/slow?first=30")
    asyncio.get_running_loop().call_later(0.05, early.leave)
    assert await early.head() is None
    assert (await row(gateway, early))["status"] == "client_closed"
    late = await asked(gateway, "sandbox/stall?after=5", stream=True)
    assert await late.head() is not None
    assert await late.piece()
    late.leave()
    assert await whole(late) is not None
    assert (await row(gateway, late))["status"] == "client_closed"
    late.write(b"more")
    assert await late.piece() is None


async def test_a_key_that_nobody_has_is_refused(gateway: RunningGateway) -> None:
    core = gateway.process._gateway.core
    with pytest.raises(Refused) as refused:
        await ask(core, b"0" * 32, body("sandbox/echo"), [], "")
    assert refused.value.problem.status == 401


async def test_an_answer_that_is_not_read_is_held_back() -> None:
    exchange = InsideExchange(asyncio.get_running_loop(), [], "")
    told: list[bool] = []
    exchange.listen(lambda: None, told.append)
    exchange.open(200, [])
    exchange.write(b"x" * MOST_BUFFERED)
    assert told == []
    exchange.write(b"x")
    exchange.write(b"x")
    assert told == [True]
    assert len(await exchange.piece() or b"") == MOST_BUFFERED + 2
    assert told == [True, False]
    exchange.close(b"end")
    assert await whole(exchange) == b"end"


async def test_an_answer_that_is_cut_says_so() -> None:
    exchange = InsideExchange(asyncio.get_running_loop(), [], "")
    exchange.open(200, [], b"begin")
    exchange.abort()
    assert await whole(exchange) == b"begin"
    assert exchange.cut
    headless = InsideExchange(asyncio.get_running_loop(), [], "")
    headless.abort()
    assert await headless.head() is None
