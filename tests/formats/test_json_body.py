"""Bodies that are JSON objects, and all others."""

import pytest

from zurelay.chat.problems import Refused
from zurelay.formats import json_body


def test_fields_keep_their_bytes() -> None:
    found = json_body.fields(b'{"a": 1.0, "b": [ ]}')
    assert {name: bytes(raw) for name, raw in found.items()} == {"a": b"1.0", "b": b"[ ]"}


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"1", b"{", b'{"a": "\xff"}', b'{"a":' + b"[" * 101 + b"]" * 101 + b"}"]
)
def test_all_else_is_refused_with_a_reason(body: bytes) -> None:
    with pytest.raises(Refused) as caught:
        json_body.fields(body)
    problem = caught.value.problem
    assert (problem.status, problem.code) == (400, "invalid_json")
    assert problem.message.startswith("The body must be a JSON object: ")
