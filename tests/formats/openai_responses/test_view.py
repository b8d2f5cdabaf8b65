"""Views look at what they know and let the rest be."""

import msgspec
import pytest

from zurelay.formats.openai_responses.view import CALL, KIND, REQUEST


def test_items_are_bytes_until_their_type_is_known() -> None:
    view = REQUEST.decode(b'{"model":"m","input":[{"type":"new","call_id":7}],"x":1}')
    assert isinstance(view.input, list)
    assert KIND.decode(view.input[0]).type == "new"
    with pytest.raises(msgspec.ValidationError, match="call_id"):
        CALL.decode(view.input[0])


def test_null_counts_as_left_out() -> None:
    fields = ("input", "instructions", "tools", "tool_choice", "text", "reasoning", "metadata")
    body = b"{" + b",".join(b'"%s":null' % name.encode() for name in fields) + b"}"
    view = REQUEST.decode(body)
    assert all(getattr(view, name) is None for name in fields)
