"""JSON schemas in the dialect of `parametersJsonSchema` and `responseJsonSchema`.

Takes what the dialect lacks out of every schema, wherever one may stand, and leaves everything
else as it is: names of properties and values of enums are never taken for keywords. Keywords:
vendor's API reference, 2026-11-29.
"""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedProperties",
        "unevaluatedItems",
    }
)


def adjusted(schema: Mapping[str, Any]) -> Json:
    """The schema as this format takes it: no `$schema`, `oneOf`, `allOf` or `const`."""
    out: Json = {}
    for key, value in schema.items():
        if key == "$schema":
            continue
        if key == "const":
            out.setdefault("enum", [value])
        elif key in _NAMED and isinstance(value, Mapping):
            out[key] = {name: _schema(item) for name, item in value.items()}
        elif key in _LISTED and isinstance(value, list):
            if key != "allOf":
                _list(out, key, [_schema(item) for item in value])
        elif key in _SINGLE:
            out[key] = _schema(value)
        elif key == "required" and isinstance(value, list):
            out[key] = _joined(out.get(key), value)
        else:
            out[key] = value
    parts = schema.get("allOf")
    for part in parts if isinstance(parts, list) else []:
        _merge(out, _schema(part))
    return out


def _schema(value: object) -> Any:
    """A schema may also be true or false."""
    return adjusted(value) if isinstance(value, Mapping) else value


def _list(out: Json, key: str, items: list[Any]) -> None:
    """`oneOf` becomes `anyOf`; where both stand, `anyOf` holds."""
    if key == "oneOf":
        out.setdefault("anyOf", items)
    else:
        out[key] = items


def _merge(out: Json, item: object) -> None:
    """Lay one part of an `allOf` into the schema around it; what stands there already holds."""
    if not isinstance(item, dict):
        return
    for key, value in item.items():
        if key == "properties" and isinstance(out.get(key), dict):
            out[key] = {**value, **out[key]}
        elif key == "required":
            out[key] = _joined(out.get(key), value)
        else:
            out.setdefault(key, value)


def _joined(first: object, second: list[Any]) -> list[Any]:
    known = first if isinstance(first, list) else []
    return [*known, *(name for name in second if name not in known)]
