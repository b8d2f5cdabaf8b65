"""How routes stand by two gateways on one PostgreSQL: whichever is asked speaks for both."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import CONFIG, Caller
from tests.servers import PostgreSQL, postgresql_server
from zurelay.app import reporting
from zurelay.app.local_token import read
from zurelay.store.route_reports import list_reports
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Pause, json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

ROUTE = "first:upstream-name"


@dataclass
class Node:
    caller: Caller

    @property
    def gateway(self) -> RunningGateway:
        return self.caller.gateway

    async def admin(self, method: str, path: str, body: object = None) -> Any:
        local = read(self.gateway.data)
        assert local is not None
        content = b"" if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {local[0]}", "content-type": "application/json"}
        answer = await self.caller.send(method, f"/api/v1{path}", content, headers)
        assert answer.status in {200, 201}, answer.body
        return answer.json

    async def told(self) -> Any:
        return await self.admin("GET", "/routes?model=test-model")

    async def route(self) -> Any:
        (route,) = (await self.told())["data"]
        return route

    async def tells(self) -> None:
        """Tell the others now, not in some seconds."""
        assert self.gateway.process._reporting is not None
        await self.gateway.process._reporting.round()


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody tells anything but when a test wants it, or a process begins."""
    monkeypatch.setattr(reporting, "ROUND_S", 3600.0)


async def nodes_on(
    url: str, folder: Path, upstream: ScriptedUpstream, stack: AsyncExitStack
) -> tuple[Node, Node]:
    client = await stack.enter_async_context(HttpClient())
    made: list[Node] = []
    for name in ("one", "two"):
        (folder / name).mkdir()
        config = CONFIG.format(upstream=upstream.base_url) + f'[storage]\nurl = "{url}"\n'
        gateway = RunningGateway(folder / name, config)
        await stack.enter_async_context(gateway)
        gateway.key = gateway.key or made[0].gateway.key
        made.append(Node(Caller(gateway, client)))
        await made[-1].tells()
    one, two = made
    return one, two


@pytest.fixture
async def nodes(
    tmp_path: Path, upstream: ScriptedUpstream, postgresql: PostgreSQL
) -> AsyncIterator[tuple[Node, Node]]:
    with postgresql.database() as url:
        async with AsyncExitStack() as stack:
            yield await nodes_on(url, tmp_path, upstream, stack)


async def test_what_is_under_way_at_a_drained_route_is_the_sum_of_both(
    nodes: tuple[Node, Node], upstream: ScriptedUpstream
) -> None:
    one, two = nodes
    go = asyncio.Event()
    asked = []
    for number, node in enumerate((one, two, two), 1):
        upstream.enqueue([Pause(go), *sse_reply(chat_chunks("Hello"))])
        asked.append(asyncio.create_task(node.caller.chat(stream=True)))
        await upstream.wait_requests(number)
    await one.admin("POST", "/stops", {"kind": "route", "name": ROUTE})
    await one.tells()
    await two.tells()
    for node in nodes:
        route = await node.route()
        assert (route["in_flight"], route["processes"], route["up_in"]) == (3, 2, 2)
    go.set()
    for answer in await asyncio.gather(*asked):
        assert answer.status == 200
    await one.tells()
    await two.tells()
    for node in nodes:
        route = await node.route()
        assert (route["in_flight"], route["samples"], route["attempts_1h"]) == (0, 3, 3)


async def test_a_route_that_one_cannot_use_is_down_in_one_of_two(
    nodes: tuple[Node, Node], upstream: ScriptedUpstream
) -> None:
    one, two = nodes
    upstream.enqueue(
        json_reply(chat_reply()),
        json_reply({"error": {"message": "no such key SECRET-1234", "type": "x"}}, 401),
    )
    assert (await one.caller.chat()).status == 200
    assert (await two.caller.chat()).status >= 400
    await two.tells()
    route = await one.route()
    processes = (await one.told())["processes"]
    assert [(p["asked"], p["counted"]) for p in processes] == [(True, True), (False, True)]
    assert (route["state"], route["cause"], route["up_in"]) == ("open", "credential", 1)
    assert route["state_at"] == [processes[1]["name"]]
    assert (route["samples"], route["attempts_1h"], route["failed_1h"]) == (1, 2, 1)
    (error,) = route["last_errors"]
    assert error["process"] == processes[1]["name"]
    assert "SECRET" not in json.dumps(route)
    with one.gateway.store.read() as connection:
        rows = list_reports(connection)
    assert not any("SECRET" in row.routes for row in rows), "nor where it is kept"
    # One alone, whichever is asked.
    for number, state in ((0, "closed"), (1, "open")):
        told = await one.admin("GET", f"/routes?process={processes[number]['id']}")
        assert [row["state"] for row in told["data"] if row["id"] == ROUTE] == [state]


async def test_who_ends_is_spoken_for_no_more(nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    assert len((await one.told())["processes"]) == 2
    two.gateway.process.stop(at_once=True)
    await two.gateway.process.wait()
    (process,) = (await one.told())["processes"]
    assert process["asked"]


async def test_while_the_database_is_away_the_asked_one_speaks_alone_and_says_so(
    tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    upstream._answer = lambda _: json_reply(chat_reply())
    with postgresql_server() as server, server.database() as url:
        async with AsyncExitStack() as stack:
            one, two = await nodes_on(url, tmp_path, upstream, stack)
            for node in (one, two):
                assert (await node.caller.chat()).status == 200
                await node.tells()
            assert (await one.route())["samples"] == 2
            server.stop()
            await one.tells()
            told = await one.told()
            (route,) = told["data"]
            assert (told["store_away"], len(told["processes"])) == (True, 1)
            assert (route["samples"], route["processes"]) == (1, 1)
            assert (await one.caller.chat()).status == 200
            await asyncio.to_thread(server.start)


async def test_a_process_alone_on_sqlite_writes_nothing(gateway: RunningGateway) -> None:
    assert gateway.process._reporting is None
    with gateway.store.read() as connection:
        assert list_reports(connection) == []
