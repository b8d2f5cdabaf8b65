"""What one node learns of routes that rest and credentials that are refused, told to all nodes.

Told as it happens, and kept in Valkey until its time, for nodes that come later. While the server
is away each node learns for itself.
"""

import hashlib
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from zurelay.live.valkey import Valkey
from zurelay.plan.health import Health
from zurelay.wire.resp import command

SCRIPT = files("zurelay.live").joinpath("rests.lua").read_bytes()

_SHA = hashlib.sha1(SCRIPT, usedforsecurity=False).hexdigest()
_KEY = "zurelay:1:rests"
_CHANNEL = "zurelay:1:rests"


class SharedRests:
    """Joins a node's `Health` to those of the others.

    Args:
        valkey: the connection; it must load `SCRIPT`.
        health: of this node.
        clock: the time that `health` is told.
    """

    def __init__(self, valkey: Valkey, health: Health, clock: Callable[[], float]) -> None:
        self._valkey = valkey
        self._health = health
        self._clock = clock
        health.told = self._tell
        valkey.use(self)
        valkey.subscribe(_CHANNEL.encode(), self._hear)

    def opened(self) -> None:
        """A connection is up: what others know is asked for."""
        self._valkey.send(command("EVALSHA", _SHA, 1, _KEY, "known"), self._known)

    def lost(self) -> None:
        """The connection is down: each node learns for itself."""

    def _tell(self, name: str, seconds: float) -> None:
        milliseconds = round(seconds * 1000)
        if milliseconds > 0:
            self._valkey.send(
                command("EVALSHA", _SHA, 1, _KEY, "rest", _CHANNEL, name, milliseconds),
                self._valkey.heard,
            )

    def _hear(self, message: bytes) -> None:
        """Also what this node told itself, which changes nothing."""
        milliseconds, _, name = message.partition(b" ")
        self._learn(name, milliseconds)

    def _known(self, reply: Any) -> None:
        self._valkey.heard(reply)
        if isinstance(reply, list):
            for name, milliseconds in zip(reply[::2], reply[1::2], strict=True):
                self._learn(name, milliseconds)

    def _learn(self, name: bytes, milliseconds: bytes) -> None:
        seconds = int(milliseconds) / 1000
        self._health.learn(name.decode("utf-8", "replace"), seconds, self._clock())
