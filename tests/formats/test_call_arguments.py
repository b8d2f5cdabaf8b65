"""The arguments of a call: whether they are all there, and as an object."""

import pytest

from zurelay.formats.call_arguments import as_object, complete


@pytest.mark.parametrize(
    ("arguments", "is_whole"),
    [("{}", True), ('{"a":{}', False), ('{"a":{}} ', True), ("", False), ('{"a":"}', False)],
)
def test_a_call_is_complete_when_its_json_is(arguments: str, is_whole: bool) -> None:
    assert complete(arguments) is is_whole


@pytest.mark.parametrize(
    ("arguments", "raw"),
    [
        (' {"b": 1,  "a":2}\n', b'{"b": 1,  "a":2}'),
        ("[1]", b"{}"),
        ('{"a":', b"{}"),
        ("", b"{}"),
        ('{"a":"\ud83d"}', b"{}"),
    ],
)
def test_an_object_keeps_its_own_bytes_and_anything_else_is_empty(
    arguments: str, raw: bytes
) -> None:
    assert bytes(as_object(arguments)) == raw
