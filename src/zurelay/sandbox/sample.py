"""A small value that fits a JSON schema, for answers and tool arguments.

Knows the keywords that tool and answer schemas use in practice. `pattern`, `not` and conditional
keywords are left alone: a value for them cannot be found by construction.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any, TypeGuard

_DEEP = 6
"""From this depth on only what is required is filled in."""
_DEEPEST = 40
_MOST_ITEMS = 100
_MOST_VALUES = 2_000
_MOST_CHARACTERS = 1_000

_FORMATS = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def sample(schema: object) -> Any:
    """A value that fits `schema`. Every declared property is filled in, none is invented."""
    return _Sampler(schema).value(schema, 0)


class _Sampler:
    """Walks one schema; counts the values it makes, so that no schema can ask for millions."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._left = _MOST_VALUES

    def value(self, schema: object, depth: int) -> Any:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > _DEEPEST or self._left < 0:
            return "text" if schema is True else None
        schema = _resolved(schema, self._root)
        if "const" in schema:
            return schema["const"]
        options = schema.get("enum")
        if _listed(options) and options:
            return options[0]
        for word in ("anyOf", "oneOf"):
            branches = schema.get(word)
            if _listed(branches) and branches:
                rest = {key: value for key, value in schema.items() if key != word}
                return self.value(_merged(rest, _branch(branches, depth)), depth + 1)
        return self._typed(schema, depth)

    def _typed(self, schema: Mapping[str, Any], depth: int) -> Any:
        match _type(schema, depth):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "integer":
                return int(_number(schema, whole=True))
            case "number":
                return _number(schema, whole=False)
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return _string(schema)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        declared = schema.get("properties")
        properties: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
        needed = schema.get("required")
        required = [name for name in needed if isinstance(name, str)] if _listed(needed) else []
        names = [name for name in properties if depth < _DEEP or name in required]
        names += [name for name in required if name not in properties]
        return {name: self.value(properties.get(name, True), depth + 1) for name in names}

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        least = _whole(schema.get("minItems"), 0)
        most = _whole(schema.get("maxItems"), _MOST_ITEMS)
        wanted = least if depth >= _DEEP else max(least, 1)
        prefix = schema.get("prefixItems")
        places = list(prefix) if _listed(prefix) else []
        wanted = min(max(wanted, len(places)), most, _MOST_ITEMS)
        items = schema.get("items", True)
        if items is False:
            wanted = min(wanted, len(places))
        places += [items] * (wanted - len(places))
        return [self.value(place, depth + 1) for place in places[:wanted]]


def _branch(branches: Sequence[Any], depth: int) -> Any:
    """The first branch; deep down the first that ends, so that recursive schemas do."""
    if depth >= _DEEP:
        for branch in branches:
            if isinstance(branch, Mapping) and branch.get("type") == "null":
                return branch
        for branch in branches:
            if isinstance(branch, Mapping) and "$ref" not in branch:
                return branch
    return branches[0]


def _type(schema: Mapping[str, Any], depth: int) -> str:
    named = schema.get("type")
    if isinstance(named, Sequence) and not isinstance(named, str) and named:
        named = "null" if depth >= _DEEP and "null" in named else named[0]
    if isinstance(named, str):
        return named
    if "properties" in schema or "required" in schema or "additionalProperties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    if "minimum" in schema or "maximum" in schema or "multipleOf" in schema:
        return "number"
    return "string"


def _number(schema: Mapping[str, Any], *, whole: bool) -> int | float:
    """The number nearest to 1 inside the bounds."""
    try:
        return _bounded(schema, whole=whole)
    except OverflowError:  # bounds at the edge of what a float can hold
        return 1


def _bounded(schema: Mapping[str, Any], *, whole: bool) -> int | float:
    step = _finite(schema.get("multipleOf"), 0) or (1 if whole else 0)
    low = _finite(schema.get("minimum"), None)
    high = _finite(schema.get("maximum"), None)
    above = _finite(schema.get("exclusiveMinimum"), None)
    below = _finite(schema.get("exclusiveMaximum"), None)
    if step:
        lows = [ceil(low / step) if low is not None else None]
        lows.append(floor(above / step) + 1 if above is not None else None)
        highs = [floor(high / step) if high is not None else None]
        highs.append(ceil(below / step) - 1 if below is not None else None)
        return _between(lows, highs) * step
    gap = 0.5
    if above is not None and below is not None:
        gap = (below - above) / 2
    return _between(
        [low, above + gap if above is not None else None],
        [high, below - gap if below is not None else None],
    )


def _between(lows: Sequence[float | None], highs: Sequence[float | None]) -> int | float:
    low = max((bound for bound in lows if bound is not None), default=None)
    high = min((bound for bound in highs if bound is not None), default=None)
    if low is not None and low > 1:
        return low
    if high is not None and high < 1:
        return high
    return 1


def _string(schema: Mapping[str, Any]) -> str:
    named = schema.get("format")
    text = _FORMATS.get(named, "text") if isinstance(named, str) else "text"
    least = min(_whole(schema.get("minLength"), 0), _MOST_CHARACTERS)
    most = _whole(schema.get("maxLength"), _MOST_CHARACTERS)
    return text.ljust(least, "x")[:most] if least > len(text) or most < len(text) else text


def _resolved(schema: Mapping[str, Any], root: object) -> Mapping[str, Any]:
    """`schema` with its reference followed and `allOf` laid together, a bounded number of times."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            schema = _merged(rest, _at(reference, root))
            continue
        parts = schema.get("allOf")
        if not _listed(parts):
            break
        rest = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            rest = _merged(rest, part)
        schema = rest
    return schema


def _at(reference: str, root: object) -> object:
    """What a local reference such as `#/$defs/city` points at; an empty schema if nothing."""
    place = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        place = place.get(name) if isinstance(place, Mapping) else None
    return place


def _merged(one: Mapping[str, Any], other: object) -> dict[str, Any]:
    """Both schemas at once: properties and required joined, the rest of `other` added."""
    if not isinstance(other, Mapping):
        return dict(one)
    both = {**other, **one}
    if isinstance(one.get("properties"), Mapping) and isinstance(other.get("properties"), Mapping):
        both["properties"] = {**other["properties"], **one["properties"]}
    if _listed(one.get("required")) and _listed(other.get("required")):
        both["required"] = [*one["required"], *other["required"]]
    return both


def _listed(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _whole(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and value >= 0 else otherwise


def _finite(value: object, otherwise: float | None) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return otherwise
