"""Fetches what callers name by URL, from the public internet alone.

Each address is checked after it was resolved and the connection goes to that very address, so that
neither a redirect nor a second look-up can lead inside. The environment's proxies are not used.
Does not know requests, formats or what the bytes are for.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol
from urllib.parse import urljoin

from zurelay.upstream.addresses import is_public
from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.client import HttpClient
from zurelay.upstream.dialing import Resolve, resolver
from zurelay.upstream.reading import Stream
from zurelay.upstream.url import parse_url

MB = 1024 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_CONNECT_SECONDS = 5.0
_LONGEST_URL = 8192
_MOST_LOOKUPS = 4


class Unfetchable(Exception):  # noqa: N818 - says what the URL is
    """A URL that gave nothing; why is not told, as it could tell about the inside."""

    def __init__(self, url: str) -> None:
        super().__init__("a URL could not be fetched")
        self.url = url


class Downloads(Protocol):
    """Fetches URLs."""

    async def fetch(self, urls: Iterable[str]) -> Mapping[str, bytes]:
        """What each URL holds; raises Unfetchable for the first that cannot be had."""
        ...


class _Allowance:
    """Bytes that one request may still fetch."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValueError("too much")


class Downloader(Downloads):
    """See `Downloads`. One for each event loop; made outside of one.

    Args:
        seconds: for one URL, with all its redirects.
        most: bytes of one file.
        most_together: bytes of all files of one call of `fetch`.
        at_once: files fetched at the same time, by all calls together.
        floor: seconds that a refusal takes at least, so that its time does not tell where it
            came from.
        ports: those that may be connected to.
        allowed: the addresses that may be connected to.
        resolve: finds a name's addresses; by default the system's resolver.
    """

    def __init__(
        self,
        *,
        seconds: float = 10.0,
        most: int = 20 * MB,
        most_together: int = 50 * MB,
        at_once: int = 64,
        floor: float = 0.5,
        ports: Collection[int] = (80, 443),
        allowed: Callable[[str], bool] = is_public,
        resolve: Resolve | None = None,
    ) -> None:
        # Names that never resolve must not hold up those of upstreams.
        self._names = ThreadPoolExecutor(_MOST_LOOKUPS, thread_name_prefix="names")
        resolve = resolve or resolver(self._names)
        self._client = HttpClient(most_idle=0, allowed=allowed, resolve=resolve)
        self._seconds = seconds
        self._most = most
        self._most_together = most_together
        self._floor = floor
        self._ports = ports
        self._slots = asyncio.Semaphore(at_once)

    async def fetch(self, urls: Iterable[str]) -> dict[str, bytes]:
        """What each URL holds.

        Raises:
            Unfetchable: for the first that cannot be had; the others are given up.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        allowance = _Allowance(self._most_together)
        refused: list[Unfetchable] = []
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    url: group.create_task(self._one(url, allowance)) for url in dict.fromkeys(urls)
                }
        except* Unfetchable as failed:
            refused += [error for error in failed.exceptions if isinstance(error, Unfetchable)]
        if refused:
            await asyncio.sleep(self._floor - (loop.time() - began))
            raise refused[0]
        return {url: task.result() for url, task in tasks.items()}

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()
        self._names.shutdown(wait=False, cancel_futures=True)

    async def _one(self, url: str, allowance: _Allowance) -> bytes:
        try:
            async with self._slots, asyncio.timeout(self._seconds):
                return await self._follow(url, allowance)
        except (UpstreamError, TimeoutError, ValueError):
            raise Unfetchable(url) from None

    async def _follow(self, url: str, allowance: _Allowance) -> bytes:
        """The file at the end of the redirects; ValueError where there is none."""
        for _ in range(_MOST_REDIRECTS + 1):
            if len(url) > _LONGEST_URL or parse_url(url).port not in self._ports:
                raise ValueError("no URL to follow")
            call = Call(
                method="GET",
                url=url,
                headers=(("accept", "*/*"),),
                body=b"",
                connect_deadline=_CONNECT_SECONDS,
                limit=self._most,
            )
            async with self._client.stream(call) as stream:
                location = stream.headers.get("location")
                if stream.status not in _REDIRECTS or not location:
                    return await _read(stream, allowance)
                url = urljoin(url, location)
        raise ValueError("too many redirects")


async def _read(stream: Stream, allowance: _Allowance) -> bytes:
    if stream.status != 200:
        raise ValueError("no file")
    chunks = []
    async for chunk in stream:
        allowance.spend(len(chunk))
        chunks.append(chunk)
    return b"".join(chunks)
