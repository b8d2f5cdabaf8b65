"""The typed views over a caller's bytes."""

from zurelay.formats.anthropic.view import BLOCKS, REQUEST, SOURCE


def test_null_counts_as_left_out_and_unknown_fields_are_skipped() -> None:
    view = REQUEST.decode(b'{"model":null,"system":null,"tools":null,"new":{"a":[1]}}')
    assert (view.model, view.system, view.tools) == (None, None, None)


def test_blocks_of_any_type_are_taken() -> None:
    blocks = BLOCKS.decode(b'[{"type":"new","content":{"a":1},"source":"s"}]')
    assert not isinstance(blocks, str)
    assert bytes(blocks[0].content) == b'{"a":1}'
    assert BLOCKS.decode(b'"text"') == "text"


def test_sources() -> None:
    assert SOURCE.decode(b'{"type":"url","url":"u"}').url == "u"
