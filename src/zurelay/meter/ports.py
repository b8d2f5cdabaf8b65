"""What the request path needs of whoever keeps the money. Implemented in `live`."""

from collections.abc import Callable, Sequence
from typing import Protocol

from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Wallet


class Hold(Protocol):
    """A reservation: the most a request may cost, set aside."""

    ceiling: int
    """Nano-dollars."""


class Ledger(Protocol):
    """Reserve, then settle exactly once, keyed by the request id."""

    def reserve(self, wallets: Sequence[Wallet], ceiling: int) -> Hold:
        """Set `ceiling` nano-dollars aside in each wallet, or in none. No await.

        Raises:
            Refused: 503 while nothing can be recorded.
            Exception: this process has too little of a wallet; who keeps the money says what then.
        """
        ...

    def begin(self, record: RequestRecord) -> None:
        """Show the request as running until it is settled."""
        ...

    def settle(self, hold: Hold | None, record: RequestRecord, done: Callable[[], None]) -> None:
        """Charge `record.cost`, release the rest, write the log row; once per request id.

        `hold` is None for a request that was refused before anything was set aside. `done` is
        called once the record is durable, on the event loop, never before `settle` returns. The
        record must not change afterwards.
        """
        ...
