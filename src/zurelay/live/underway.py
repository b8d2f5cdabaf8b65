"""Which requests under way the journal should know of, so that a killed process leaves its traces.

Only those that have run for a moment are written down: a request that is over sooner costs nothing
more. Knows neither file nor clock.
"""

from collections.abc import Mapping
from typing import Final

from zurelay.live.records import encode_record
from zurelay.meter.record import RequestRecord

PATIENCE_S: Final = 0.5
"""How long a request runs before it is written down."""


class UnderWay:
    """What the journal was told of the requests that run.

    Args:
        running: those that run, by id; somebody else's, and always as it is.
    """

    def __init__(self, running: Mapping[str, RequestRecord]) -> None:
        self._running = running
        self._told: set[str] = set()

    def changes(self, now: float) -> tuple[list[tuple[str, bytes]], list[str]]:
        """Requests to be written down, id and JSON; and ids of those that are over since.

        What is given counts as told. `now` is Unix time.
        """
        over = [id_ for id_ in self._told if id_ not in self._running]
        self._told.difference_update(over)
        begun = [
            (id_, encode_record(record))
            for id_, record in self._running.items()
            if id_ not in self._told and now - record.created >= PATIENCE_S
        ]
        self._told.update(id_ for id_, _ in begun)
        return begun, over
