"""What a person sees: tables, notes, faults, progress; and JSON for programs.

Answers go to stdout, everything else to stderr. Text that others wrote (names, messages, model
output) loses its control characters before it reaches a terminal, and is never read as markup.
Knows no command.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_KEPT = frozenset("\n\t")
_WIDE = 100_000


class Failed(Exception):  # noqa: N818 - it reads as what it says
    """A command that could not do what it was asked to; the message is one line."""


def clean(text: str) -> str:
    """One line of text without anything a terminal would act on."""
    return "".join(c if c.isprintable() else " " for c in text)


def clean_lines(text: str) -> str:
    """The same for running text: line ends and tabs stay, and so do joined emoji."""
    return "".join(
        c for c in text if c in _KEPT or c == "\u200d" or (c.isprintable() and c not in _BIDI)
    )


def counted(count: int, what: str) -> str:
    """`1 key`, `2 keys`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def seconds(ms: float | None) -> str:
    """Milliseconds as seconds, `1.25`; nothing where there are none."""
    return "" if ms is None else f"{ms / 1000:.2f}"


def minute(moment: object) -> str:
    """`2026-11-29T18:40:12Z` as `2026-11-29 18:40`."""
    return "never" if moment is None else str(moment)[:16].replace("T", " ")


def note(text: str) -> None:
    """A line for a person, on stderr."""
    sys.stderr.write(f"{clean(text)}\n")


def complain(text: str) -> None:
    """An error in one line, on stderr."""
    note(f"zurelay: {text}")


def say(text: str) -> None:
    """A line of the answer, on stdout."""
    sys.stdout.write(f"{clean(text)}\n")


def print_json(value: Any) -> None:
    """The answer for programs, on stdout: one JSON document, indented."""
    sys.stdout.write(f"{json.dumps(value, indent=2, ensure_ascii=True)}\n")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    spare: Sequence[str] = (),
    whole: Sequence[str] = (),
    total: Sequence[str] | None = None,
    empty: str = "nothing here yet",
) -> None:
    """A table on stdout, as wide as the terminal; uncut where stdout is none.

    Args:
        columns: headings.
        rows: cells, as many as headings.
        right: headings of columns that hold numbers.
        spare: headings of columns that are left out of a narrow terminal, the first one first.
        whole: headings of columns whose cells are of no use in pieces.
        total: a last row, set apart.
        empty: said on stderr when there are no rows.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lines = [[clean(cell) for cell in row] for row in rows]
    if not lines:
        note(empty)
        return
    tty = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if tty else _WIDE
    shown = _fitting(columns, [*lines, total or ()], spare, width)
    table = Table(box=box.SIMPLE_HEAD if tty else None, pad_edge=False, show_edge=False)
    table.padding = (0, 1, 0, 0) if tty else (0, 2, 0, 0)
    table.header_style = "bold" if tty else ""
    for place in shown:
        name = columns[place]
        table.add_column(
            Text(name),
            justify="right" if name in right else "left",
            no_wrap=name in whole or name in right,
            overflow="fold",
        )
    for line in lines:
        table.add_row(*(Text(line[place]) for place in shown))
    if total is not None:
        table.add_section()
        style = "bold" if tty else ""
        table.add_row(*(Text(clean(total[place]), style=style) for place in shown))
    console = Console(
        file=sys.stdout,
        markup=False,
        highlight=False,
        emoji=False,
        width=None if tty else _WIDE,
        no_color=None if tty else True,
    )
    console.print(table)


def _fitting(
    columns: Sequence[str], lines: Sequence[Sequence[str]], spare: Sequence[str], width: int
) -> list[int]:
    """Places of the columns that are shown."""
    shown = list(range(len(columns)))
    widths = [
        max(len(name), *(len(line[place]) for line in lines if line))
        for place, name in enumerate(columns)
    ]
    for name in spare:
        if sum(widths[place] + 2 for place in shown) <= width:
            break
        shown.remove(columns.index(name))
    return shown


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Names and values, one pair a line, values aligned."""
    lines = [(clean(name), clean(value)) for name, value in pairs]
    width = max((len(name) for name, _ in lines), default=0)
    for name, value in lines:
        sys.stdout.write(f"{name:<{width}}  {value}\n")


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show that something takes time, while stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True, markup=False, highlight=False).status(clean(what)):
        yield


def dim(text: str) -> str:
    """Text in a fainter colour, where colours are wanted."""
    return f"\x1b[2m{text}\x1b[0m" if colours() else text


def colours() -> bool:
    """Whether stdout is a terminal that shows colours."""
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )
