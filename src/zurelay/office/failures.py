"""Failed tries to sign in, kept for all nodes while they count.

What is kept says neither who tried nor from where, only a digest of it. Knows no rules.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

from zurelay.office.desk import Desk
from zurelay.store import sign_in_failures as store


@dataclass(frozen=True, slots=True)
class Failures:
    """The failures of one store. Every method blocks, and raises Unavailable."""

    desk: Desk

    def ages(self, names: Collection[str], within_s: float) -> dict[str, list[float]]:
        """How many seconds ago tries of each name failed, oldest first."""
        now_ms = int(self.desk.clock() * 1000)
        digests = {_digest(name): name for name in names}
        with self.desk.store.read() as connection:
            found = store.failures_of(connection, digests, now_ms - int(within_s * 1000))
        return {
            digests[who]: [max(0, now_ms - at_ms) / 1000 for at_ms in times]
            for who, times in found.items()
        }

    def add(self, names: Collection[str]) -> None:
        """A try failed that counts for each of these."""
        ids = {_digest(name): self.desk.new_id("sif_") for name in names}
        with self.desk.store.write(alone=False) as connection:
            store.add_failure(connection, ids, int(self.desk.clock() * 1000))

    def forget(self, name: str) -> None:
        """What counted for that name counts no more."""
        with self.desk.store.write(alone=False) as connection:
            store.forget_failures(connection, [_digest(name)])


def _digest(name: str) -> str:
    return hashlib.sha256(b"sign-in:" + name.encode("utf-8", "surrogatepass")).hexdigest()
