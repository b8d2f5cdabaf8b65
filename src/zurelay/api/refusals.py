"""Refusals that come too fast for a log: beyond ten a second a key's are counted in one entry.

A client that asks in a loop with a model that is not there must not fill the log. Knows neither
problems nor the ledger.
"""

from collections.abc import Callable
from typing import Final

from zurelay.meter.record import RequestRecord

EACH: Final = 10
"""Refusals of one key in a second that have entries of their own."""

Later = Callable[[float, Callable[[], None]], object]


class Refusals:
    """The refusals of this second. Belongs to an event loop.

    Args:
        later: calls the second argument after that many seconds.
        write: takes an entry into the log.
    """

    def __init__(self, later: Later, write: Callable[[RequestRecord], None]) -> None:
        self._later = later
        self._write = write
        self._counts: dict[str, int] = {}
        self._folded: dict[tuple[str, str | None], RequestRecord] = {}

    def fold(self, record: RequestRecord) -> bool:
        """Whether a refusal is counted in an entry with others, instead of having its own.

        The entry is that of the first beyond `EACH`; it is written within a second.
        """
        if not self._counts:
            self._later(1.0, self.flush)
        number = self._counts.get(record.key, 0) + 1
        self._counts[record.key] = number
        if number <= EACH:
            return False
        first = self._folded.setdefault((record.key, record.error), record)
        if first is not record:
            first.count += 1
        return True

    def flush(self) -> None:
        """Write what was counted, and begin to count anew."""
        folded, self._folded = self._folded, {}
        self._counts.clear()
        for record in folded.values():
            self._write(record)
