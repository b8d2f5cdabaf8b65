import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack

import pytest
from structlog.testing import capture_logs

from tests.store.rows import ACCOUNT
from zurelay.chat.problems import Refused
from zurelay.live.wallets import Hold, Short, Wallets
from zurelay.meter.wallets import Drawn, Wallet, Want
from zurelay.store import wallets as stored
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.wallet_source import StoredWallets

BALANCE = stored.account_balance(ACCOUNT.id)
BUDGET = Wallet("budget:key_1:total", ACCOUNT.id, "key_1", "total", 0, budget=500)
OPEN = stored.account_balance(ACCOUNT.id, limited=False)


class Source(StoredWallets):
    """Wallets of a real store that can be away, and that count how often they are drawn on."""

    away = False
    draws = 0

    def draw(self, wants: Sequence[Want]) -> list[Drawn]:
        self._answer()
        self.draws += 1
        return super().draw(wants)

    def renew(self, held: Mapping[str, int], undelivered: int) -> None:
        self._answer()
        super().renew(held, undelivered)

    def _answer(self) -> None:
        if self.away:
            raise StoreError("zurelay.db: away")


def pay_in(store: Store, amount: int) -> None:
    with store.write() as connection:
        stored.add_available(connection, BALANCE, amount)


def balance(store: Store) -> int:
    with store.read() as connection:
        return stored.balance(connection, BALANCE.id)


def spend(store: Store, node: str, amount: int) -> None:
    """What a log row with that cost does."""
    with store.write() as connection:
        stored._spend(connection, node, BALANCE.id, amount)


@pytest.fixture
def source(store: Store) -> Source:
    return Source(store, "n1", alone=True)


@pytest.fixture
async def purse(source: Source) -> AsyncIterator[Wallets]:
    made = Wallets(source, undelivered=lambda: 0)
    await made.start()
    yield made
    source.away = False
    await made.close()


async def funded(purse: Wallets, *wallets: Wallet, ceiling: int) -> Hold:
    hold = await purse.fund(wallets, ceiling)
    assert hold is not None
    return hold


async def test_what_is_not_limited_needs_no_store(purse: Wallets, source: Source) -> None:
    hold = purse.hold([OPEN], 10**18)
    assert purse.settle(hold, 77) == ({OPEN.id: 77}, 0)
    assert purse.affordable([OPEN]) is None
    assert source.draws == 0


async def test_a_first_request_asks_the_store_and_later_ones_do_not(
    store: Store, purse: Wallets, source: Source
) -> None:
    pay_in(store, 1000)
    with pytest.raises(Short):
        purse.hold([BALANCE], 10)
    hold = await funded(purse, BALANCE, ceiling=10)
    assert purse.affordable([BALANCE]) == 990
    purse.settle(purse.hold([BALANCE], 500), 0)
    assert purse.settle(hold, 4) == ({BALANCE.id: 4}, 0)
    assert purse.affordable([BALANCE]) == 996
    assert source.draws == 1


async def test_all_wallets_are_held_or_none(store: Store, purse: Wallets) -> None:
    pay_in(store, 1000)
    assert await purse.fund([BALANCE, BUDGET], 501) is None
    assert purse.affordable([BALANCE]) == 1000
    assert purse.affordable([BALANCE, BUDGET]) == 500
    hold = await funded(purse, BALANCE, BUDGET, ceiling=500)
    with pytest.raises(Short):
        purse.hold([BALANCE, BUDGET], 1)
    purse.hold([BALANCE], 1)
    assert purse.settle(hold, 20) == ({BALANCE.id: 20, BUDGET.id: 20}, 0)


async def test_an_empty_wallet_is_not_asked_again_at_once(purse: Wallets, source: Source) -> None:
    for _ in range(5):
        assert await purse.fund([BALANCE], 1) is None
        await purse.look([BALANCE])
    assert source.draws == 1


async def test_what_was_given_back_a_moment_ago_is_asked_for_though_it_was_empty_before(
    store: Store, purse: Wallets
) -> None:
    pay_in(store, 100)
    hold = await funded(purse, BALANCE, ceiling=100)
    assert await purse.fund([BALANCE], 60) is None
    purse.settle(hold, 10)
    await purse._return({BALANCE.id: 90})
    await funded(purse, BALANCE, ceiling=60)


async def test_what_is_paid_in_is_found(store: Store, purse: Wallets) -> None:
    assert await purse.fund([BALANCE], 1) is None
    pay_in(store, 5)
    await asyncio.sleep(0.06)  # so long the store is left alone
    await funded(purse, BALANCE, ceiling=5)


async def test_a_cost_beyond_its_hold_is_paid_as_far_as_there_is_money(
    store: Store, purse: Wallets
) -> None:
    pay_in(store, 100)
    hold = await funded(purse, BALANCE, ceiling=10)
    other = purse.hold([BALANCE], 70)
    assert purse.settle(hold, 50) == ({BALANCE.id: 30}, 20)
    assert purse.settle(other, 70) == ({BALANCE.id: 70}, 0)
    assert purse.affordable([BALANCE]) == 0


