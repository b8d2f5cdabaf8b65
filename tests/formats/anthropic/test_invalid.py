"""Words for what is wrong, in Messages' own fields."""

import msgspec
import pytest

from zurelay.formats.anthropic.invalid import RIGHT, invalid, missing, of_decoder
from zurelay.formats.anthropic.view import REQUEST


@pytest.mark.parametrize("path", RIGHT)
def test_every_field_has_its_words(path: str) -> None:
    place = path.replace("[]", "[0]")
    assert RIGHT[path] in invalid(place, "x").message
    assert RIGHT[path] in missing(place).message


def test_the_decoders_errors_are_told_in_these_words() -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        REQUEST.decode(b'{"thinking":{"type":5}}')
    problem = of_decoder(caught.value)
    assert problem.param == "thinking.type"
    assert RIGHT["thinking.type"] in problem.message
