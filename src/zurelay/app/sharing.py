"""What this process shares with other nodes, and through what: nothing, or a Valkey server."""

import asyncio
import os
import time
from dataclasses import dataclass

from zurelay.live import shared_limits, shared_rests
from zurelay.live.limits import LocalLimits
from zurelay.live.shared_limits import SharedLimits
from zurelay.live.shared_rests import SharedRests
from zurelay.live.valkey import Valkey
from zurelay.live.valkey_address import parse
from zurelay.meter.limits import Limits
from zurelay.plan.health import Health
from zurelay.telemetry.metrics import SharedHealth


@dataclass(frozen=True, slots=True)
class Sharing:
    """The parts that others may have a share in. `valkey` is None where nobody has."""

    limits: Limits
    valkey: Valkey | None = None

    def join(self, health: Health) -> None:
        """Share what this process learns of routes; before `start`."""
        if self.valkey is not None:
            SharedRests(self.valkey, health, asyncio.get_running_loop().time)

    async def start(self) -> None:
        """Connect.

        Raises:
            SharedStateError: the server cannot be used; one that is away is waited for behind.
        """
        if self.valkey is not None:
            await self.valkey.start()

    async def close(self) -> None:
        """Leave: what this node held is free at once."""
        if self.valkey is not None:
            if isinstance(self.limits, SharedLimits):
                self.limits.leave()
            await self.valkey.aclose()

    def health(self) -> SharedHealth | None:
        """How it goes; None where nothing is shared."""
        return self.limits.health if isinstance(self.limits, SharedLimits) else None


def sharing(valkey_url: str, nodes: int = 1) -> Sharing:
    """The parts for that server, on a running loop; each for itself where there is none.

    Args:
        valkey_url: checked.
        nodes: how many there are taken to be until the server has said so.
    """
    if not valkey_url:
        return Sharing(LocalLimits(time.monotonic, time.time))
    valkey = Valkey(parse(valkey_url), [shared_limits.SCRIPT, shared_rests.SCRIPT])
    return Sharing(SharedLimits(valkey, time.monotonic, time.time, _name, nodes=nodes), valkey)


def _name() -> str:
    return os.urandom(8).hex()
