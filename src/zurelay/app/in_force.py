"""The settings in force as operators are shown them: value, default, and where it comes from.

Secrets are told as there or not there, never by value.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass

import msgspec

from zurelay.config.faults import dotted
from zurelay.config.schema import REQUIRED, Setting, settings_of
from zurelay.config.settings import NAMED_TABLES, TABLES, ProviderSettings, Settings
from zurelay.console.parts import SettingShown

HIDDEN = "••••"
_USER = re.compile(r"://[^/@]*@")
_MOST = 300


def in_force(settings: Settings) -> list[SettingShown]:
    """Every setting that stands once; of providers and models those that are not the default."""
    shown: list[SettingShown] = []
    for name, schema in TABLES.items():
        shown += _table(settings, (name,), schema, getattr(settings, name))
    for name, schema in NAMED_TABLES.items():
        for key, one in getattr(settings, name).items():
            found = _table(settings, (name, key), schema, one)
            shown += [setting for setting in found if setting.origin != "default"]
    return shown


def _table(
    settings: Settings, path: tuple[str, ...], schema: type, table: object
) -> Iterator[SettingShown]:
    for one in settings_of(schema):
        if schema is ProviderSettings and one.name == "api_key":
            continue  # it is the first of `api_keys` by now
        key = dotted((*path, one.name))
        if key not in settings.given and one.name == "api_keys":
            key = dotted((*path, "api_key"))
        value = getattr(table, one.name)
        given = key in settings.given
        raw = settings.given.get(key)
        yield SettingShown(
            table=dotted(path),
            key=one.name,
            value=_value(one, value, raw),
            default="" if one.default is REQUIRED else one.shown or _plain(one.default),
            origin="file" if given else "default" if value == one.default else "environment",
            source=_reference(raw) if given else "",
            doc=one.doc,
            restart=one.restart,
        )


def _value(one: Setting, value: object, raw: object) -> str:
    """As it is shown; what is made of parts stands as the file has it."""
    if one.type.secret:
        return HIDDEN if value else ""
    if value is None:
        return one.shown
    made_of_parts = is_dataclass(value) or isinstance(value, Mapping)
    if raw is not None and (made_of_parts or _nested(value)):
        return _cut(msgspec.json.encode(raw).decode())
    return _plain(value)


def _nested(value: object) -> bool:
    return isinstance(value, tuple) and any(not isinstance(item, str) for item in value)


def _plain(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g}"
        case tuple() | list():
            return _cut(", ".join(map(_plain, value)))
        case Mapping():
            return _cut(", ".join(f"{name} {_plain(item)}" for name, item in value.items()))
        case _ if is_dataclass(value):
            return "…"
        case _:
            # The address of a database carries its password.
            return _cut(_USER.sub("://…@", str(value)))


def _reference(raw: object) -> str:
    """The variable or file that a value is taken from; empty where it stands as it is."""
    match raw:
        case str() if raw.startswith("$$"):
            return ""
        case str() if raw.startswith(("$", "file:")):
            return _cut(raw)
        case list() | tuple():
            return ", ".join(filter(None, map(_reference, raw)))
        case Mapping():
            return ", ".join(filter(None, map(_reference, raw.values())))
        case _:
            return ""


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
