"""What the parts that live in memory need of a store. `store` offers it; `app` joins them.

Every method here blocks and is called from threads only. Each may raise an exception whose text is
one line for an operator; the caller tries again later.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from zurelay.access.keys import Key
from zurelay.access.tokens import AdminToken
from zurelay.meter.record import RequestRecord

Entry = tuple[RequestRecord, bytes]
"""A log entry and its JSON."""


class RequestLog(Protocol):
    """Where settled requests end up."""

    def applied(self, journal: str) -> int:
        """Number of the last group of that journal that the log has; 0 for none."""
        ...

    def apply(self, journal: str, upto: int, entries: Sequence[Entry]) -> None:
        """Write entries, known ids left out, and the mark `upto`, in one transaction."""
        ...

    def get(self, id_: str, account: str | None) -> RequestRecord | None:
        """The entry with that id, if it belongs to that account; None looks in all."""
        ...

    def spent(self) -> list[tuple[str, int, int]]:
        """What keys ever spent: (key id, days since 1970 in UTC, nano-dollars)."""
        ...


class KeySource(Protocol):
    """Where keys come from."""

    def version(self) -> int:
        """A number that rises when keys or accounts change; cheap."""
        ...

    def load(self) -> list[Key]:
        """Every key, revoked and expired ones too."""
        ...

    def touch(self, used: Mapping[str, float]) -> None:
        """Note when keys were last used: key id -> Unix time."""
        ...

    def close(self) -> None:
        """Nothing more will be asked."""
        ...


class TokenSource(Protocol):
    """Where admin tokens come from."""

    def version(self) -> int:
        """A number that rises when admin tokens change; cheap."""
        ...

    def load(self) -> list[AdminToken]:
        """Every token, revoked ones too."""
        ...

    def close(self) -> None:
        """Nothing more will be asked."""
        ...
