import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.plan.made import fail, route
from tests.valkey_server import ValkeyServer, valkey
from zurelay.chat.faults import FaultKind
from zurelay.live.shared_rests import SCRIPT, SharedRests
from zurelay.live.valkey import Valkey
from zurelay.live.valkey_address import parse
from zurelay.plan.health import Health

A, B = route("p", "a"), route("p", "b")


@asynccontextmanager
async def node(server: ValkeyServer) -> AsyncIterator[Health]:
    connection, health = Valkey(parse(server.url), [SCRIPT]), Health()
    SharedRests(connection, health, asyncio.get_running_loop().time)
    await connection.start()
    try:
        yield health
    finally:
        await connection.aclose()


def now() -> float:
    return asyncio.get_running_loop().time()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.002)


@pytest.fixture
def empty(shared_valkey: ValkeyServer) -> ValkeyServer:
    shared_valkey.flush(0)
    return shared_valkey


async def test_a_retry_after_seen_by_one_node_rests_the_route_at_all(empty: ValkeyServer) -> None:
    async with node(empty) as one, node(empty) as two:
        fail(one, A, FaultKind.RATE_LIMITED, now(), retry_after=30.0)
        await until(lambda: not two.is_up(A, now()))
        wait = two.may_try(A, now()).wait
        assert wait is not None
        assert 29 < wait <= 30
        assert two.is_up(B, now())


async def test_a_refused_credential_is_known_to_all(empty: ValkeyServer) -> None:
    async with node(empty) as one, node(empty) as two:
        assert two.is_up(A, now())
        fail(one, B, FaultKind.OUT_OF_CREDIT, now())
        await until(lambda: not two.is_up(A, now()))
        assert two.may_try(A, now()).reason == "open"


async def test_a_node_that_comes_later_is_told_what_is_left(empty: ValkeyServer) -> None:
    async with node(empty) as one:
        fail(one, A, FaultKind.RATE_LIMITED, now(), retry_after=30.0)
        fail(one, B, FaultKind.RATE_LIMITED, now(), retry_after=0.001)
        async with node(empty) as two:
            await until(lambda: not two.is_up(A, now()))
            assert two.is_up(B, now())


async def test_without_a_server_each_node_learns_for_itself() -> None:
    with valkey() as server:
        server.stop()
        async with node(server) as one:
            fail(one, A, FaultKind.RATE_LIMITED, now(), retry_after=30.0)
            assert not one.is_up(A, now())
