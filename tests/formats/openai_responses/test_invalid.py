"""Where a decoder's complaint about one item stands in the whole body."""

import msgspec
import pytest

from zurelay.formats.openai_responses.invalid import of_decoder
from zurelay.formats.openai_responses.view import MESSAGE


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        (b'{"content":7}', "input[3].content"),
        (b'{"content":[{"type":"a"},{}]}', "input[3].content[1].type"),
        (b"7", "input[3]"),
    ],
)
def test_the_path_begins_where_the_item_stands(raw: bytes, param: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        MESSAGE.decode(raw)
    problem = of_decoder(caught.value, "input[3]")
    assert problem.param == param
    assert problem.status == 400
