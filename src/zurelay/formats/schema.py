"""JSON schemas in the dialects that providers take, for answers and for tools.

What a dialect lacks is taken out of every schema, wherever one may stand, and everything else stays
as it is: names of properties and values of enums are never taken for keywords. Pure functions;
nothing of the input is changed. Knows schemas alone, no request.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from zurelay.wire import json

Schema = dict[str, Any]

NO_PARAMETERS: Schema = {"type": "object", "properties": {}}
CUSTOM_INPUT: Schema = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""The parameters of a function that stands for a tool whose input is plain text."""

_TABLES = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
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

_CLAUDES = frozenset(
    {
        "$ref",
        "$defs",
        "definitions",
        "type",
        "title",
        "description",
        "default",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "properties",
        "required",
        "items",
    }
)
_CLAUDES_FORMATS = frozenset(
    {
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    }
)
_SILENT = frozenset({"$schema", "$id", "$comment"})
"""Words about the schema itself, of which the model need not know."""


def parameters(schema: Mapping[str, Any] | None) -> Schema:
    """A tool's input schema: always an object."""
    if not schema:
        return NO_PARAMETERS
    return dict(schema) if "type" in schema else {"type": "object", **schema}


def claude(schema: Mapping[str, Any]) -> Schema:
    """`schema` in the subset that Claude holds its answers to, at Anthropic and on Bedrock.

    Every object is closed; what the subset lacks goes into the description, so that the model still
    knows of it. Limits of the subset: vendor's page on structured outputs, 2026-11-29.
    """
    out: Schema = {}
    said: list[str] = []
    for name, value in schema.items():
        if name in _SILENT or name == "additionalProperties":
            continue
        if not _claude_takes(name, value):
            said.append(f"{name}: {json.encode(value).decode()}")
        elif name == "oneOf":
            out.setdefault("anyOf", _inner(name, value, claude))
        else:
            out[name] = _inner(name, value, claude)
    kinds = out.get("type")
    if kinds == "object" or "properties" in out or (isinstance(kinds, list) and "object" in kinds):
        out["additionalProperties"] = False
    if said:
        known = out.get("description")
        told = "; ".join(said)
        out["description"] = f"{known} ({told})" if isinstance(known, str) and known else told
    return out


def _claude_takes(name: str, value: object) -> bool:
    if name == "format":
        return isinstance(value, str) and value in _CLAUDES_FORMATS
    if name == "minItems":
        return value in (0, 1)
    return name in _CLAUDES


def recursive(schema: object) -> bool:
    """Whether a definition refers to itself, which Claude's subset refuses."""
    if not isinstance(schema, dict):
        return False
    tables = {f"#/{name}/": schema.get(name) for name in ("$defs", "definitions")}
    edges: dict[str, set[str]] = {"#": _references(schema)}
    for prefix, table in tables.items():
        for key, item in (table if isinstance(table, dict) else {}).items():
            edges[prefix + key] = _references(item)
    if "#" in edges["#"]:
        return True
    return any(_reaches(start, start, edges, set()) for start in edges if start != "#")


def _reaches(start: str, at: str, edges: Mapping[str, set[str]], seen: set[str]) -> bool:
    for target in edges.get(at, ()):
        if target == start:
            return True
        if target not in seen:
            seen.add(target)
            if _reaches(start, target, edges, seen):
                return True
    return False


def _references(value: object) -> set[str]:
    if isinstance(value, dict):
        own = value.get("$ref")
        found = {own} if isinstance(own, str) else set()
        return found.union(*(_references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(_references(item) for item in value))
    return set()


def gemini(schema: Mapping[str, Any]) -> Schema:
    """`schema` as `parametersJsonSchema` and `responseJsonSchema` take it.

    Without `$schema`, `oneOf`, `allOf` and `const`. Keywords: vendor's API reference, 2026-11-29.
    """
    out: Schema = {}
    for name, value in schema.items():
        if name == "$schema" or (name == "allOf" and isinstance(value, list)):
            continue
        if name == "const":
            out.setdefault("enum", [value])
        elif name == "oneOf":
            out.setdefault("anyOf", _inner(name, value, gemini))
        elif name == "required" and isinstance(value, list):
            out[name] = _joined(out.get(name), value)
        else:
            out[name] = _inner(name, value, gemini)
    parts = schema.get("allOf")
    for part in _inner("allOf", parts, gemini) if isinstance(parts, list) else []:
        _merge(out, part)
    return out


def _merge(out: Schema, item: object) -> None:
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


def _joined(first: object, second: Iterable[Any]) -> list[Any]:
    known = first if isinstance(first, list) else []
    return [*known, *(name for name in second if name not in known)]


def _inner(name: str, value: Any, change: Callable[[Mapping[str, Any]], Schema]) -> Any:
    """The value of keyword `name` with `change` made to the schemas in it, if it holds any."""
    if name in _TABLES and isinstance(value, Mapping):
        return {key: _changed(item, change) for key, item in value.items()}
    if name in _LISTS and isinstance(value, list):
        return [_changed(item, change) for item in value]
    if name in _SINGLE:
        return _changed(value, change)
    return value


def _changed(value: Any, change: Callable[[Mapping[str, Any]], Schema]) -> Any:
    """A schema may also be true or false."""
    return change(value) if isinstance(value, Mapping) else value
