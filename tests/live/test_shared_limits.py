"""What only sharing has: several nodes, a server that goes away, nodes that die."""

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest
import uvloop
from structlog.testing import capture_logs

from tests.live.limiting import Asking, Milliseconds, shared
from tests.valkey_server import ValkeyServer, valkey
from zurelay.chat.problems import Refused
from zurelay.live.shared_limits import SharedLimits, share
from zurelay.live.valkey import Done, ignore
from zurelay.meter.limits import Bound, Grant

MANY = Bound("many", "key", rpm=50, tpm=10_000, concurrency=40)
TWO = Bound("two", "key", concurrency=2)
SIX = Bound("six", "key", rpm=6)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.005)


async def nothing() -> None:
    pass


async def let_in(nodes: list[SharedLimits], bound: Bound, times: int) -> list[Grant]:
    """Ask all nodes at once, so many times each; what was let in."""

    async def one(limits: SharedLimits) -> Grant | None:
        try:
            return await limits.admit([bound], 10)
        except Refused:
            return None

    asked = [one(limits) for _ in range(times) for limits in nodes]
    return [grant for grant in await asyncio.gather(*asked) if grant is not None]


@pytest.mark.parametrize(
    ("bound", "most"),
    [
        (Bound("r", "key", rpm=50), 50),
        (Bound("t", "key", tpm=300), 30),
        (Bound("c", "key", concurrency=20), 20),
        (MANY, 40),
    ],
)
async def test_a_rush_at_three_nodes_gets_exactly_the_limit(
    shared_valkey: ValkeyServer, bound: Bound, most: int
) -> None:
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(shared(shared_valkey)) for _ in range(3)]
        named = Asking(nodes[0], Milliseconds()).named(bound)
        grants = await let_in(nodes, named, 40)
        assert len(grants) == most
        for grant in grants:
            grant.end(0)
        assert [node.health.by_share for node in nodes] == [0, 0, 0]
        assert nodes[0]._held == {}


async def test_places_freed_at_one_node_are_free_at_the_other(shared_valkey: ValkeyServer) -> None:
    async with shared(shared_valkey) as one, shared(shared_valkey) as two:
        here = Asking(one, Milliseconds())
        bound = here.named(TWO)
        first, _second = await one.admit([bound], 0), await two.admit([bound], 0)
        with pytest.raises(Refused):
            await two.admit([bound], 0)
        first.end(None)
        await one._valkey.ask("PING")  # behind it
        await two.admit([bound], 0)


async def test_nodes_count_each_other() -> None:
    with valkey() as server:
        async with shared(server) as one:
            async with shared(server) as two:
                two._beat()
                await two._valkey.ask("PING")
                one._beat()
                await one._valkey.ask("PING")
                assert (one.health.nodes, two.health.nodes) == (2, 2)
            one._beat()  # the other left in good order
            await one._valkey.ask("PING")
            assert one.health.nodes == 1


async def test_what_a_dead_node_held_is_free_once_its_lease_ends(
    shared_valkey: ValkeyServer,
) -> None:
    clock = Milliseconds()
    async with shared(shared_valkey, clock) as alive:
        asking = Asking(alive, clock)
        async with shared(shared_valkey, clock) as dead:
            bound = asking.named(TWO)
            await dead.admit([bound], 0)
            await dead.admit([bound], 0)
            dead.leave = nothing  # type: ignore[method-assign] # it is killed
        assert (await asking.refused(TWO)).retry_after == 1
        clock.ms += 10_000
        alive._beat()
        clock.ms += 4_999
        await asking.refused(TWO)
        clock.ms += 1
        await asking.ask(TWO)
        await asking.ask(TWO)
        await asking.refused(TWO)


async def test_a_lapsed_lease_is_taken_anew_with_all_places(shared_valkey: ValkeyServer) -> None:
    clock = Milliseconds()
    async with shared(shared_valkey, clock) as limits:
        asking = Asking(limits, clock)
        await asking.ask(TWO)
        await asking.ask(TWO)
        clock.ms += 20_000  # the loop stood still for so long
        limits._beat()
        await until(lambda: limits.health.reconnects == 2)
        await asking.refused(TWO)


async def test_places_outlive_the_server_and_rates_begin_anew() -> None:
    with valkey() as server:
        async with shared(server) as limits:
            asking = Asking(limits, Milliseconds())
            held = [await asking.ask(TWO), await asking.ask(SIX), await asking.ask(TWO)]
            server.stop()
            await until(lambda: not limits.health.up)
            held.pop().end(None)  # nobody could be told
            server.start()
            await until(lambda: limits.health.up)
            await asking.ask(TWO)
            await asking.refused(TWO)
            assert await asking.left(SIX) == {"requests": 6}


async def test_while_the_server_is_away_each_node_goes_by_its_share_and_says_so_once() -> None:
    with valkey() as server:
        async with shared(server, nodes=3) as limits:
            limits._beat = lambda: None  # type: ignore[method-assign]
            asking = Asking(limits, Milliseconds())
            await until(lambda: limits.health.nodes == 1)
            limits._nodes = 3
            with capture_logs() as logs:
                server.stop()
                await until(lambda: not limits.health.up)
                await asking.ask(SIX, TWO)
                await asking.ask(SIX)
                problem = await asking.refused(SIX)
                assert "2 requests per minute" in problem.message
                assert (await asking.refused(TWO, tokens=1)).status == 429
            assert [line["event"] for line in logs if line["log_level"] == "warning"] == [
                "shared state is away"
            ]
            assert limits.health.by_share == 4