async def test_what_costs_nothing_passes_on_an_empty_wallet(purse: Wallets, source: Source) -> None:
    hold = purse.hold([BALANCE], 0)
    assert purse.settle(hold, 0) == ({}, 0)
    assert purse.settle(purse.hold([BALANCE], 0), 7) == ({}, 7)
    assert source.draws == 0


async def test_a_caller_who_leaves_while_the_store_is_asked_loses_nothing(
    store: Store, purse: Wallets
) -> None:
    pay_in(store, 1000)
    for asking in (purse.fund([BALANCE], 10), purse.look([BALANCE])):
        task = asyncio.create_task(asking)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
    assert purse.affordable([BALANCE]) == 1000


async def test_what_was_spent_without_a_limit_is_missing_with_one(
    store: Store, purse: Wallets
) -> None:
    pay_in(store, 1000)
    purse.settle(purse.hold([OPEN], 0), 300)
    spend(store, "n1", 300)
    assert await purse.fund([BALANCE], 701) is None
    assert purse.settle(await funded(purse, BALANCE, ceiling=700), 700) == ({BALANCE.id: 700}, 0)
    spend(store, "n1", 700)
    assert balance(store) == 0
    purse.settle(purse.hold([OPEN], 0), 5)
    assert await purse.fund([BALANCE], 1) is None
    assert purse.affordable([BALANCE]) == -5


async def test_what_another_node_spent_without_a_limit_is_missing_too(
    store: Store, pair: tuple[Wallets, Wallets]
) -> None:
    one, two = pair
    pay_in(store, 1000)
    one.settle(one.hold([OPEN], 0), 300)
    spend(store, "n1", 300)
    assert await two.fund([BALANCE], 701) is None
    two.settle(await funded(two, BALANCE, ceiling=700), 700)
    spend(store, "n2", 700)
    assert balance(store) == 0
    assert await one.fund([BALANCE], 1) is None


async def test_closing_returns_what_is_idle(store: Store, source: Source) -> None:
    pay_in(store, 1000)
    purse = Wallets(source, undelivered=lambda: 0)
    await purse.start()
    purse.settle(await funded(purse, BALANCE, ceiling=10), 4)
    spend(store, "n1", 4)
    await purse.close()
    with store.read() as connection:
        assert stored.leased(connection, "n1") == {BALANCE.id: 4}
    assert balance(store) == 996


async def test_what_was_taken_here_and_made_free_in_the_log_returns_at_the_end(
    store: Store, source: Source
) -> None:
    pay_in(store, 1000)
    purse = Wallets(source, undelivered=lambda: 0)
    await purse.start()
    purse.settle(await funded(purse, BALANCE, ceiling=10), 4)
    await purse.close()
    with store.read() as connection:
        assert stored.leased(connection, "n1") == {BALANCE.id: 0}
    assert balance(store) == 1000


async def test_what_the_store_has_yet_to_hear_of_stays_leased_at_the_end(
    store: Store, source: Source
) -> None:
    pay_in(store, 1000)
    purse = Wallets(source, undelivered=lambda: 1)
    await purse.start()
    purse.settle(await funded(purse, BALANCE, ceiling=10), 4)
    await purse.close()
    with store.read() as connection:
        assert stored.leased(connection, "n1") == {BALANCE.id: 4}


async def test_while_the_store_is_away_what_is_leased_can_be_spent_and_then_503(
    store: Store, purse: Wallets, source: Source
) -> None:
    pay_in(store, 1000)
    await funded(purse, BALANCE, ceiling=10)
    source.away = True
    purse.hold([BALANCE], 990)
    with capture_logs() as logs, pytest.raises(Refused) as refused:
        await purse.fund([BALANCE], 1)
    assert refused.value.problem.status == 503
    assert refused.value.problem.retry_after is not None
    assert [line["event"] for line in logs] == ["wallets_not_reached"]


