import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.relay.callers import Caller, Timers
from tests.valkey_server import ValkeyServer, valkey
from zurelay.chat.problems import Refused
from zurelay.live.idempotency import Idempotency, Use
from zurelay.live.shared_answers import SCRIPT, Claim, Elsewhere, SharedAnswers
from zurelay.live.valkey import Valkey
from zurelay.live.valkey_address import parse
from zurelay.relay.replay import Kept

_keys = itertools.count()


class Node:
    """One node: the answers it has, and what it hears of the others'."""

    def __init__(self, connection: Valkey, shared: SharedAnswers) -> None:
        self.connection = connection
        self.shared = shared
        self.own = Idempotency(Timers().later, secret=b"common")

    def use(self, key: str, body: bytes = b"body") -> Use:
        return self.own.use("acct", key, [body])

    def answer(self, use: Use, body: bytes = b"the answer") -> Kept:
        recording = self.own.begin(use, "req_1")
        recording.listen(lambda: None, lambda _: None)
        recording.answer(200, [(b"x-a", b"1")], body)
        kept = self.own.settle(use, recording, keep=True)
        assert kept is not None
        return kept

    async def heard(self) -> None:
        """All that was sent so far is done."""
        await self.connection.ask("PING")


@asynccontextmanager
async def node(server: ValkeyServer, **bounds: int) -> AsyncIterator[Node]:
    connection = Valkey(parse(server.url), [SCRIPT])
    made = Node(connection, SharedAnswers(connection, **bounds))
    await connection.start()
    try:
        yield made
    finally:
        await connection.aclose()


@pytest.fixture
def key() -> str:
    return f"key-{next(_keys)}"


@pytest.fixture
async def one(shared_valkey: ValkeyServer) -> AsyncIterator[Node]:
    async with node(shared_valkey) as made:
        yield made


@pytest.fixture
async def two(shared_valkey: ValkeyServer) -> AsyncIterator[Node]:
    async with node(shared_valkey) as made:
        yield made


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.002)


async def problem(at: Node, use: Use) -> str | None:
    with pytest.raises(Refused) as refused:
        await at.shared.claim(use, "req_x", 0)
    return refused.value.problem.code


async def test_an_answer_made_at_one_node_is_given_at_another(
    one: Node, two: Node, key: str
) -> None:
    use = one.use(key)
    assert await one.shared.claim(use, "req_1", 10) is Claim.OURS
    one.shared.finish(use, one.answer(use))
    await one.heard()
    found = await two.shared.claim(two.use(key), "req_2", 10)
    assert isinstance(found, Elsewhere)
    assert found.request == "req_1"
    caller = Caller()
    two.own.adopt(two.use(key), found.request, found.answer).attach(caller)
    assert (caller.status, caller.headers, caller.body) == (200, ((b"x-a", b"1"),), b"the answer")
    again = two.own.find(two.use(key))
    assert again is not None
    assert again.request == "req_1"


async def test_what_lies_on_the_server_cannot_be_read_there(one: Node, key: str) -> None:
    use = one.use(key)
    await one.shared.claim(use, "req_1", 10)
    one.shared.finish(use, one.answer(use, b"PROMPT-MARK"))
    held = await one.connection.ask("HGETALL", f"zurelay:1:once:{use.name.hex()}")
    assert b"PROMPT-MARK" not in str(held).encode()
    assert key.encode() not in str(held).encode()


async def test_a_running_request_of_another_node_is_waited_for(
    one: Node, two: Node, key: str
) -> None:
    use = one.use(key)
    await one.shared.claim(use, "req_1", 10)
    waiting = asyncio.create_task(two.shared.claim(two.use(key), "req_2", 30))
    await two.heard()
    await asyncio.sleep(0.02)
    assert not waiting.done()
    one.shared.finish(use, one.answer(use))
    assert isinstance(await waiting, Elsewhere)


async def test_a_request_that_came_to_nothing_lets_the_next_one_have_the_use(
    one: Node, two: Node, key: str
) -> None:
    await one.shared.claim(one.use(key), "req_1", 10)
    waiting = asyncio.create_task(two.shared.claim(two.use(key), "req_2", 30))
    await two.heard()
    one.shared.free(one.use(key))
    assert await waiting is Claim.OURS
    two.shared.finish(two.use(key), None)  # an error is not kept
    await two.heard()
    assert await one.shared.claim(one.use(key), "req_3", 10) is Claim.OURS


