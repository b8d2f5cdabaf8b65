"""From a TOML document to settings: every table and key checked against the schema.

Finds all faults, not only the first. Knows the schema in `settings`, but not how settings depend
on each other (that is `checks`) and nothing of where the text came from.
"""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zurelay.config import values as v
from zurelay.config.faults import Fault, dotted
from zurelay.config.schema import REQUIRED, settings_of
from zurelay.config.settings import (
    NAMED_TABLES,
    TABLES,
    ModelSettings,
    ProviderSettings,
)


@dataclass(slots=True)
class Parsed:
    """What a document says.

    Attributes:
        tables: the tables that stand once, by name; defaults where the file says nothing.
        providers, models: what could be read of them.
        names: for `providers` and `models`, every name that stands in the file, read or not.
        whole: (table, name) of those without a fault; of tables that stand once, (table, "").
    """

    tables: dict[str, Any] = field(default_factory=dict)
    providers: dict[str, ProviderSettings] = field(default_factory=dict)
    models: dict[str, ModelSettings] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    whole: set[tuple[str, str]] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)


def read_toml(path: Path) -> tuple[dict[str, Any], list[Fault]]:
    """The file's document, or the fault that keeps it from being read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}, [Fault(str(path), "", "there is no such file; give its path with --config")]
    except OSError as error:
        return {}, [Fault(str(path), "", f"it cannot be read: {error.strerror}")]
    try:
        return tomllib.loads(content.decode("utf-8-sig")), []
    except UnicodeDecodeError as error:
        return {}, [Fault(str(path), "", f"it is not UTF-8 text (byte {error.start})")]
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return {}, [Fault(str(path), "", f"this is not TOML: {error}")]


def parse(document: Mapping[str, object], file: str) -> Parsed:
    """Read a document whose references are resolved already."""
    reading = _Reading(file)
    known = (*TABLES, *NAMED_TABLES)
    for name in document:
        if name not in known:
            reading.fault((name,), _unknown(name, "", known))
    for name, table in TABLES.items():
        found, whole = reading.table((name,), table, document.get(name, {}))
        reading.parsed.tables[name] = found
        if whole:
            reading.parsed.whole.add((name, ""))
    reading.named("providers", document.get("providers", {}), reading.parsed.providers)
    reading.named("models", document.get("models", {}), reading.parsed.models)
    return reading.parsed


class _Reading:
    def __init__(self, file: str) -> None:
        self.file = file
        self.parsed = Parsed()

    def fault(self, path: v.Path, message: str) -> None:
        self.parsed.faults.append(Fault(self.file, dotted(path), message))

    def table(self, path: v.Path, table: type, value: object) -> tuple[Any, bool]:
        """The table's dataclass (None if a required key is missing), and whether all was well."""
        before = len(self.parsed.faults)
        if not isinstance(value, dict):
            self.fault(path, f"this is {v.described(value)}; write a table: [{dotted(path)}]")
            value = {}
        settings = {one.name: one for one in settings_of(table)}
        found: dict[str, Any] = {}
        for name, item in value.items():
            if name not in settings:
                self.fault((*path, name), _unknown(name, str(path[0]), settings))
                continue
            try:
                found[name] = settings[name].type.read(item)
            except v.Wrong as error:
                for below, message in error.faults:
                    self.fault((*path, name, *below), message)
        whole = len(self.parsed.faults) == before and not v.unresolved(value)
        missing = [s for s in settings.values() if s.default is REQUIRED and s.name not in found]
        for one in missing:
            if one.name not in value:
                self.fault((*path, one.name), f"it is missing; write {one.name} = ...")
        return (None if missing else table(**found)), whole and not missing

    def named(self, kind: str, value: object, into: dict[str, Any]) -> None:
        if not isinstance(value, dict):
            self.fault((kind,), f"this is {v.described(value)}; write a table: [{kind}.a-name]")
            value = {}
        self.parsed.names[kind] = tuple(value)
        for name, item in value.items():
            if not _usable(name):
                self.fault((kind, name), "no usable name; write 1 to 200 visible characters")
                continue
            if not isinstance(item, dict) and name in _own_keys(kind):
                message = f"this belongs into a table of its own: [{kind}.a-name]"
                self.fault((kind, name), message)
                continue
            found, whole = self.table((kind, name), NAMED_TABLES[kind], item)
            if found is not None:
                into[name] = found
            if whole:
                self.parsed.whole.add((kind, name))


def _usable(name: str) -> bool:
    return 1 <= len(name) <= 200 and name.isascii() and name.isprintable() and " " not in name


def _own_keys(kind: str) -> tuple[str, ...]:
    return tuple(one.name for one in settings_of(NAMED_TABLES[kind]))


def _unknown(name: str, table: str, known: Collection[str]) -> str:
    """An unknown key: where it belongs if another table has it, else the nearest known one."""
    homes = [
        home
        for home, schema in TABLES.items()
        if home != table and name in {one.name for one in settings_of(schema)}
    ]
    if homes and name not in known:
        return f"unknown key here; it belongs into [{homes[0]}]"
    what = "key" if table else "table"
    return f"unknown {what}.{v.hint(name, known)}"
