"""Schemas in the providers' dialects."""

from typing import Any

import pytest

from zurelay.formats.schema import claude, gemini, parameters, recursive


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
    assert claude(schema) == {
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
    assert claude(schema) == schema
    limited = {"type": "integer", "minimum": 1}
    claude(limited)
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


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (
            {"type": ["object", "null"]},
            {"type": ["object", "null"], "additionalProperties": False},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
            {"type": "object", "additionalProperties": False},
        ),
        ({"oneOf": 3}, {"anyOf": 3}),
        ({"not": {"type": "null"}}, {"description": 'not: {"type":"null"}'}),
        ({"enum": [{"minimum": 1}]}, {"enum": [{"minimum": 1}]}),
        ({"const": {"pattern": "x"}}, {"const": {"pattern": "x"}}),
        ({"anyOf": [{"maxLength": 2}, True]}, {"anyOf": [{"description": "maxLength: 2"}, True]}),
        ({"$comment": "c", "$id": "i"}, {}),
    ],
)
def test_claude_gets_only_what_its_subset_has(schema: dict[str, Any], sent: dict[str, Any]) -> None:
    assert claude(schema) == sent


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"$schema": "x", "type": "string"}, {"type": "string"}),
        ({"const": 3}, {"enum": [3]}),
        ({"oneOf": [{"const": "a"}, True]}, {"anyOf": [{"enum": ["a"]}, True]}),
        ({"oneOf": [{}], "anyOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}),
        ({"items": {"oneOf": [{}]}}, {"items": {"anyOf": [{}]}}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"$schema": "x", "const": 1}}},
            {"$ref": "#/$defs/a", "$defs": {"a": {"enum": [1]}}},
        ),
    ],
)
def test_what_the_dialect_lacks_is_written_in_other_words(
    schema: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert gemini(schema) == sent


def test_all_of_is_laid_into_what_is_around_wherever_it_stands() -> None:
    part = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}
    rest = {"properties": {"b": {}}, "required": ["b"], "description": "d"}
    wanted = {
        "type": "object",
        "properties": {"a": {"enum": [1]}, "b": {}},
        "description": "d",
    }
    first, last = gemini({"allOf": [part], **rest}), gemini({**rest, "allOf": [part]})
    for found in (first, last):
        assert set(found.pop("required")) == {"a", "b"}
        assert found == wanted


def test_names_of_properties_and_values_are_no_keywords() -> None:
    schema = {
        "properties": {"const": {"type": "string"}, "$schema": {"type": "string"}},
        "enum": [{"const": 1}],
        "default": {"oneOf": [1]},
    }
    assert gemini(schema) == schema


def test_the_callers_schema_is_left_as_it_is_for_gemini() -> None:
    schema = {"allOf": [{"properties": {"a": {}}}], "properties": {"b": {}}, "required": ["b"]}
    before = repr(schema)
    gemini(schema)
    assert repr(schema) == before
