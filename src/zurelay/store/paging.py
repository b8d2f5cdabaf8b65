"""Pages of a table: each begins after the last row of the one before, whatever came in between."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, or_

Mark = tuple[int, str]
"""The row a page ended with: its time and its id."""


def newest_first(
    query: Select[Any], time: ColumnElement[int], id_: ColumnElement[str], after: Mark | None
) -> Select[Any]:
    """The query in falling order of time, after that row."""
    if after is not None:
        at, last = after
        query = query.where(time <= at, or_(time < at, and_(time == at, id_ < last)))
    return query.order_by(time.desc(), id_.desc())


def oldest_first(
    query: Select[Any], time: ColumnElement[int], id_: ColumnElement[str], after: Mark | None
) -> Select[Any]:
    """The query in rising order of time, after that row."""
    if after is not None:
        at, last = after
        query = query.where(time >= at, or_(time > at, and_(time == at, id_ > last)))
    return query.order_by(time, id_)
