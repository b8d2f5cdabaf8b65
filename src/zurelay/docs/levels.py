"""Effort levels of models, for tables: the catalogue's, and those of the models served.

Knows no page and no language; names of vendors are the catalogue's.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from zurelay.catalogue.model import Model
from zurelay.catalogue.view import levels_text, off_text
from zurelay.providers.registry import KINDS


@dataclass(frozen=True, slots=True)
class Levels:
    """A model and how it thinks.

    Attributes:
        model: its public id.
        vendors: those that have it with these levels.
        levels: lowest first; empty for a model that does not think.
        default: the level in force when none is asked; None if unknown.
        off: what `none` becomes: `off`, or the lowest level of a model that cannot stop thinking.
        text: the levels on one line, `*` marks the default.
    """

    model: str
    vendors: tuple[str, ...]
    levels: tuple[str, ...]
    default: str | None
    off: str
    text: str


def levels_of(models: Iterable[Model]) -> tuple[Levels, ...]:
    """One row per model and way to think, in the order given; vendors that agree share it.

    Models whose levels are unknown are left out.
    """
    rows: dict[Levels, list[str]] = {}
    for model in models:
        reasoning = model.reasoning
        if reasoning is not None:
            row = Levels(
                model=model.id,
                vendors=(),
                levels=reasoning.levels,
                default=reasoning.default,
                off=off_text(reasoning),
                text=levels_text(reasoning, mark="*"),
            )
            vendors = rows.setdefault(row, [])
            if model.vendor not in vendors:
                vendors.append(model.vendor)
    return tuple(replace(row, vendors=tuple(vendors)) for row, vendors in rows.items())


def by_vendor(rows: Iterable[Levels]) -> dict[str, list[Levels]]:
    """Rows under the first vendor that has each, in the order of the vendors' first rows."""
    found: dict[str, list[Levels]] = {}
    for row in rows:
        found.setdefault(row.vendors[0] if row.vendors else "", []).append(row)
    return found


def vendor_title(vendor: str) -> str:
    """A vendor's name for people; its own where it has no other."""
    for kind in KINDS.values():
        if kind.vendor == vendor:
            return kind.title
    return vendor