async def test_a_large_request_is_weighed_by_the_whole_limit_while_the_server_is_away() -> None:
    bound = Bound("t", "key", tpm=100)
    with valkey() as server:
        async with shared(server, nodes=4) as limits:
            asking = Asking(limits, Milliseconds())
            server.stop()
            await until(lambda: not limits.health.up)
            limits._nodes = 4
            grant = await asking.ask(bound, tokens=90, least=80)  # more than a share of 25
            grant.end(90)
            problem = await asking.refused(bound, tokens=200, least=101)
            assert problem.should_retry is False


async def test_a_silent_server_costs_fifty_milliseconds_once_and_its_late_answer_counts_nothing() -> (
    None
):
    with valkey() as server:
        async with shared(server, deadline_s=0.05) as limits:
            asking = Asking(limits, Milliseconds())
            one = Bound("one", "key", rpm=10, tpm=100, concurrency=3)
            server.freeze()
            loop = asyncio.get_running_loop()
            began = loop.time()
            grant = await asking.ask(one, tokens=40)
            assert 0.04 < loop.time() - began < 1
            began = loop.time()
            await asking.ask(one, tokens=20)
            assert limits.health.late == 1  # the second did not wait
            assert limits.health.by_share == 2
            assert not limits.health.up
            server.thaw()
            await until(lambda: limits.health.up)
            grant.end(40)
            limits._deadline = 10
            # The late one was taken back; what was let in meanwhile holds its place all the same.
            third = await asking.ask(one)
            assert dict(third.headers(0))[b"x-ratelimit-remaining-tokens"] == b"100"
            await asking.ask(one)
            await asking.refused(one)


async def test_a_loop_that_stood_still_does_not_take_the_server_for_silent() -> None:
    def stand_still() -> None:
        with valkey() as server:
            uvloop.run(ask(server))

    async def ask(server: ValkeyServer) -> None:
        async with shared(server, deadline_s=0.3) as limits:
            loop = asyncio.get_running_loop()
            here, there = socket.socketpair()

            def stand() -> None:
                here.recv(1)
                server.thaw()
                time.sleep(0.6)  # the answer comes; the loop's timers are due before it is seen

            loop.add_reader(here, stand)
            server.freeze()
            loop.call_later(0.05, there.send, b"x")
            await limits.admit([Asking(limits, Milliseconds()).named(SIX)], 0)
            loop.remove_reader(here)
            here.close()
            there.close()
            assert limits.health.late == 0

    await asyncio.to_thread(stand_still)


async def test_a_caller_who_leaves_while_it_is_asked_leaves_nothing_behind(
    shared_valkey: ValkeyServer,
) -> None:
    async with shared(shared_valkey) as limits:
        asking = Asking(limits, Milliseconds())
        one = Bound("one", "key", rpm=1, concurrency=1)
        for turns in range(4):
            task = asyncio.create_task(asking.ask(one))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await limits._valkey.ask("PING")
        # One more, in the very turn in which the answer came.
        answered = asyncio.Event()
        real = limits._valkey.send

        def told_first(data: bytes, done: Done = ignore) -> None:
            def both(reply: object) -> None:
                done(reply)
                task.cancel()
                answered.set()

            real(data, both)

        limits._valkey.send = told_first  # type: ignore[method-assign]
        task = asyncio.create_task(asking.ask(one))
        await answered.wait()
        limits._valkey.send = real  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await task
        (await asking.ask(one)).cancel()
        assert limits._held == {}


async def test_a_request_without_limits_costs_no_call(shared_valkey: ValkeyServer) -> None:
    async with shared(shared_valkey) as limits:
        own = Bound("own", "key", concurrency=100, shared=False)
        grant = limits.admit_now([Bound("a", "key"), own], 5)
        assert grant is not None
        grant.end(3)
        assert limits.health.asked == 0


async def test_a_fault_of_the_script_is_told_and_nobody_is_held_up(
    shared_valkey: ValkeyServer,
) -> None:
    async with shared(shared_valkey) as limits:
        asking = Asking(limits, Milliseconds())
        key = f"zurelay:1:limits:rate:{asking.named(SIX).name}"
        await limits._valkey.ask("LPUSH", key, "not ours")
        with capture_logs() as logs:
            for _ in range(3):
                await asking.ask(SIX)
        assert [line["event"] for line in logs] == ["shared state failed"]
        assert limits.health.by_share == 3


def test_a_share_is_never_nothing_where_there_is_something() -> None:
    bound = Bound("b", "key", rpm=10, tpm=2, concurrency=None)
    assert share(bound, 4) == Bound("b", "key", rpm=2, tpm=1)
    assert share(Bound("b", "key", rpm=0), 4) == Bound("b", "key", rpm=0)
    assert share(bound, 0) == bound
