import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest
from structlog.testing import capture_logs

from tests.store.rows import Clock, a_key, text_of
from zurelay.access.keys import Key
from zurelay.chat.problems import Refused
from zurelay.live import keys as live_keys
from zurelay.live.keys import KeyRing
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.key_source import StoredKeys
from zurelay.store.keys import add_key, list_keys, revoke_key


class CountedKeys(StoredKeys):
    """The keys of a store that count how often they are asked, and can be away."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.asked = 0
        self.loaded = 0
        self.away = False

    def version(self) -> int:
        self.asked += 1
        if self.away:
            raise StoreError("zurelay.db: away")
        return super().version()

    def load(self) -> list[Key]:
        self.loaded += 1
        return super().load()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source(store: Store) -> CountedKeys:
    return CountedKeys(store)


@pytest.fixture
async def ring(
    source: CountedKeys, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[KeyRing]:
    """A ring that asks its source only when a test makes it."""
    monkeypatch.setattr(live_keys, "POLL_S", 3600.0)
    made = KeyRing(source, clock=clock)
    await made.start()
    yield made
    source.away = False
    await made.close()


def add(store: Store, *keys: Key) -> None:
    with store.write() as connection:
        for key in keys:
            add_key(connection, key)


def shown(text: str) -> list[tuple[bytes, bytes]]:
    return [(b"host", b"x"), (b"authorization", b"Bearer " + text.encode())]


def refused(ring: KeyRing, text: str) -> tuple[int, str]:
    with pytest.raises(Refused) as found:
        ring.identify(shown(text))
    return found.value.problem.status, found.value.problem.message


async def test_a_known_key_is_identified_without_asking(
    store: Store, source: CountedKeys, ring: KeyRing
) -> None:
    add(store, a_key(1))
    await ring._ask()
    asked = source.asked
    assert ring.identify(shown(text_of(1))) == a_key(1)
    assert ring.find(a_key(1).hash) == a_key(1)
    assert ring.find(b"?" * 32) is None
    assert source.asked == asked


async def test_keys_are_read_again_only_when_they_changed(
    store: Store, source: CountedKeys, ring: KeyRing
) -> None:
    await ring._ask()
    await ring._ask()
    assert (source.asked, source.loaded) == (3, 1)
    add(store, a_key(1))
    await ring._ask()
    assert source.loaded == 2


async def test_a_key_made_a_moment_ago_works_at_its_first_call(store: Store, ring: KeyRing) -> None:
    other = open_store(store.path.parent)
    add(other, a_key(1))
    other.close()
    assert ring.identify(shown(text_of(1))) is None
    assert await ring.look_up(shown(text_of(1))) == a_key(1)
    assert ring.identify(shown(text_of(1))) == a_key(1)


async def test_any_number_of_unknown_keys_cost_one_look_up(
    source: CountedKeys, ring: KeyRing
) -> None:
    asked = source.asked
    calls = [ring.look_up(shown(text_of(n))) for n in range(200)]
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, Refused) for one in found)
    assert source.asked == asked + 1
    assert ring.refused == 200


async def test_look_ups_keep_their_distance(
    source: CountedKeys, ring: KeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_keys, "LOOK_UP_S", 0.02)
    loop = asyncio.get_running_loop()
    begun, asked = loop.time(), source.asked
    for n in range(5):
        with pytest.raises(Refused):
            await ring.look_up(shown(text_of(n)))
    assert source.asked == asked + 5
    assert loop.time() - begun >= 4 * 0.02


async def test_what_cannot_be_a_key_is_refused_without_a_look_up(
    source: CountedKeys, ring: KeyRing
) -> None:
    asked = source.asked
    for text in ("", "sk-other", text_of(1)[:-1] + "_"):
        assert refused(ring, text)[0] == 401
        with pytest.raises(Refused):
            await ring.look_up(shown(text))
    assert source.asked == asked


async def test_a_revoked_key_stops_working(store: Store, ring: KeyRing) -> None:
    add(store, a_key(1))
    await ring._ask()
    ring.identify(shown(text_of(1)))
    with store.write() as connection:
        revoke_key(connection, "key 1", 5)
    await ring._ask()
    status, message = refused(ring, text_of(1))
    assert status == 401
    assert "revoked" in message
    with pytest.raises(Refused):
        await ring.look_up(shown(text_of(1)))


async def test_a_key_expires_by_the_clock_alone(store: Store, ring: KeyRing, clock: Clock) -> None:
    add(store, a_key(1, expires=int(clock.now) + 60))
    await ring._ask()
    assert ring.identify(shown(text_of(1))) is not None
    clock.now += 60
    assert "expired" in refused(ring, text_of(1))[1]


async def test_changes_are_seen_by_themselves(
    store: Store, source: CountedKeys, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_keys, "POLL_S", 0.005)
    add(store, a_key(1))
    ring = KeyRing(source, clock=clock)
    await ring.start()
    with store.write() as connection:
        revoke_key(connection, "key 1", 5)
    key = ring.find(a_key(1).hash)
    while key is not None and key.revoked is None:
        await asyncio.sleep(0.005)
        key = ring.find(a_key(1).hash)
    await ring.close()


async def test_keys_in_memory_serve_while_the_store_is_away_but_not_for_ever(
    store: Store, source: CountedKeys, ring: KeyRing, clock: Clock
) -> None:
    add(store, a_key(1))
    await ring._ask()
    source.away = True
    with capture_logs() as logs:
        clock.now += 3600
        await ring._ask_safely()
        await ring._ask_safely()
        states = [ring.failing]
        assert ring.identify(shown(text_of(1))) == a_key(1)
        clock.now += 1
        assert refused(ring, text_of(1))[0] == 503
        source.away = False
        await ring._ask_safely()
        assert ring.identify(shown(text_of(1))) == a_key(1)
        assert [*states, ring.failing] == [True, False]
    events = [line["event"] for line in logs]
    assert [event for event in events if event.startswith("keys_")] == [
        "keys_not_read",
        "keys_read_again",
    ]


async def test_calls_without_a_valid_key_are_counted_and_logged_now_and_then(
    ring: KeyRing, clock: Clock
) -> None:
    with capture_logs() as logs:
        for _ in range(100):
            refused(ring, "sk-secret")
        clock.now += 10
        refused(ring, "sk-secret")
    assert ring.refused == 101
    assert [line["count"] for line in logs] == [1, 100]
    assert "sk-secret" not in str(logs)


async def test_use_is_written_down_in_batches_and_at_the_end(
    store: Store, source: CountedKeys, clock: Clock
) -> None:
    add(store, a_key(1), a_key(2))
    ring = KeyRing(source, clock=clock)
    await ring.start()

    def last_used() -> list[int | None]:
        with store.read() as connection:
            return [key.last_used for key in list_keys(connection)]

    ring.identify(shown(text_of(1)))
    await ring._ask_safely()
    assert last_used() == [int(clock.now), None]
    ring.identify(shown(text_of(2)))
    await ring._ask_safely()  # too early for the next batch
    assert last_used()[1] is None
    clock.now += 1
    ring.identify(shown(text_of(2)))
    await ring.close()
    assert last_used() == [int(clock.now) - 1, int(clock.now)]


async def test_a_source_that_cannot_be_read_stops_the_start(source: CountedKeys) -> None:
    source.away = True
    ring = KeyRing(source)
    with pytest.raises(StoreError, match="away"):
        await ring.start()
    source.away = False
    await ring.close()


async def test_the_source_is_given_back_even_if_it_cannot_be_written(
    store: Store, source: CountedKeys, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_used: Mapping[str, float]) -> None:
        raise StoreError("zurelay.db: away")

    add(store, a_key(1))
    ring = KeyRing(source, clock=clock)
    await ring.start()
    ring.identify(shown(text_of(1)))
    monkeypatch.setattr(source, "touch", away)
    with capture_logs() as logs:
        await ring.close()
    assert [(line["event"], line["error"]) for line in logs] == [
        ("key_uses_not_written", "zurelay.db: away")
    ]
    with pytest.raises(StoreError, match="closed"):
        source.version()


async def test_somebody_inside_is_known_by_the_hash_of_a_key(
    store: Store, source: CountedKeys, ring: KeyRing
) -> None:
    key = a_key(1)
    add(store, key)
    assert (await ring.known(key.hash)).id == key.id
    asked = source.asked
    assert (await ring.known(key.hash)).id == key.id
    assert source.asked == asked
    with store.write() as connection:
        revoke_key(connection, key.id, 5.0)
    with pytest.raises(Refused) as found:
        await ring.known(b"0" * 32)  # asks again, and learns what was revoked
    assert found.value.problem.status == 401
    with pytest.raises(Refused) as found:
        await ring.known(key.hash)
    assert "revoked" in found.value.problem.message
