import asyncio

import pytest

from tests.valkey_server import ValkeyServer, valkey
from zurelay.app.sharing import sharing
from zurelay.chat.problems import Refused
from zurelay.live.limits import LocalLimits
from zurelay.live.valkey import SharedStateError
from zurelay.meter.limits import Bound

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


async def test_a_server_that_cannot_be_used_is_told_at_the_start() -> None:
    with valkey(maxmemory="50mb", maxmemory_policy="volatile-ttl") as server:
        one = sharing(server.url)
        with pytest.raises(SharedStateError, match="noeviction"):
            await one.start()
