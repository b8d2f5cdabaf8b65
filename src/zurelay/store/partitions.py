"""The days of the request log in PostgreSQL, each a table of its own.

A query for a time reads the days it touches, and an old day goes as a whole: emptying its table
takes a moment, no row is deleted one by one, and nobody who writes today waits for it. Days are
made ahead; what has no day of its own (a clock that is wrong, an entry that comes after its day was
dropped) is kept in `request_default`.
"""

import re
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, text

AHEAD_DAYS = 3
"""How many days are made before they come."""

DEFAULT = "request_default"

_NAME = re.compile(r"request_(\d{4})(\d{2})(\d{2})")
_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
_STRAYS = 10_000
"""A day that has more entries than this in `request_default` stays there: moving them would keep
writers waiting."""


@dataclass(frozen=True, slots=True)
class Day:
    """One day's table; `number` in days since 1970, UTC."""

    number: int

    @property
    def table(self) -> str:
        """Its name."""
        return f"request_{date.fromordinal(_EPOCH + self.number):%Y%m%d}"

    @property
    def start_ms(self) -> int:
        """Unix milliseconds of its first moment."""
        return self.number * _DAY_MS

    @property
    def end_ms(self) -> int:
        """Unix milliseconds of the first moment after it."""
        return self.start_ms + _DAY_MS


def days(connection: Connection) -> list[Day]:
    """The days that have a table, in order."""
    names = connection.execute(
        text(
            "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid"
            " WHERE inhparent = 'request'::regclass ORDER BY relname"
        )
    ).scalars()
    found = (_NAME.fullmatch(name) for name in names)
    return [
        Day(date(int(year), int(month), int(day)).toordinal() - _EPOCH)
        for year, month, day in (match.groups() for match in found if match is not None)
    ]


def make_days(connection: Connection, now: float) -> list[Day]:
    """Make the tables of today and the days ahead that lack one; gives those that were made.

    Only who writes into `request_default` waits for it.
    """
    known = set(days(connection))
    today = int(now * 1000) // _DAY_MS
    wanted = (Day(number) for number in range(today, today + AHEAD_DAYS + 1))
    return [day for day in wanted if day not in known and _make(connection, day)]


def _make(connection: Connection, day: Day) -> bool:
    span = {"start": day.start_ms, "end": day.end_ms}
    within = "at_ms >= :start AND at_ms < :end"
    strays = connection.execute(
        text(f"SELECT count(*) FROM (SELECT 1 FROM {DEFAULT} WHERE {within} LIMIT {_STRAYS + 1})"),  # noqa: S608
        span,
    ).scalar_one()
    if strays > _STRAYS:
        return False
    # Attached, not made as a partition: that would lock the whole log against writers.
    connection.execute(text(f"CREATE TABLE {day.table} (LIKE request INCLUDING ALL)"))
    connection.execute(text(f"LOCK TABLE {DEFAULT} IN ACCESS EXCLUSIVE MODE"))
    connection.execute(
        text(
            f"WITH moved AS (DELETE FROM {DEFAULT} WHERE {within} RETURNING *)"  # noqa: S608
            f" INSERT INTO {day.table} SELECT * FROM moved"
        ),
        span,
    )
    connection.execute(
        text(
            f"ALTER TABLE request ATTACH PARTITION {day.table}"
            f" FOR VALUES FROM ({day.start_ms}) TO ({day.end_ms})"
        )
    )
    return True
