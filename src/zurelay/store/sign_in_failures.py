"""Tries to sign in that failed, counted for all nodes. Knows no addresses, only digests of them."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from zurelay.store import schema

KEPT_S: Final = 3600.0
"""How long they are of use at most."""

_TABLE = schema.sign_in_failure
_MOST = 1000
"""Rows that are read at most; whoever failed so often is refused anyhow."""


def add_failure(connection: Connection, ids: Mapping[str, str], at_ms: int) -> None:
    """Write that a try failed; `ids` has a row's id for each digest it counts for."""
    rows = [{"id": id_, "who": who, "at_ms": at_ms} for who, id_ in sorted(ids.items())]
    connection.execute(insert(_TABLE), rows)


def failures_of(
    connection: Connection, who: Collection[str], since_ms: int
) -> dict[str, list[int]]:
    """When tries of those failed after a moment, oldest first; empty lists left out."""
    query = select(_TABLE.c.who, _TABLE.c.at_ms)
    query = query.where(_TABLE.c.who.in_(who), _TABLE.c.at_ms > since_ms)
    found: dict[str, list[int]] = {}
    for one, at_ms in connection.execute(query.order_by(_TABLE.c.at_ms.desc()).limit(_MOST)):
        found.setdefault(one, []).append(at_ms)
    return {one: times[::-1] for one, times in found.items()}


def forget_failures(connection: Connection, who: Iterable[str]) -> None:
    """Delete what those failed."""
    connection.execute(delete(_TABLE).where(_TABLE.c.who.in_(list(who))))


def delete_failures(connection: Connection, before_ms: int) -> None:
    """Delete those older than a moment."""
    connection.execute(delete(_TABLE).where(_TABLE.c.at_ms < before_ms))
