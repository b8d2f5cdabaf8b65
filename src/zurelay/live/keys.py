"""Every key in memory, so that knowing a caller costs a hash and a dictionary look-up.

The store is asked four times a second whether keys changed, from a thread. A key made a moment ago
is found by one look-up that all calls with unknown keys share; typing errors never cause one. While
the store is away, the keys in memory go on working for a time.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final

import structlog

from zurelay.access.keys import (
    Key,
    by_hash,
    hash_key,
    parse_authorization,
    refused_key,
    well_formed,
)
from zurelay.chat.problems import Problem, Refused
from zurelay.live.ports import KeySource

POLL_S: Final = 0.25
LOOK_UP_S: Final = 0.05
TOUCH_S: Final = 15.0
_LOGGED_S: Final = 10.0
_UNAUTHORIZED: Final = 401

_log = structlog.get_logger("zurelay.keys")


class KeyRing:
    """All keys of a source. Belongs to one event loop.

    Attributes:
        refused: calls without a valid key since the start.
        failing: the source did not answer when it was last asked.
        accounts: how many accounts the keys belong to.
    """

    def __init__(
        self,
        source: KeySource,
        *,
        clock: Callable[[], float] = time.time,
        stale_s: float = 3600.0,
    ) -> None:
        """Make an empty ring; `start` fills it.

        Args:
            source: owned from now on; asked from threads, one call at a time.
            clock: Unix time.
            stale_s: how long keys in memory are trusted while the source does not answer.
        """
        self._source = source
        self._clock = clock
        self._stale_s = stale_s
        self._by_hash: dict[bytes, Key] = {}
        self._version = -1
        self._fresh = 0.0
        self._used: dict[str, float] = {}
        self._touched = 0.0
        self._polling: asyncio.Task[None] | None = None
        self._look_up: asyncio.Task[None] | None = None
        self._asked_at = float("-inf")  # by the loop's clock
        self._asking = asyncio.Lock()
        self.failing = False
        self.accounts = 0
        self.refused = 0
        self._refused_logged = 0
        self._logged_at = float("-inf")

    async def start(self) -> None:
        """Read every key, then watch for changes until `close`.

        Raises:
            Exception: what the source raises when it cannot be read.
        """
        await self._ask()
        self._polling = asyncio.create_task(self._poll())

    async def close(self) -> None:
        """Stop watching, write down when keys were last used, and give the source back."""
        for task in (self._polling, self._look_up):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        async with self._asking:
            try:
                await self._touch()
            except Exception as error:  # noqa: BLE001 - the rest of the process has to end too
                _log.error("key_uses_not_written", error=str(error))
            finally:
                await asyncio.to_thread(self._source.close)

    @property
    def stale(self) -> bool:
        """Whether the keys in memory are too old to trust: every call is refused."""
        return self._clock() - self._fresh > self._stale_s

    def find(self, digest: bytes) -> Key | None:
        """The key with that hash, live or not; None if it is unknown."""
        return self._by_hash.get(digest)

    def identify(self, headers: Iterable[tuple[bytes, bytes]]) -> Key | None:
        """The live key that a call shows; None when only `look_up` can tell.

        Raises:
            Refused: 401; 503 when the keys in memory are too old to trust.
        """
        try:
            text = parse_authorization(headers)
            key = self._by_hash.get(hash_key(text))
            if key is None and well_formed(text):
                return None
            return self._admit(text, key)
        except Refused as refused:
            self._count(refused)
            raise

    async def look_up(self, headers: Iterable[tuple[bytes, bytes]]) -> Key:
        """The live key that a call shows, after asking the source once more if it is unknown.

        However many calls wait here, the source is asked at most once in `LOOK_UP_S`.

        Raises:
            Refused: 401; 503 when the keys in memory are too old to trust.
        """
        try:
            text = parse_authorization(headers)
            digest = hash_key(text)
            if digest not in self._by_hash and well_formed(text):
                await self._look_up_once()
            return self._admit(text, self._by_hash.get(digest))
        except Refused as refused:
            self._count(refused)
            raise

    async def known(self, digest: bytes) -> Key:
        """The live key with that hash, for somebody inside who has it from the store.

        Raises:
            Refused: 401; 503 when the keys in memory are too old to trust.
        """
        if digest not in self._by_hash:
            await self._look_up_once()
        return self._admit("", self._by_hash.get(digest))

    def _admit(self, text: str, key: Key | None) -> Key:
        now = self._clock()
        if key is None or key.state(now) != "live":
            raise refused_key(text, key)
        if now - self._fresh > self._stale_s:
            raise Refused(
                Problem(503, "upstream_error", "no_route_available", _STALE, retry_after=5)
            )
        self._used[key.id] = now
        return key

    def _count(self, refused: Refused) -> None:
        if refused.problem.status != _UNAUTHORIZED:
            return
        self.refused += 1
        now = self._clock()
        if now - self._logged_at >= _LOGGED_S:
            _log.warning("calls_without_valid_key", count=self.refused - self._refused_logged)
            self._refused_logged = self.refused
            self._logged_at = now

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            await self._ask_safely()

    async def _look_up_once(self) -> None:
        """Ask the source soon; whoever waits already waits for the same answer."""
        if self._look_up is None:
            self._look_up = asyncio.create_task(self._ask_soon())
        await asyncio.shield(self._look_up)

    async def _ask_soon(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._asked_at + LOOK_UP_S - loop.time())
        self._asked_at = loop.time()
        # Whoever comes from here on may know of a key that this answer does not hold yet.
        self._look_up = None
        await self._ask_safely()

    async def _ask_safely(self) -> None:
        try:
            await self._ask()
            if self._clock() - self._touched >= TOUCH_S:
                await self._touch()
        except Exception as error:  # noqa: BLE001 - whatever ails the store, keys in memory serve
            if not self.failing:
                _log.error("keys_not_read", error=str(error))
            self.failing = True
        else:
            if self.failing:
                _log.warning("keys_read_again")
            self.failing = False

    async def _ask(self) -> None:
        async with self._asking:
            asked_at = self._clock()
            found = await asyncio.to_thread(self._read, self._version)
            self._fresh = asked_at
            if found is not None:
                self._version, self._by_hash = found
                self.accounts = len({key.account for key in self._by_hash.values()})

    def _read(self, known: int) -> tuple[int, dict[bytes, Key]] | None:
        """In a thread: all keys, or None if nothing changed."""
        version = self._source.version()
        if version == known:
            return None
        return version, by_hash(self._source.load())

    async def _touch(self) -> None:
        used, self._used = self._used, {}
        self._touched = self._clock()
        if not used:
            return
        try:
            await asyncio.to_thread(self._source.touch, used)
        except Exception:
            self._used = used | self._used
            raise


_STALE = "The gateway cannot check keys just now."
