"""What the parts that live in memory need of a store. `store` offers it; `app` joins them.

Every method here blocks and is called from threads only. Each may raise an exception whose text is
one line for an operator; the caller tries again later.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from zurelay.access.keys import Key
from zurelay.access.tokens import AdminToken
from zurelay.meter.content import Stored
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Drawn, Wallet, Want

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

    def add(self, node: str, entries: Sequence[Entry]) -> None:
        """Write entries that a node settled, known ids left out, in one transaction."""
        ...

    def get(self, id_: str, account: str | None) -> RequestRecord | None:
        """The entry with that id, if it belongs to that account; None looks in all."""
        ...


class ContentStore(Protocol):
    """Where messages are stored."""

    def seal(self, stored: Stored) -> bytes:
        """Its content as it is written. Raises LookupError without a key to do it with."""
        ...

    def add(self, rows: Sequence[tuple[Stored, bytes]]) -> None:
        """Write what was sealed; requests that are there already are left out."""
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


class WalletSource(Protocol):
    """Where the wallets are, of which this process leases parts."""

    alone: bool
    """No other process spends from them: leases do not lapse."""

    def begin(self) -> None:
        """Start anew: what this process's earlier run had leased returns."""
        ...

    def end(self) -> None:
        """This process ends, and all it settled is in the log: what it had leased returns."""
        ...

    def draw(self, wants: Sequence[Want]) -> list[Drawn]:
        """Lease more, as far as it is there; in the order of `wants`."""
        ...

    def give_back(self, amounts: Mapping[str, int]) -> None:
        """Return idle parts: wallet id -> nano-dollars."""
        ...

    def renew(self, held: Mapping[str, int], undelivered: int) -> None:
        """Keep the leases: what requests under way hold, and how many entries wait here."""
        ...

    def leased(self) -> Mapping[str, int]:
        """What this process was granted since it began, spent or not: wallet id -> nano-dollars."""
        ...

    def recall(self, wallets: Sequence[str]) -> None:
        """Ask the other processes to return what they do not use."""
        ...

    def left(self, wallets: Sequence[Wallet]) -> list[int]:
        """What is in each wallet, whoever has leased it."""
        ...

    def spent(self, since: float, account: str, key: str) -> int:
        """Nano-dollars that a key spent since Unix time `since`, by the log."""
        ...

    def recalled(self) -> Mapping[str, int]:
        """How often each leased wallet was recalled; those never are left out."""
        ...
