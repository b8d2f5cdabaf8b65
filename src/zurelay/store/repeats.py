"""Requests with an Idempotency-Key are charged once, even if two nodes answered the same one.

Nodes tell each other of such requests while they can. Where they could not, two answers may have
been made; the second of them to reach the log costs nothing.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from sqlalchemy import Connection, text

from zurelay.meter.record import RequestRecord
from zurelay.store.requests import Entry, at_ms

_GOOD_MS: Final = 3_600_000
"""So long a repeat is a repeat; later the same key is a new request, as its answer is not kept."""

_CLAIM = text(
    "INSERT INTO idempotency (account, hash, request, at_ms)"
    " VALUES (:account, :hash, :request, :at)"
    " ON CONFLICT (account, hash) DO UPDATE SET request = CASE"
    " WHEN idempotency.at_ms < :at - :good THEN excluded.request ELSE idempotency.request END,"
    " at_ms = CASE WHEN idempotency.at_ms < :at - :good THEN excluded.at_ms"
    " ELSE idempotency.at_ms END"
    " RETURNING request"
)
_FORGET = text("DELETE FROM idempotency WHERE at_ms < :until")

_encode = msgspec.json.Encoder().encode


def paid_once(connection: Connection, entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries, those of requests that another one was charged for already at no cost."""
    if not any(record.repeat for record, _ in entries):
        return entries
    # In one order everywhere, so that two nodes with the same requests do not wait for each other.
    claiming = sorted(
        (
            record
            for record, _ in entries
            if record.repeat and record.cost and record.status == "ok"
        ),
        key=lambda record: (record.account, record.repeat or ""),
    )
    paid = {record.id for record in claiming if _claim(connection, record) != record.id}
    return [_free(record) if record.id in paid else (record, told) for record, told in entries]


def forget_repeats(connection: Connection, now: float) -> None:
    """Delete what is no repeat any more at Unix time `now`."""
    connection.execute(_FORGET, {"until": int(now * 1000) - _GOOD_MS})


def _claim(connection: Connection, record: RequestRecord) -> str:
    """The request that is charged for this one and its repeats."""
    given = {
        "account": record.account,
        "hash": bytes.fromhex(record.repeat or ""),
        "request": record.id,
        "at": at_ms(record.id) or 0,
        "good": _GOOD_MS,
    }
    return str(connection.execute(_CLAIM, given).scalar_one())


def _free(record: RequestRecord) -> Entry:
    free = msgspec.structs.replace(record, cost=0, postings={})
    return free, _encode(free)
