import asyncio

import pytest

from tests.plan.made import fail, route
from tests.valkey_server import ValkeyServer, valkey
from zurelay.app.sharing import common_secret, sharing
from zurelay.chat.faults import FaultKind
from zurelay.chat.problems import Refused
from zurelay.live.limits import LocalLimits
from zurelay.live.valkey import SharedStateError
from zurelay.meter.limits import Bound
from zurelay.plan.affinity import Affinity
from zurelay.plan.health import Health

ONE = Bound("test:sharing", "key", concurrency=1)


async def test_without_a_server_a_process_keeps_its_limits_to_itself() -> None:
    alone = sharing("")
    await alone.start()
    assert isinstance(alone.limits, LocalLimits)
    assert alone.health() is None
    await alone.close()


async def test_with_a_server_two_processes_share_and_one_that_leaves_frees_its_places(
    shared_valkey: ValkeyServer,
) -> None:
    one, two = sharing(shared_valkey.url), sharing(shared_valkey.url)
    await asyncio.gather(one.start(), two.start())
    await one.limits.admit([ONE], 0)
    with pytest.raises(Refused):
        await two.limits.admit([ONE], 0)
    await one.close()
    await two.limits.admit([ONE], 0)
    health = two.health()
    assert health is not None
    assert health.up
    await two.close()


async def test_processes_share_what_they_learn_of_routes(shared_valkey: ValkeyServer) -> None:
    shared_valkey.flush(0)
    one, two = sharing(shared_valkey.url), sharing(shared_valkey.url)
    first, second = Health(), Health()
    one.join(first, Affinity())
    two.join(second, Affinity())
    await one.start()
    await two.start()
    now = asyncio.get_running_loop().time
    fail(first, route("p", "a"), FaultKind.RATE_LIMITED, now(), retry_after=30.0)
    async with asyncio.timeout(20):
        while second.is_up(route("p", "a"), now()):
            await asyncio.sleep(0.002)
    await one.close()
    await two.close()


def test_answers_from_before_a_restore_are_nobodys() -> None:
    one = common_secret("postgresql://x/y", 0)
    assert one == common_secret("postgresql://x/y", 0)
    assert one != common_secret("postgresql://x/y", 1)
    assert one != common_secret("postgresql://x/z", 0)


async def test_a_server_that_cannot_be_used_is_told_at_the_start() -> None:
    with valkey(maxmemory="50mb", maxmemory_policy="volatile-ttl") as server:
        one = sharing(server.url)
        with pytest.raises(SharedStateError, match="noeviction"):
            await one.start()
