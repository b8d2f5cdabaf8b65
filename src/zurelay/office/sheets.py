"""Rows as CSV, and as JSON lines.

A text cell that a spreadsheet would take for a formula gets an apostrophe before it: names and
notes are written by strangers. Numbers are ours and stay as they are.
"""

import csv
import io
from collections.abc import Iterable, Sequence

import msgspec

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def text(value: str | None) -> str:
    """A cell of text that no spreadsheet runs."""
    if value is None:
        return ""
    cell = "".join(c if c.isprintable() else " " for c in value)
    return f"'{cell}" if value.startswith(_FORMULA) or cell.startswith(_FORMULA) else cell


def csv_lines(rows: Iterable[Sequence[object]]) -> str:
    """Rows of a CSV file (RFC 4180)."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def json_line(value: object) -> str:
    """A value as one line of JSON."""
    return msgspec.json.encode(value).decode() + "\n"
