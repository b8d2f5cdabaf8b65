"""What changed between two configurations, by key. Never tells a value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from zurelay.config.faults import dotted
from zurelay.config.load import plain
from zurelay.config.schema import settings_of
from zurelay.config.settings import NAMED_TABLES, TABLES, Settings


@dataclass(frozen=True, slots=True)
class Change:
    """A key whose value differs.

    Attributes:
        key: path of the key, or of a whole `[providers.X]` table that came or went.
        what: `changed`, `added` or `removed`.
        restart: the change takes effect only at the next start.
    """

    key: str
    what: str = "changed"
    restart: bool = False

    def __str__(self) -> str:
        return f"{self.key} {self.what}{' (needs a restart)' if self.restart else ''}"


def diff(old: Settings, new: Settings) -> tuple[Change, ...]:
    """Every changed key, in the order of the documentation."""
    return tuple(_changes(old, new))


def _changes(old: Settings, new: Settings) -> Iterator[Change]:
    for name, schema in TABLES.items():
        yield from _table((name,), schema, getattr(old, name), getattr(new, name))
    for name, schema in NAMED_TABLES.items():
        yield from _named(name, schema, getattr(old, name), getattr(new, name))


def _table(path: tuple[str, ...], schema: type, old: object, new: object) -> Iterator[Change]:
    restarts = {one.name: one.restart for one in settings_of(schema)}
    for one in fields(schema):
        if plain(getattr(old, one.name)) != plain(getattr(new, one.name)):
            yield Change(dotted((*path, one.name)), restart=restarts[one.name])


def _named(
    table: str, schema: type, old: Mapping[str, object], new: Mapping[str, object]
) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        if name not in new:
            yield Change(dotted((table, name)), "removed")
        elif name not in old:
            yield Change(dotted((table, name)), "added")
        else:
            yield from _table((table, name), schema, old[name], new[name])
    if list(old) != list(new) and sorted(old) == sorted(new):
        yield Change(table, "reordered")
