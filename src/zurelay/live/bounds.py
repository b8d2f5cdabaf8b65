"""What a request counts against: the bounds of its key, of its account and of its model.

Made once for each key and kept as long as key and settings stay the same.
"""

from dataclasses import dataclass

from zurelay.access.keys import Key
from zurelay.meter.limits import Bound


@dataclass(frozen=True, slots=True)
class KeyDefaults:
    """What a key may use where it does not say itself; None for no limit.

    `concurrency` protects a node: it is counted on each alone.
    """

    concurrency: int | None = 100
    rpm: int | None = None
    tpm: int | None = None


class Bounds:
    """Every key's bounds, remembered."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Key, KeyDefaults, tuple[Bound, ...]]] = {}

    def of(self, key: Key, defaults: KeyDefaults, model: Bound | None) -> tuple[Bound, ...]:
        """What a request by that key for a model with that bound counts against."""
        known = self._known.get(key.id)
        if known is None or known[0] is not key or known[1] is not defaults:
            known = self._known[key.id] = (key, defaults, _made(key, defaults))
        return known[2] if model is None else (*known[2], model)

    def counting(self, key: Key, defaults: KeyDefaults) -> tuple[Bound, ...]:
        """What a count of tokens counts against: as many a minute as requests, apart from them."""
        return tuple(
            Bound(f"{one.name}:count", one.scope, one.rpm)
            for one in self.of(key, defaults, None)
            if one.rpm is not None
        )


def _made(key: Key, defaults: KeyDefaults) -> tuple[Bound, ...]:
    found: list[Bound] = []
    name = f"key:{key.id}"
    rpm = defaults.rpm if key.rpm is None else key.rpm
    tpm = defaults.tpm if key.tpm is None else key.tpm
    if (rpm, tpm, key.concurrency) != (None, None, None):
        found.append(Bound(name, "key", rpm, tpm, key.concurrency))
    if key.concurrency is None and defaults.concurrency is not None:
        most = defaults.concurrency
        found.append(Bound(f"{name}:here", "key", concurrency=most, shared=False))
    owner = key.owner
    if owner is not None and (owner.rpm, owner.tpm, owner.concurrency) != (None, None, None):
        account = f"account:{owner.id}"
        found.append(Bound(account, "account", owner.rpm, owner.tpm, owner.concurrency))
    return tuple(found)
