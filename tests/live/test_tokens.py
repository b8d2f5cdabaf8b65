import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from tests.store.rows import Clock
from zurelay.access.keys import hash_key, last4
from zurelay.access.tokens import AdminToken, Role, make_token
from zurelay.chat.problems import Refused
from zurelay.live.tokens import TokenRing
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.key_source import StoredTokens
from zurelay.store.tokens import add_token, revoke_token


class CountedTokens(StoredTokens):
    """The tokens of a store that count how often they are asked, and can be away."""

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

    def load(self) -> list[AdminToken]:
        self.loaded += 1
        return super().load()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source(store: Store) -> CountedTokens:
    return CountedTokens(store)


@pytest.fixture
async def ring(source: CountedTokens, clock: Clock) -> AsyncIterator[TokenRing]:
    made = TokenRing(source, clock=clock)
    yield made
    await made.close()


def text_of(seed: int) -> str:
    return make_token(seed.to_bytes(32, "big"))


def a_token(seed: int, role: Role = "admin") -> AdminToken:
    text = text_of(seed)
    return AdminToken(f"tok_{seed}", f"token {seed}", role, hash_key(text), last4(text), 1)


def add(store: Store, *tokens: AdminToken) -> None:
    with store.write() as connection:
        for token in tokens:
            add_token(connection, token)


def shown(text: str) -> list[tuple[bytes, bytes]]:
    return [(b"host", b"x"), (b"authorization", b"Bearer " + text.encode())]


async def refused(ring: TokenRing, text: str, method: str = "GET") -> tuple[int, str]:
    with pytest.raises(Refused) as found:
        await ring.identify(shown(text), method)
    return found.value.problem.status, found.value.problem.message


async def test_a_token_made_a_moment_ago_works_and_a_revoked_one_does_not(
    store: Store, ring: TokenRing
) -> None:
    assert (await refused(ring, text_of(1)))[0] == 401
    other = open_store(store.path.parent)
    add(other, a_token(1))
    assert await ring.identify(shown(text_of(1)), "GET") == a_token(1)
    with other.write() as connection:
        revoke_token(connection, "token 1", 5)
    other.close()
    assert "revoked" in (await refused(ring, text_of(1)))[1]


async def test_any_number_of_calls_at_once_cost_one_look_up(
    source: CountedTokens, ring: TokenRing
) -> None:
    calls = [ring.identify(shown(text_of(n)), "GET") for n in range(100)]
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, Refused) for one in found)
    assert (source.asked, source.loaded, ring.refused) == (1, 1, 100)


async def test_tokens_are_read_again_only_when_they_changed(
    store: Store, source: CountedTokens, ring: TokenRing
) -> None:
    add(store, a_token(1))
    for _ in range(3):
        await ring.identify(shown(text_of(1)), "GET")
    assert (source.asked, source.loaded) == (3, 1)


async def test_what_cannot_be_a_token_never_reaches_the_store(
    source: CountedTokens, ring: TokenRing
) -> None:
    for text in ("", "zk-x", "zka-x", text_of(1)[:-1]):
        assert (await refused(ring, text))[0] == 401
    assert source.asked == 0


async def test_while_the_store_is_away_known_tokens_work_for_a_time(
    store: Store, source: CountedTokens, ring: TokenRing, clock: Clock
) -> None:
    add(store, a_token(1))
    await ring.identify(shown(text_of(1)), "GET")
    source.away = True
    clock.now += 3599
    with capture_logs() as logged:
        assert await ring.identify(shown(text_of(1)), "GET") == a_token(1)
    assert [line["event"] for line in logged] == ["tokens_not_read"]
    clock.now += 2
    assert (await refused(ring, text_of(1)))[0] == 503
    source.away = False
    assert await ring.identify(shown(text_of(1)), "GET") == a_token(1)


async def test_a_token_of_this_process_needs_no_store(
    source: CountedTokens, ring: TokenRing
) -> None:
    source.away = True
    ring.own(text_of(9))
    assert (await ring.identify(shown(text_of(9)), "POST")).role == "owner"
    ring.own(text_of(8))
    assert source.asked == 0
    source.away = False
    assert (await refused(ring, text_of(9)))[0] == 401


async def test_a_read_only_token_may_not_change_anything(store: Store, ring: TokenRing) -> None:
    add(store, a_token(1, "read-only"))
    assert (await ring.identify(shown(text_of(1)), "GET")).role == "read-only"
    assert (await refused(ring, text_of(1), "POST"))[0] == 403
    assert ring.refused == 0


async def test_a_token_of_one_account_opens_only_what_keeps_it_there(
    store: Store, ring: TokenRing
) -> None:
    add(store, replace(a_token(1, "member"), account="acct_1"))
    status, said = await refused(ring, text_of(1))
    assert (status, said) == (403, "A member admin token may not do this.")
    found = await ring.identify(shown(text_of(1)), "POST", confined=True)
    assert found.account == "acct_1"
