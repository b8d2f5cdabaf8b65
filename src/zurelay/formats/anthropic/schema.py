"""JSON schemas in the subset that Claude's structured output takes.

Limits of the subset: vendor's page on structured outputs, 2026-11-29. What it lacks goes into the
description, so that the model still knows of it. Knows schemas alone.
"""

from collections.abc import Mapping
from typing import Any

from zurelay.wire import json

Schema = dict[str, Any]

NO_PARAMETERS: Schema = {"type": "object", "properties": {}}

_LIMITS = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "propertyNames",
        "contains",
        "minContains",
        "maxContains",
    }
)
_FORMATS = frozenset(
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
_LISTS = ("anyOf", "allOf", "prefixItems")
_TABLES = ("properties", "$defs", "definitions")
_DROPPED = frozenset({"$schema", "$id"})


def parameters(schema: Mapping[str, Any] | None) -> Schema:
    """A tool's input schema: always an object."""
    if not schema:
        return NO_PARAMETERS
    return dict(schema) if "type" in schema else {"type": "object", **schema}


def native(schema: Mapping[str, Any]) -> Schema:
    """`schema` in the subset."""
    out: Schema = {}
    said: list[str] = []
    for name, value in schema.items():
        if name in _DROPPED:
            continue
        if (
            name in _LIMITS
            or _wrong_format(name, value)
            or (name == "minItems" and value not in (0, 1))
        ):
            said.append(f"{name}: {json.encode(value).decode()}")
        elif name == "oneOf":
            out["anyOf"] = [_nested(item) for item in value]
        elif name in _LISTS and isinstance(value, list):
            out[name] = [_nested(item) for item in value]
        elif name in _TABLES and isinstance(value, dict):
            out[name] = {key: _nested(item) for key, item in value.items()}
        elif name in ("items", "not", "if", "then", "else"):
            out[name] = _nested(value)
        else:
            out[name] = value
    if out.get("type") == "object" or "properties" in out:
        out["additionalProperties"] = False
    if said:
        known = out.get("description")
        told = "; ".join(said)
        out["description"] = f"{known} ({told})" if isinstance(known, str) and known else told
    return out


def recursive(schema: object) -> bool:
    """Whether a definition refers to itself, which the subset refuses."""
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


def _nested(value: Any) -> Any:
    return native(value) if isinstance(value, dict) else value


def _wrong_format(name: str, value: object) -> bool:
    return name == "format" and value not in _FORMATS