async def test_a_lease_lapses_when_the_store_was_away_too_long(
    store: Store, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.live.wallets.RENEW_S", 0.005)
    pay_in(store, 1000)
    source.alone = False
    purse = Wallets(source, undelivered=lambda: 1, lapse_s=0.02)
    await purse.start()
    hold = await funded(purse, BALANCE, ceiling=10)
    early = purse.hold([BALANCE], 30)
    with capture_logs() as logs:
        source.away = True
        while not any(line["event"] == "leases_lapsed" for line in logs):
            await asyncio.sleep(0.001)
        for asking in (purse.fund([BALANCE], 1), purse.look([BALANCE])):
            with pytest.raises(Refused) as refused:
                await asking
            assert refused.value.problem.status == 503
        purse.settle(early, 30)  # the store hears of it later
        source.away = False
        while logs[-1]["event"] != "leases_kept_again":
            await asyncio.sleep(0.001)
    assert purse.settle(hold, 10) == ({BALANCE.id: 10}, 0)
    spend(store, "n1", 40)
    await funded(purse, BALANCE, ceiling=960)
    assert await purse.fund([BALANCE], 1) is None
    await purse.close()
    assert balance(store) == 960


async def test_what_the_store_took_back_without_saying_so_is_not_spent_again(
    store: Store, source: Source
) -> None:
    source.alone = False
    purse = Wallets(source, undelivered=lambda: 0)
    await purse.start()
    pay_in(store, 100_000)
    hold = await funded(purse, BALANCE, ceiling=10)
    leased = purse.affordable([BALANCE]) or 0
    with pytest.MonkeyPatch.context() as patch:

        def lost(amounts: Mapping[str, int]) -> None:
            StoredWallets.give_back(source, amounts)
            raise StoreError("the connection broke while it committed")

        patch.setattr(source, "give_back", lost)
        one = purse._slices[BALANCE.id]
        await purse._return({BALANCE.id: one.free})
    with pytest.raises(Short):
        purse.hold([BALANCE], 10)
    await purse._renew()
    assert one.free == 0
    purse.settle(hold, 4)
    spend(store, "n1", 4)

    with pytest.MonkeyPatch.context() as patch:

        def refused(_: Mapping[str, int]) -> None:
            raise StoreError("away")

        patch.setattr(source, "give_back", refused)
        await purse._return({BALANCE.id: one.free})
    assert one.free == 0
    await purse._renew()
    assert one.free == 6
    await purse.close()
    assert balance(store) == 100_000 - 4
    assert leased > 10


async def test_what_the_store_leased_without_saying_so_is_found(
    store: Store, source: Source
) -> None:
    source.alone = False
    purse = Wallets(source, undelivered=lambda: 0)
    await purse.start()
    pay_in(store, 100)
    with pytest.MonkeyPatch.context() as patch:

        def lost(wants: Sequence[Want]) -> list[Drawn]:
            StoredWallets.draw(source, wants)
            raise StoreError("the connection broke while it committed")

        patch.setattr(source, "draw", lost)
        with pytest.raises(Refused):
            await purse.fund([BALANCE], 100)
    await purse._renew()
    purse.hold([BALANCE], 100)
    await purse.close()


@pytest.fixture
async def pair(store: Store) -> AsyncIterator[tuple[Wallets, Wallets]]:
    """Two nodes on one store."""
    async with AsyncExitStack() as stack:
        made = []
        for name in ("n1", "n2"):
            one = Wallets(Source(store, name, alone=False), undelivered=lambda: 0)
            await one.start()
            stack.push_async_callback(one.close)
            made.append(one)
        yield made[0], made[1]


async def test_what_another_node_leaves_idle_is_called_back(
    store: Store, pair: tuple[Wallets, Wallets]
) -> None:
    one, two = pair
    pay_in(store, 1000)
    one.settle(await funded(one, BALANCE, ceiling=900), 100)
    spend(store, "n1", 100)
    await funded(two, BALANCE, ceiling=900)
    assert await one.fund([BALANCE], 1) is None


async def test_what_another_node_holds_is_waited_for_and_then_there_is_not_enough(
    store: Store, pair: tuple[Wallets, Wallets], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.live.wallets._PATIENCE_S", 0.3)
    one, two = pair
    pay_in(store, 1000)
    await funded(one, BALANCE, ceiling=900)
    assert await two.fund([BALANCE], 200) is None
    assert two.affordable([BALANCE]) == 100
    await funded(two, BALANCE, ceiling=100)


async def test_a_slice_is_filled_up_before_it_is_used_up(store: Store) -> None:
    source = Source(store, "n1", alone=False)
    one = Wallets(source, undelivered=lambda: 0)
    await one.start()
    pay_in(store, 100_000)
    for _ in range(300):
        try:
            one.hold([BALANCE], 100)
        except Short:
            await funded(one, BALANCE, ceiling=100)
        await asyncio.sleep(0)
    assert 2 <= source.draws < 20
    await one.close()


@pytest.mark.parametrize("nodes", [1, 2])
async def test_two_hundred_tasks_spend_the_last_cent_and_no_more(store: Store, nodes: int) -> None:
    """Each takes what it can until nobody can take anything."""
    pay_in(store, 10_000)
    async with AsyncExitStack() as stack:
        purses = []
        for n in range(nodes):
            one = Wallets(Source(store, f"n{n}", alone=nodes == 1), undelivered=lambda: 0)
            await one.start()
            stack.push_async_callback(one.close)
            purses.append((f"n{n}", one))
        dice = random.Random(nodes)
        taken = dict.fromkeys((name for name, _ in purses), 0)

        async def take(name: str, purse: Wallets) -> None:
            while True:
                ceiling = dice.randint(1, 200)
                hold = await purse.fund([BALANCE], ceiling)
                if hold is None and ceiling == 1:
                    return
                if hold is None:
                    hold = await purse.fund([BALANCE], 1)
                    if hold is None:
                        return
                await asyncio.sleep(0)
                paid, lacking = purse.settle(hold, dice.randint(1, hold.ceiling))
                assert lacking == 0
                taken[name] += paid[BALANCE.id]

        await asyncio.gather(*(take(*purses[n % nodes]) for n in range(200)))
        for name, _ in purses:
            spend(store, name, taken[name])
        assert sum(taken.values()) == 10_000
    assert balance(store) == 0
