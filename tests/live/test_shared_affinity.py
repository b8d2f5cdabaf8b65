import asyncio

from tests.valkey_server import ValkeyServer
from zurelay.live.shared_affinity import SharedAffinity
from zurelay.live.valkey import Valkey
from zurelay.live.valkey_address import parse
from zurelay.plan.affinity import Affinity

NAME = bytes(range(16))


async def test_what_serves_a_conversation_at_one_node_is_known_at_all(
    shared_valkey: ValkeyServer,
) -> None:
    now = asyncio.get_running_loop().time
    connections = [Valkey(parse(shared_valkey.url)) for _ in range(2)]
    one, two = Affinity(), Affinity()
    for connection, affinity in zip(connections, (one, two), strict=True):
        SharedAffinity(connection, affinity, now)
        await connection.start()
    one.remember(NAME, "p:m\u00f6del", now())
    async with asyncio.timeout(20):
        while two.find(NAME, now()) is None:
            await asyncio.sleep(0.002)
    assert two.find(NAME, now()) == "p:m\u00f6del"
    for connection in connections:
        await connection.aclose()
