"""JSON schemas in this format's dialect."""

from typing import Any

import pytest

from zurelay.formats.gemini.schema import adjusted


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
    assert adjusted(schema) == sent


def test_all_of_is_laid_into_what_is_around_wherever_it_stands() -> None:
    part = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}
    rest = {"properties": {"b": {}}, "required": ["b"], "description": "d"}
    wanted = {
        "type": "object",
        "properties": {"a": {"enum": [1]}, "b": {}},
        "description": "d",
    }
    first, last = adjusted({"allOf": [part], **rest}), adjusted({**rest, "allOf": [part]})
    for found in (first, last):
        assert set(found.pop("required")) == {"a", "b"}
        assert found == wanted


def test_names_of_properties_and_values_are_no_keywords() -> None:
    schema = {
        "properties": {"const": {"type": "string"}, "$schema": {"type": "string"}},
        "enum": [{"const": 1}],
        "default": {"oneOf": [1]},
    }
    assert adjusted(schema) == schema


def test_the_callers_schema_is_left_as_it_is() -> None:
    schema = {"allOf": [{"properties": {"a": {}}}], "properties": {"b": {}}, "required": ["b"]}
    before = repr(schema)
    adjusted(schema)
    assert repr(schema) == before
