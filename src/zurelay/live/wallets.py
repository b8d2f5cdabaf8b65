"""What this process may spend, in memory: a reserve is a check and a subtraction, with no wait.

Of each wallet that can run dry the process leases a part and reserves out of it. Where a lease is
too small, `fund` asks the store for more, calls back what other processes leave idle, and only then
finds that there is not enough. Leases lapse when the store was away too long.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import structlog

from zurelay.chat.problems import Refused, overloaded_here
from zurelay.live.ports import WalletSource
from zurelay.meter.wallets import Drawn, Wallet, Want

POLL_S: Final = 0.25
RENEW_S: Final = 5.0
LAPSE_S: Final = 300.0
"""A lease is good for so long after the store was last asked to renew it; as `store` grants it."""

_PATIENCE_S: Final = 2.0
"""How long a request waits for what other processes may return."""
_ASK_AGAIN_S: Final = 0.1
_DRY_S: Final = 0.05
"""So long after it had nothing left, a wallet is not asked again."""
_TIGHT_S: Final = 10.0
"""So long after it ran low, idle parts of a wallet go back at once."""
_LIKE: Final = 16
"""Reserves that a new slice should be good for."""

_log = structlog.get_logger("zurelay.wallets")


class Short(Exception):  # noqa: N818 - a turn of the path, not an error
    """What this process has leased does not cover a reserve: `Wallets.fund` may help."""


class Hold:
    """What one request may cost, set aside until it is settled."""

    __slots__ = ("ceiling", "settled", "wallets")

    def __init__(self, wallets: Sequence[Wallet], ceiling: int) -> None:
        self.wallets = wallets
        self.ceiling = ceiling
        self.settled = False


class _Slice:
    """The part of one wallet that this process may spend. All but times in nano-dollars."""

    __slots__ = (
        "dry_until",
        "elsewhere",
        "free",
        "held",
        "left",
        "most",
        "recalls",
        "refilling",
        "spent",
        "tight_until",
        "told",
    )

    def __init__(self) -> None:
        self.free = 0  # below zero where more was spent than leased: it had no limit then
        self.held = 0
        self.told = 0  # of `held`, what the store knows
        self.spent = 0  # since this process began
        self.left = 0  # in the wallet, leased to nobody, when last asked
        self.elsewhere = 0  # leased to other processes then
        self.most = 0  # largest reserve lately
        self.recalls = 0
        self.refilling = False
        self.dry_until = 0.0
        self.tight_until = 0.0


class Wallets:
    """The slices of one process. Belongs to one event loop."""

    def __init__(
        self, source: WalletSource, *, undelivered: Callable[[], int], lapse_s: float = LAPSE_S
    ) -> None:
        """Make an empty set; nothing may be held before `start`.

        Args:
            source: asked from a thread of its own, one call at a time.
            undelivered: how many settled entries the store does not have yet.
            lapse_s: how long leases are good without a word from the store.
        """
        self._source = source
        self._undelivered = undelivered
        self._lapse_s = lapse_s
        self._slices: dict[str, _Slice] = {}
        self._asking = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "wallets")
        self._jobs: set[asyncio.Task[None]] = set()
        self._renewed = 0.0
        self._lapsed = False
        self._doubtful = False
        self._failing = False
        self._leases = False  # whether anything was ever leased

    async def start(self) -> None:
        """Begin with nothing leased, then keep what is leased alive until `close`.

        Raises:
            Exception: the store cannot be used.
        """
        self._loop = asyncio.get_running_loop()
        self._renewed = self._loop.time()
        await self._ask(self._source.begin)
        self._spawn(self._watch())
        if not self._source.alone:
            self._spawn(self._keep())

    async def close(self) -> None:
        """Return what is leased: all of it if the store has all that was settled, else the idle."""
        for job in list(self._jobs):
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        if self._undelivered() or any(each.held for each in self._slices.values()):
            await self._return({name: each.free for name, each in self._slices.items()})
        else:
            try:
                await self._ask(self._source.end)
            except Exception as error:  # noqa: BLE001 - the next start returns it
                self._failed(error)
        self._thread.shutdown()

    # The request path.

    def affordable(self, wallets: Sequence[Wallet], *, elsewhere: bool = False) -> int | None:
        """Nano-dollars that may be had, as far as known here; None where nothing is limited.

        `elsewhere`: count what other processes have leased; they may return it.
        """
        found: int | None = None
        for wallet in wallets:
            if wallet.limited:
                one = self._slices.get(wallet.id)
                most = 0 if one is None else one.free + one.left
                if elsewhere and one is not None:
                    most += one.elsewhere
                found = most if found is None else min(found, most)
        return found

    def hold(self, wallets: Sequence[Wallet], ceiling: int) -> Hold:
        """Set `ceiling` aside in every wallet, or in none; nothing can always be set aside.

        Raises:
            Short: what is leased here is not enough.
        """
        if not ceiling:
            return Hold(wallets, 0)
        limited = [wallet for wallet in wallets if wallet.limited]
        if limited:
            if self._lapsed:
                raise Short
            slices = self._slices
            for wallet in limited:
                one = slices.get(wallet.id)
                if one is None or one.free < ceiling:
                    raise Short
            for wallet in limited:
                self._take(wallet, slices[wallet.id], ceiling)
        return Hold(wallets, ceiling)

    async def look(self, wallets: Sequence[Wallet]) -> None:
        """Ask the store what there is of limited wallets, unless it had nothing a moment ago.

        Raises:
            Refused: 503 while the store cannot be asked.
        """
        if self._lapsed:
            raise Refused(_away())
        async with self._asking:
            await self._lease([Want(w, 0, 0) for w in wallets if w.limited])

    async def fund(self, wallets: Sequence[Wallet], ceiling: int) -> Hold | None:
        """As `hold`, after leasing what is lacking; None if it cannot be had.

        Raises:
            Refused: 503 while the store cannot be asked.
        """
        until = self._loop.time() + _PATIENCE_S
        while True:
            async with self._asking:
                try:
                    return self.hold(wallets, ceiling)
                except Short:
                    elsewhere = await self._lease(self._lacking(wallets, ceiling))
                try:
                    return self.hold(wallets, ceiling)
                except Short:
                    if self._lapsed:
                        raise Refused(_away()) from None
                    if not elsewhere or self._loop.time() >= until:
                        return None
                await self._told(self._source.recall, elsewhere)
            await asyncio.sleep(_ASK_AGAIN_S)

    async def left(self, wallets: Sequence[Wallet]) -> list[int]:
        """What is in each wallet by the store, whoever has leased it.

        Raises:
            Refused: 503 while the store cannot be asked.
        """
        found: list[int] = await self._told(self._source.left, wallets)
        return found

    async def spent(self, since: float, account: str, key: str) -> int:
        """Nano-dollars that a key spent since Unix time `since`, by the store.

        Raises:
            Refused: 503 while the store cannot be asked.
        """
        found: int = await self._told(self._source.spent, since, account, key)
        return found

    def settle(self, hold: Hold, cost: int) -> tuple[dict[str, int], int]:
        """Release a hold and take `cost`.

        A limited wallet pays what it has: beyond the hold, no more than is free here.

        Returns:
            What each wallet pays, zeros left out; and how much the poorest of them lacked.
        """
        paid = {}
        lacking = 0
        for wallet in hold.wallets:
            amount = cost
            one = self._slice(wallet)
            if wallet.limited:
                one.held -= hold.ceiling
                one.free += hold.ceiling
                amount = max(0, min(cost, one.free))
                lacking = max(lacking, cost - amount)
            if amount:
                one.free -= amount
                one.spent += amount
                paid[wallet.id] = amount
        return paid, lacking

    def _take(self, wallet: Wallet, one: _Slice, ceiling: int) -> None:
        one.free -= ceiling
        one.held += ceiling
        one.most = max(one.most, ceiling)
        if one.left > 0 and one.free < _LIKE // 2 * one.most and not one.refilling:
            one.refilling = True
            self._spawn(self._refill(wallet, one))

    # Leasing.

    def _lacking(self, wallets: Sequence[Wallet], ceiling: int) -> list[Want]:
        wants = []
        for wallet in wallets:
            if wallet.limited:
                one = self._slice(wallet)
                if one.free < ceiling:
                    wants.append(Want(wallet, ceiling - one.free, _LIKE * max(one.most, ceiling)))
        return wants

    async def _lease(self, wants: Sequence[Want]) -> list[str]:
        """Ask the store for more; gives the wallets that lack some which others have."""
        wants = [want for want in wants if self._may_have(want)]
        if not wants or self._lapsed:
            return []
        self._leases = True
        drawing = self._loop.create_task(self._draw(wants))
        try:
            drawn = await asyncio.shield(drawing)
        except asyncio.CancelledError:
            # Whoever asked has left; what the store grants is this process's all the same.
            await asyncio.wait([drawing])
            raise
        return [
            want.wallet.id
            for want, each in zip(wants, drawn, strict=True)
            if each.granted < want.need and each.elsewhere
        ]

    async def _draw(self, wants: Sequence[Want]) -> list[Drawn]:
        drawn: list[Drawn] = await self._told(self._source.draw, wants)
        for want, each in zip(wants, drawn, strict=True):
            self._drawn(want, each)
        return drawn

    def _may_have(self, want: Want) -> bool:
        """Whether it is worth asking: it was not found wanting a moment ago."""
        one = self._slice(want.wallet)
        return one.left >= max(want.need, 1) or self._loop.time() >= one.dry_until

    def _slice(self, wallet: Wallet) -> _Slice:
        one = self._slices.get(wallet.id)
        if one is None:
            one = self._slices[wallet.id] = _Slice()
        return one

    async def _refill(self, wallet: Wallet, one: _Slice) -> None:
        """In the background, before the slice is used up."""
        try:
            async with self._asking:
                await self._lease([Want(wallet, 0, _LIKE * one.most)])
        except Refused:
            pass  # told; whoever needs it asks again
        finally:
            one.refilling = False

    def _drawn(self, want: Want, drawn: Drawn) -> None:
        one = self._slices[want.wallet.id]
        one.free += drawn.granted
        one.left = drawn.left
        one.elsewhere = drawn.elsewhere
        now = self._loop.time()
        if not drawn.granted:
            one.dry_until = now + _DRY_S
        if not self._source.alone and drawn.left < 4 * drawn.nodes * one.most:
            one.tight_until = now + _TIGHT_S

    # Keeping and returning.

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            if not self._leases:
                continue
            try:
                recalled = await self._ask(self._source.recalled)
            except Exception as error:  # noqa: BLE001 - it may come back
                self._failed(error)
                continue
            self._failing = False
            async with self._asking:
                await self._return(self._idle(recalled))

    def _idle(self, recalled: Mapping[str, int]) -> dict[str, int]:
        """What goes back now: of wallets that others want, or that are nearly empty."""
        now = self._loop.time()
        idle = {}
        for name, one in self._slices.items():
            times = recalled.get(name, 0)
            wanted = times > one.recalls
            one.recalls = max(one.recalls, times)
            if wanted:
                one.left = 0
            if one.free > 0 and (wanted or now < one.tight_until):
                idle[name] = one.free
        return idle

    async def _return(self, amounts: Mapping[str, int]) -> None:
        amounts = {name: amount for name, amount in amounts.items() if amount > 0}
        if not amounts:
            return
        for name, amount in amounts.items():
            self._slices[name].free -= amount
        try:
            await self._ask(self._source.give_back, amounts)
        except Exception as error:  # noqa: BLE001 - it may come back
            if self._source.alone:
                for name, amount in amounts.items():
                    self._slices[name].free += amount
            self._failed(error)
        else:
            for name, amount in amounts.items():
                self._slices[name].left += amount  # where it can be asked for again

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            await self._renew()

    async def _renew(self) -> None:
        asked = self._loop.time()
        held = {name: one.held for name, one in self._slices.items() if one.held != one.told}
        try:
            await self._ask(self._source.renew, held, self._undelivered())
        except Exception as error:  # noqa: BLE001 - it may come back
            self._failed(error)
            if asked - self._renewed > self._lapse_s and not self._lapsed:
                self._lapsed = True
                _log.error("leases_lapsed", effect="accounts with limits get 503")
            return
        self._renewed = asked
        for name, amount in held.items():
            self._slices[name].told = amount
        if self._lapsed or self._doubtful:
            await self._start_over()

    async def _start_over(self) -> None:
        """Of what the store still grants, what was not spent is left here."""
        async with self._asking:
            try:
                leased = await self._ask(self._source.leased)
            except Exception as error:  # noqa: BLE001 - it may come back
                self._failed(error)
                return
            for name, one in self._slices.items():
                one.free = leased.get(name, 0) - one.spent - one.held
            self._doubtful = False
            if self._lapsed:
                self._lapsed = False
                _log.warning("leases_kept_again")

    async def _told(self, call: Callable[..., Any], *arguments: object) -> Any:
        """As `_ask`. Raises Refused (503) when the store does not answer."""
        try:
            return await self._ask(call, *arguments)
        except Exception as error:
            self._failed(error)
            raise Refused(_away()) from error

    async def _ask(self, call: Callable[..., Any], *arguments: object) -> Any:
        return await self._loop.run_in_executor(self._thread, call, *arguments)

    def _failed(self, error: Exception) -> None:
        # What the last call leased or returned may have come about: the store must say.
        self._doubtful = True
        if not self._failing:
            _log.error("wallets_not_reached", error=str(error))
        self._failing = True

    def _spawn(self, job: Any) -> None:
        task = self._loop.create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)


def _away() -> Any:
    return overloaded_here("The gateway cannot reach the balance of this account just now.", 5)
