"""Which route served a conversation lately, so that the provider's prompt cache stays of use.

Bounded, told the time with every call, forgets after ten idle minutes. Tells whoever listens, and
learns from them. It does not know whether a route is healthy: whoever sees one fail says so.
"""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b

from zurelay.formats.base import Inbound

IDLE_S = 600.0
_MOST = 100_000


def conversation(account: str, inbound: Inbound, key: str = "") -> bytes | None:
    """The name of a conversation: of one account, by `prompt_cache_key`, else by how it opens.

    Args:
        account: whose request it is; conversations of two accounts never share a name.
        inbound: the request.
        key: id of the calling key; tells apart openings that are the same.

    Returns:
        16 bytes; None for a request that has neither.
    """
    if inbound.cache_key:
        parts = [b"cache-key", account.encode(), inbound.cache_key.encode("utf-8", "replace")]
    elif inbound.opening:
        parts = [b"opening", account.encode(), key.encode(), inbound.opening]
    else:
        return None
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


class Affinity:
    """Conversation -> id of the route that served it last.

    Attributes:
        told: hears which route serves a conversation: the first time, at each change, and once in
            half the idle time.
    """

    __slots__ = ("_idle_s", "_most", "_routes", "told")

    def __init__(self, most: int = _MOST, idle_s: float = IDLE_S) -> None:
        self.told: Callable[[bytes, str], None] | None = None
        self._most = most
        self._idle_s = idle_s
        self._routes: OrderedDict[bytes, tuple[str, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._routes)

    def find(self, conversation: bytes | None, now: float) -> str | None:
        """The route that served it in the last ten minutes."""
        if conversation is None:
            return None
        found = self._routes.get(conversation)
        if found is None:
            return None
        route, at = found
        if now - at >= self._idle_s:
            del self._routes[conversation]
            return None
        return route

    def remember(self, conversation: bytes, route: str, now: float) -> None:
        """`route` answered it."""
        if self.told is not None:
            found = self._routes.get(conversation)
            if found is None or found[0] != route or now - found[1] >= self._idle_s / 2:
                self.told(conversation, route)
        self.learn(conversation, route, now)

    def learn(self, conversation: bytes, route: str, now: float) -> None:
        """`route` answered it, here or elsewhere; nobody is told."""
        routes = self._routes
        routes[conversation] = (route, now)
        routes.move_to_end(conversation)
        if len(routes) > self._most:
            routes.popitem(last=False)
        oldest = next(iter(routes))
        if now - routes[oldest][1] >= self._idle_s:
            del routes[oldest]

    def forget(self, conversation: bytes | None, route: str) -> None:
        """`route` failed it, or was too slow: the next turn is free to go elsewhere."""
        if conversation is None:
            return
        found = self._routes.get(conversation)
        if found is not None and found[0] == route:
            del self._routes[conversation]
