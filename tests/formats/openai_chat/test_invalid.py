"""A decoder's words become a path and a sentence."""

import msgspec
import pytest

from zurelay.formats.openai_chat.invalid import RIGHT, invalid, missing, of_decoder, words


@pytest.mark.parametrize(
    ("told", "param", "code", "says"),
    [
        (
            "Expected `int | null`, got `bool` - at `$.n`",
            "n",
            "invalid_value",
            "from 1 to 128, but got true or false",
        ),
        (
            "Object missing required field `role` - at `$.messages[3]`",
            "messages[3].role",
            "missing_required_parameter",
            "'system'",
        ),
        ("Expected `str`, got `int` - at `$.metadata[...]`", "metadata", "invalid_value", "pairs"),
        (
            "Expected `str | null`, got `array` - at `$.messages[0].name`",
            "messages[0].name",
            "invalid_value",
            "expected a string, but got a list",
        ),
        ("Number out of range - at `$.top_p`", "top_p", "invalid_value", "from 0 to 1"),
        ("Expected `object`, got `array`", None, "invalid_json", "it is a list"),
    ],
)
def test_paths_and_sentences(told: str, param: str | None, code: str, says: str) -> None:
    problem = of_decoder(msgspec.ValidationError(told))
    assert (problem.param, problem.code) == (param, code)
    assert says in problem.message
    assert "`" not in problem.message


def test_every_sentence_reads_well() -> None:
    assert words(("a", "b", "c")) == "'a', 'b' or 'c'"
    assert words(("a",)) == "'a'"
    for path, right in RIGHT.items():
        assert right[0].islower() or right[0] == "'"
        assert not right.endswith(".")
        assert right in invalid(path).message
        assert right in missing(path).message


def test_a_path_without_a_rule_is_still_told() -> None:
    assert invalid("x.y").message == "Invalid 'x.y'."
    assert missing("x.y").message == "Missing required parameter: 'x.y'."
