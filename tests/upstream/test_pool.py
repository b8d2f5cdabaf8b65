"""Idle connections: the newest is taken, the old and the closed are not."""

import asyncio

from zurelay.upstream.exchange import Exchange
from zurelay.upstream.pool import Origin, Pool


class Connection:
    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.expires = 0.0
        self.usable = True
        self.closed = False

    def start(self, exchange: Exchange) -> None:
        raise AssertionError("the pool starts nothing")

    def close(self) -> None:
        self.closed = True


def made(expiry: float = 50.0, most: int = 2) -> tuple[Pool, Origin]:
    pool = Pool(expiry, most)
    return pool, pool.origin("http", "h", 80, None)


async def test_the_connection_that_came_last_is_taken_first() -> None:
    pool, origin = made()
    loop = asyncio.get_running_loop()
    first, second = Connection(origin), Connection(origin)
    pool.put(first, loop)
    pool.put(second, loop)
    assert pool.take(origin, loop.time()) is second
    assert pool.take(origin, loop.time()) is first
    assert pool.take(origin, loop.time()) is None
    pool.close()


async def test_what_is_closed_or_too_old_is_closed_on_the_way_and_not_taken() -> None:
    pool, origin = made()
    loop = asyncio.get_running_loop()
    good, dead = Connection(origin), Connection(origin)
    pool.put(good, loop)
    pool.put(dead, loop)
    dead.usable = False
    assert pool.take(origin, loop.time()) is good
    assert dead.closed
    pool.put(good, loop)
    assert pool.take(origin, loop.time() + 50.0) is None
    assert good.closed
    pool.close()


async def test_beyond_the_bound_and_past_the_peers_hint_nothing_is_kept() -> None:
    pool, origin = made(most=1)
    loop = asyncio.get_running_loop()
    kept, surplus, short = Connection(origin), Connection(origin), Connection(origin)
    pool.put(short, loop, hint=1.0)
    pool.put(kept, loop, hint=5.0)
    pool.put(surplus, loop)
    assert (short.closed, kept.closed, surplus.closed) == (True, False, True)
    assert kept.expires <= loop.time() + 4.0
    assert pool.idle == 1
    pool.close()
    assert kept.closed
    assert pool.idle == 0


async def test_origins_do_not_share_and_forgetting_is_harmless() -> None:
    pool, origin = made()
    loop = asyncio.get_running_loop()
    other = pool.origin("https", "h", 443, None)
    connection = Connection(origin)
    pool.put(connection, loop)
    assert pool.take(other, loop.time()) is None
    assert pool.origin("http", "h", 80, None) is origin
    pool.discard(connection)
    pool.discard(connection)
    assert pool.idle == 0
    pool.close()
