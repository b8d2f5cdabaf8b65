"""Every admin token in memory, and whether the store has changed asked before each use.

Admin calls are rare, so nothing polls: a call asks the store, in a thread, and shares that look-up
with all that come at the same time. While the store is away the tokens in memory go on working for
a time. One token of this process's own, which no store knows, lets the command line in on the same
machine.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final

import structlog

from zurelay.access.keys import hash_key, last4
from zurelay.access.tokens import AdminToken, not_allowed, parse_bearer, refused_token
from zurelay.chat.problems import Problem, Refused
from zurelay.live.ports import TokenSource

LOOK_UP_S: Final = 0.05
"""The store is asked at most once in this time, however many calls come."""

_log = structlog.get_logger("zurelay.tokens")


class TokenRing:
    """All admin tokens of a source. Belongs to one event loop.

    Attributes:
        refused: calls without a valid token since the start.
    """

    def __init__(
        self,
        source: TokenSource,
        *,
        clock: Callable[[], float] = time.time,
        stale_s: float = 3600.0,
    ) -> None:
        """Make an empty ring; the first call fills it.

        Args:
            source: asked from threads, one call at a time.
            clock: Unix time.
            stale_s: how long tokens in memory are trusted while the source does not answer.
        """
        self._source = source
        self._clock = clock
        self._stale_s = stale_s
        self._by_hash: dict[bytes, AdminToken] = {}
        self._own: dict[bytes, AdminToken] = {}
        self._version = -1
        self._fresh = float("-inf")
        self._look_up: asyncio.Task[None] | None = None
        self._asked_at = float("-inf")  # by the loop's clock
        self._asking = asyncio.Lock()
        self.refused = 0

    def own(self, text: str) -> None:
        """Take a token that only this process knows."""
        token = AdminToken(
            id="tok_local",
            name="this machine",
            role="owner",
            hash=hash_key(text),
            last4=last4(text),
            created=int(self._clock()),
        )
        self._own = {token.hash: token}

    async def identify(
        self, headers: Iterable[tuple[bytes, bytes]], method: str, *, confined: bool = False
    ) -> AdminToken:
        """The live token that a call shows, which may make a call with that method.

        Args:
            headers: of the call.
            method: of the call.
            confined: whether a token of one account may make it; whoever says so keeps it there.

        Raises:
            Refused: 401; 403 for what its role does not allow; 503 when tokens cannot be checked.
        """
        try:
            text = parse_bearer(headers)
            token = self._own.get(hash_key(text)) or await self._stored(text)
        except Refused as refused:
            self.refused += refused.problem.status == 401
            raise
        if not token.may(method) or (token.account is not None and not confined):
            raise not_allowed(token)
        return token

    async def close(self) -> None:
        """Give the source back."""
        if self._look_up is not None:
            self._look_up.cancel()
            await asyncio.wait([self._look_up])
        async with self._asking:
            await asyncio.to_thread(self._source.close)

    async def _stored(self, text: str) -> AdminToken:
        if self._look_up is None:
            self._look_up = asyncio.create_task(self._ask_soon())
        await asyncio.shield(self._look_up)
        if self._clock() - self._fresh > self._stale_s:
            raise Refused(
                Problem(503, "upstream_error", "no_route_available", _STALE, retry_after=5)
            )
        token = self._by_hash.get(hash_key(text))
        if token is None or token.revoked is not None:
            raise refused_token(text, token)
        return token

    async def _ask_soon(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._asked_at + LOOK_UP_S - loop.time())
        self._asked_at = loop.time()
        # Whoever comes from here on may know of a token that this answer does not hold yet.
        self._look_up = None
        async with self._asking:
            asked_at = self._clock()
            try:
                found = await asyncio.to_thread(self._read, self._version)
            except Exception as error:  # noqa: BLE001 - whatever ails the store, those in memory serve
                _log.error("tokens_not_read", error=str(error))
                return
            self._fresh = asked_at
            if found is not None:
                self._version, self._by_hash = found

    def _read(self, known: int) -> tuple[int, dict[bytes, AdminToken]] | None:
        """In a thread: all tokens, or None if nothing changed."""
        version = self._source.version()
        if version == known:
            return None
        return version, {token.hash: token for token in self._source.load()}


_STALE = "The gateway cannot check admin tokens just now."
