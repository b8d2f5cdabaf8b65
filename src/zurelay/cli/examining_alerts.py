"""What the doctor says of the operators' alerts that hold. Prints nothing."""

import time
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from zurelay.cli.examining import Finding
from zurelay.cli.terminal import minute
from zurelay.letters.alerts import say
from zurelay.office.telling import sentence
from zurelay.office.values import iso_of
from zurelay.store.alerts import Alert, open_of_operators
from zurelay.store.engine import Store

_MOST: Final = 10
_LATE_S: Final = 300.0
"""What was not seen for so long may be over: no node is there to tell."""


def alerts(store: Store, clock: Callable[[], float] = time.time) -> Iterator[Finding]:
    """One line for each, the oldest first.

    Raises:
        StoreError: the database does not answer.
    """
    with store.read() as connection:
        found = open_of_operators(connection)
    if not found:
        yield Finding("alerts", "ok", "none open")
    for one in found[:_MOST]:
        yield Finding("alert", "warning", _told(one, clock()))
    if len(found) > _MOST:
        yield Finding("alert", "warning", f"{len(found) - _MOST} more; see zurelay alerts --open")


def _told(one: Alert, now: float) -> str:
    detail = msgspec.json.decode(one.detail)
    said = say("en", sentence(one.kind, detail), detail).removesuffix(".")
    since = minute(iso_of(one.raised_ms / 1000))
    late = one.seen_ms is not None and now - one.seen_ms / 1000 > _LATE_S
    seen = f", last seen {minute(iso_of((one.seen_ms or 0) / 1000))}" if late else ""
    return f"{said}; since {since} UTC{seen}"
