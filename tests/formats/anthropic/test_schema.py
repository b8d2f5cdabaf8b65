"""Schemas in Claude's subset."""

from typing import Any

import pytest

from zurelay.formats.anthropic.schema import native, parameters, recursive


def test_limits_go_into_the_description() -> None:
    schema = {
        "$schema": "x",
        "type": "object",
        "description": "D",
        "minProperties": 1,
        "properties": {
            "a": {"type": "string", "pattern": "^a", "maxLength": 3, "format": "email"},
            "b": {"oneOf": [{"type": "object", "properties": {}}, {"type": "null"}]},
            "c": {"type": "array", "minItems": 2, "items": {"type": "string", "format": "odd"}},
            "d": {"type": "array", "minItems": 1},
            "minimum": {"type": "integer"},
        },
        "$defs": {"e": {"type": "object", "properties": {}, "additionalProperties": True}},
    }
    assert native(schema) == {
        "type": "object",
        "description": "D (minProperties: 1)",
        "properties": {
            "a": {
                "type": "string",
                "format": "email",
                "description": 'pattern: "^a"; maxLength: 3',
            },
            "b": {
                "anyOf": [
                    {"type": "object", "properties": {}, "additionalProperties": False},
                    {"type": "null"},
                ]
            },
            "c": {
                "type": "array",
                "items": {"type": "string", "description": 'format: "odd"'},
                "description": "minItems: 2",
            },
            "d": {"type": "array", "minItems": 1},
            "minimum": {"type": "integer"},
        },
        "$defs": {"e": {"type": "object", "properties": {}, "additionalProperties": False}},
        "additionalProperties": False,
    }


def test_a_schema_in_the_subset_stays_and_the_input_is_not_changed() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}
    assert native(schema) == schema
    limited = {"type": "integer", "minimum": 1}
    native(limited)
    assert limited == {"type": "integer", "minimum": 1}


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "object"}, False),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "null"}}}, False),
        ({"properties": {"next": {"$ref": "#"}}}, True),
        ({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, True),
        ({"$defs": {"a": {"items": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}, True),
    ],
)
def test_recursion_is_seen(schema: dict[str, Any], found: bool) -> None:
    assert recursive(schema) is found


def test_parameters_are_always_an_object() -> None:
    assert parameters(None) == {"type": "object", "properties": {}}
    assert parameters({}) == {"type": "object", "properties": {}}
    assert parameters({"properties": {"a": {}}}) == {"type": "object", "properties": {"a": {}}}
    assert parameters({"type": "object"}) == {"type": "object"}
