"""How fast the newest answers came, for tables that compare models.

Reads a bounded number of rows, however long the log is.
"""

from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, select

from zurelay.store import schema

_LOG = schema.request


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that went well. Times in ms since its request came; None where unknown."""

    model: str
    first_token_ms: float | None
    duration_ms: float | None
    tokens_out: int


class _Tokens(msgspec.Struct):
    output: int = 0


class _Entry(msgspec.Struct):
    status: str = ""
    first_token_ms: float | None = None
    duration_ms: float | None = None
    usage: _Tokens | None = None


_decode = msgspec.json.Decoder(_Entry).decode


def newest_answers(
    connection: Connection, since: float, most: int, account: str | None = None
) -> list[Answer]:
    """The good ones among the newest `most` entries since a Unix time; of one account if given."""
    query = (
        select(_LOG.c.answered_by, _LOG.c.record)
        .where(_LOG.c.at_ms >= int(since * 1000))
        .order_by(_LOG.c.at_ms.desc())
        .limit(most)
    )
    if account is not None:
        query = query.where(_LOG.c.account == account)
    found = []
    for row in connection.execute(query):
        entry = _decode(row.record)
        if entry.status == "ok" and row.answered_by:
            tokens = 0 if entry.usage is None else entry.usage.output
            found.append(Answer(row.answered_by, entry.first_token_ms, entry.duration_ms, tokens))
    return found
