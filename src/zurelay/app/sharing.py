"""What this process shares with other nodes, and through what: nothing, or a Valkey server."""

import asyncio
import hashlib
import os
import time
from dataclasses import dataclass

from zurelay.live import shared_answers, shared_limits, shared_rests
from zurelay.live.limits import LocalLimits
from zurelay.live.shared_affinity import SharedAffinity
from zurelay.live.shared_answers import SharedAnswers
from zurelay.live.shared_limits import SharedLimits
from zurelay.live.shared_rests import SharedRests
from zurelay.live.valkey import Valkey
from zurelay.live.valkey_address import parse
from zurelay.meter.limits import Limits
from zurelay.plan.affinity import Affinity
from zurelay.plan.health import Health
from zurelay.telemetry.metrics import SharedHealth


@dataclass(frozen=True, slots=True)
class Sharing:
    """The parts that others may have a share in. `valkey` is None where nobody has."""

    limits: Limits
    valkey: Valkey | None = None
    answers: SharedAnswers | None = None

    def join(self, health: Health, affinity: Affinity) -> None:
        """Share what this process learns of routes and conversations; before `start`."""
        if self.valkey is not None:
            clock = asyncio.get_running_loop().time
            SharedRests(self.valkey, health, clock)
            SharedAffinity(self.valkey, affinity, clock)

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
                await self.limits.leave()
            await self.valkey.aclose()

    def health(self) -> SharedHealth | None:
        """How it goes; None where nothing is shared."""
        return self.limits.health if isinstance(self.limits, SharedLimits) else None


def sharing(valkey_url: str, storage_url: str = "", nodes: int = 1) -> Sharing:
    """The parts for that server, on a running loop; each for itself where there is none.

    Args:
        valkey_url: checked.
        storage_url: likewise; without one no other node can have the same accounts.
        nodes: how many there are taken to be until the server has said so.
    """
    if not valkey_url:
        return Sharing(LocalLimits(time.monotonic, time.time))
    scripts = [shared_limits.SCRIPT, shared_rests.SCRIPT, shared_answers.SCRIPT]
    valkey = Valkey(parse(valkey_url), scripts)
    limits = SharedLimits(valkey, time.monotonic, time.time, _name, nodes=nodes)
    return Sharing(limits, valkey, SharedAnswers(valkey) if storage_url else None)


def common_secret(storage_url: str, generation: int) -> bytes:
    """What all nodes of one database know and the server for shared state does not.

    `generation` rises when the database is restored: answers that were kept for repeats before are
    then nobody's, as what they cost is no longer in the log.
    """
    return hashlib.sha256(f"zurelay answers\0{generation}\0{storage_url}".encode()).digest()


def _name() -> str:
    return os.urandom(8).hex()
