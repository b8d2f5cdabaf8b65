from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.sandbox.sample import sample


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "string", "maxLength": 2}, "te"),
        ({"type": "string", "format": "date"}, "2026-01-31"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 7}, 7),
        ({"type": "integer", "minimum": 6.5}, 7),
        ({"type": "integer", "exclusiveMinimum": 7}, 8),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "integer", "exclusiveMaximum": -3}, -4),
        ({"type": "integer", "minimum": 4, "multipleOf": 5}, 5),
        ({"type": "number", "exclusiveMinimum": 2, "exclusiveMaximum": 3}, 2.5),
        ({"type": "number", "maximum": 0.25}, 0.25),
        ({"type": "number", "minimum": 1e308, "multipleOf": 1e-308}, 1),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["string", "null"]}, "text"),
        ({"const": "fixed"}, "fixed"),
        ({"enum": ["celsius", "fahrenheit"]}, "celsius"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, "a"),
        ({"allOf": [{"type": "integer"}, {"minimum": 5}]}, 5),
        ({"type": "array", "items": {"type": "integer"}}, [1]),
        ({"type": "array", "items": {"const": 0}, "minItems": 3}, [0, 0, 0]),
        ({"type": "array", "maxItems": 0}, []),
        ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": False}, [1, 2]),
        ({"items": {"const": 1}}, [1]),
        ({"minimum": 4}, 4),
        ({}, "text"),
        (True, "text"),
        (
            {"type": "object", "properties": {"city": {"type": "string"}, "n": {"const": 2}}},
            {"city": "text", "n": 2},
        ),
        ({"required": ["name"]}, {"name": "text"}),
        ({"type": "object"}, {}),
        (
            {"$ref": "#/$defs/place", "$defs": {"place": {"properties": {"x": {"const": 1}}}}},
            {"x": 1},
        ),
        (
            {
                "properties": {"a/b": {"$ref": "#/definitions/a~1b"}},
                "definitions": {"a/b": {"const": 3}},
            },
            {"a/b": 3},
        ),
        (
            {
                "anyOf": [{"required": ["kind"]}],
                "type": "object",
                "properties": {"kind": {"const": "k"}},
            },
            {"kind": "k"},
        ),
    ],
)
def test_a_sample_fits_its_schema(schema: Any, expected: object) -> None:
    assert sample(schema) == expected


def test_a_schema_that_contains_itself_comes_to_an_end() -> None:
    node: dict[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
            "children": {"type": "array", "items": {"$ref": "#"}},
        },
        "required": ["name", "next", "children"],
    }
    place = sample(node)
    depth = 0
    while place["next"] is not None:
        place = place["next"]
        depth += 1
    assert 0 < depth < 10


def size(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(size, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(size, value))
    return 1


def test_no_schema_makes_a_huge_value() -> None:
    endless = {
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}},
        "required": ["left", "right"],
    }
    assert size(sample(endless)) < 10_000
    wide: dict[str, Any] = {"type": "string"}
    for _ in range(6):
        wide = {"type": "array", "items": wide, "minItems": 1_000_000}
    assert size(sample(wide)) < 500_000
    assert sample({"$ref": "#"}) == "text"
    assert sample({"allOf": [{"$ref": "#"}], "type": "integer"}) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
KEYWORDS = st.dictionaries(
    st.sampled_from(
        [
            "type",
            "enum",
            "const",
            "anyOf",
            "oneOf",
            "allOf",
            "$ref",
            "properties",
            "required",
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "format",
        ]
    ),
    JSON | st.sampled_from(["object", "array", "integer", "number", "string", "#"]),
)


@given(KEYWORDS)
def test_no_schema_is_too_strange(schema: Mapping[str, Any]) -> None:
    sample(schema)