async def test_who_is_waited_for_too_long_is_told_to_the_caller(
    one: Node, two: Node, key: str
) -> None:
    await one.shared.claim(one.use(key), "req_1", 10)
    assert await problem(two, two.use(key)) == "idempotency_key_in_use"


async def test_another_request_with_the_same_key_is_refused_everywhere(
    one: Node, two: Node, key: str
) -> None:
    await one.shared.claim(one.use(key), "req_1", 10)
    assert await problem(two, two.use(key, b"other")) == "idempotency_key_reused"
    one.shared.finish(one.use(key), one.answer(one.use(key)))
    await one.heard()
    assert await problem(two, two.use(key, b"other")) == "idempotency_key_reused"


async def test_a_second_request_of_the_same_node_looks_there_once_the_first_runs(
    one: Node, key: str
) -> None:
    await one.shared.claim(one.use(key), "req_1", 10)
    waiting = asyncio.create_task(one.shared.claim(one.use(key), "req_2", 30))
    await one.heard()
    assert not waiting.done()
    one.shared.began(one.use(key))
    assert await waiting is Claim.HERE


async def test_an_answer_too_large_for_others_is_not_paid_twice(
    shared_valkey: ValkeyServer, two: Node, key: str
) -> None:
    async with node(shared_valkey, most_each=50) as small:
        use = small.use(key)
        await small.shared.claim(use, "req_1", 10)
        small.shared.finish(use, small.answer(use))
        await small.heard()
        assert await problem(two, two.use(key)) == "idempotency_key_in_use"


async def test_the_oldest_answers_make_room(shared_valkey: ValkeyServer) -> None:
    shared_valkey.flush(0)
    async with node(shared_valkey, most_together=250) as at:
        uses = [at.use(f"room-{number}") for number in range(6)]
        for use in uses:
            await at.shared.claim(use, "req_1", 10)
            at.shared.finish(use, at.answer(use))
        found = [await at.shared.claim(use, "req_2", 10) for use in reversed(uses)]
        kept = [isinstance(one, Elsewhere) for one in found]
        assert kept[0]
        assert not kept[-1]
        assert sorted(kept, reverse=True) == kept
        size = int(await at.connection.ask("HGET", "zurelay:1:answers:sizes", "sum"))
        assert 0 < size <= 250


async def test_a_use_of_a_dead_node_is_free_after_its_time(
    shared_valkey: ValkeyServer, two: Node, key: str
) -> None:
    async with node(shared_valkey) as dead:
        use = dead.use(key)
        await dead.shared.claim(use, "req_1", 10)
        name = f"zurelay:1:once:{use.name.hex()}"
        assert 10_000 < await two.connection.ask("PTTL", name) <= 15_000
        await two.connection.ask("PEXPIRE", name, 5)
        dead.shared._renew()  # it lives: its time begins anew
        await dead.heard()
        assert await two.connection.ask("PTTL", name) > 10_000
    await two.connection.ask("PEXPIRE", name, 1)
    await asyncio.sleep(0.01)
    assert await two.shared.claim(two.use(key), "req_2", 0) is Claim.OURS


async def test_without_a_server_each_node_knows_its_own(key: str) -> None:
    with valkey() as server:
        async with node(server) as alone:
            server.stop()
            await until(lambda: not alone.connection.up)
            assert await alone.shared.claim(alone.use(key), "req_1", 10) is Claim.OURS
            server.start()
            await until(lambda: alone.connection.up)
            async with node(server) as other:  # it was told of what runs
                await alone.heard()
                assert await problem(other, other.use(key)) == "idempotency_key_in_use"


async def test_a_caller_who_leaves_while_it_is_asked_leaves_the_use_free(
    one: Node, two: Node, key: str
) -> None:
    asking = asyncio.create_task(one.shared.claim(one.use(key), "req_1", 10))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await one.heard()
    await one.heard()
    assert await two.shared.claim(two.use(key), "req_2", 0) is Claim.OURS
