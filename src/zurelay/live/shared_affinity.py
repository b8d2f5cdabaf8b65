"""Which route serves a conversation, told to all nodes, so that its prompt cache is used by all.

Told when it is new or changes, over a channel of Valkey, and kept by each node in its own memory.
Whoever was not there to hear finds out by asking a route of its own choice.
"""

from collections.abc import Callable

from zurelay.live.valkey import Valkey
from zurelay.plan.affinity import Affinity
from zurelay.wire.resp import command

_CHANNEL = b"zurelay:1:affinity"
_NAME_BYTES = 16


class SharedAffinity:
    """Joins a node's `Affinity` to those of the others.

    Args:
        valkey: the connection.
        affinity: of this node.
        clock: the time that `affinity` is told.
    """

    def __init__(self, valkey: Valkey, affinity: Affinity, clock: Callable[[], float]) -> None:
        self._valkey = valkey
        self._affinity = affinity
        self._clock = clock
        affinity.told = self._tell
        valkey.subscribe(_CHANNEL, self._hear)

    def _tell(self, conversation: bytes, route: str) -> None:
        self._valkey.send(command("PUBLISH", _CHANNEL, conversation + route.encode()))

    def _hear(self, message: bytes) -> None:
        """Also what this node told itself, which it knows."""
        conversation, route = message[:_NAME_BYTES], message[_NAME_BYTES:]
        self._affinity.learn(conversation, route.decode("utf-8", "replace"), self._clock())
