"""Typed views: null is left out, unknown fields are skipped, bytes are not copied."""

import msgspec
import pytest
from msgspec import Raw

from zurelay.formats.openai_chat.view import REQUEST, given, size


def test_null_and_absence_are_the_same_and_unknown_fields_are_skipped() -> None:
    view = REQUEST.decode(b'{"model":"m","messages":null,"n":null,"x":[1,{"y":2}]}')
    assert (view.model, view.messages, view.n, view.stop) == ("m", None, None, None)


@pytest.mark.parametrize("body", [b'{"n":true}', b'{"n":1.0}', b'{"n":"1"}', b'{"stream":1}'])
def test_types_are_strict(body: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        REQUEST.decode(body)


def test_only_null_counts_as_not_given() -> None:
    assert not given(Raw(b"null"))
    assert all(given(Raw(text)) for text in (b"true", b"0", b'""', b"[]", b'"null"'))
    assert size(Raw(b"[1, 2]")) == 6
