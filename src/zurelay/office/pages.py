"""Lists in pages: how much is asked for, and where the next page begins.

A cursor is the time and id of the last row of a page, so that rows that come in between neither
repeat nor go missing. Knows no table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from zurelay.office.desk import wrong
from zurelay.store.paging import Mark

T = TypeVar("T")
_Row = TypeVar("_Row")

USUAL: Final = 50
MOST: Final = 500


@dataclass(frozen=True, slots=True)
class Page:
    """What is asked for: at most `limit` rows, after the page that gave `cursor`."""

    limit: int = USUAL
    cursor: str | None = None

    @property
    def after(self) -> Mark | None:
        """The row it begins after. Raises Refused: 400 for what is no cursor."""
        if self.cursor is None:
            return None
        at, dot, id_ = self.cursor.partition(".")
        if not (dot and id_ and at.isascii() and at.isdigit() and len(at) < 16):
            raise wrong("cursor", "cursor: send 'next_cursor' of the page before, unchanged.")
        return int(at), id_


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """A page; `next_cursor` begins the next one, None if this is the last."""

    data: list[T]
    next_cursor: str | None


def listed(
    page: Page,
    rows: Sequence[_Row],
    mark: Callable[[_Row], Mark],
    view: Callable[[_Row], T],
) -> Listed[T]:
    """A page of rows of which one more than its limit was looked for."""
    shown = rows[: page.limit]
    cursor = None
    if len(rows) > page.limit:
        at, id_ = mark(shown[-1])
        cursor = f"{at}.{id_}"
    return Listed([view(row) for row in shown], cursor)
