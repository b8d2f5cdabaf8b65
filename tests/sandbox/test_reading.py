import msgspec
import pytest

from zurelay.chat.problems import Refused
from zurelay.sandbox.draft import THINKING_TOKENS
from zurelay.sandbox.reading import decoded, level_of_budget, mapping, string

DECODER = msgspec.json.Decoder(dict[str, list[int]])


@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        (b"{", "invalid_json", None),
        (b"\xff", "invalid_json", None),
        (b"[]", "invalid_json", None),
        (b'{"a": [1, "x"]}', "invalid_value", "[...][1]"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(body: bytes, code: str, param: str | None) -> None:
    with pytest.raises(Refused) as caught:
        decoded(DECODER, body)
    assert (caught.value.problem.code, caught.value.problem.param) == (code, param)


def test_what_is_no_object_is_read_as_an_empty_one() -> None:
    assert mapping({"a": 1}) == {"a": 1}
    assert mapping(None) == mapping("x") == {}
    assert string({"a": "x", "b": 1}, "a") == "x"
    assert string({"a": "x", "b": 1}, "b") is None


def test_a_larger_budget_is_a_higher_level() -> None:
    levels = [level_of_budget(tokens) for tokens in (0, 1024, 4096, 8192, 16_384, 60_000)]
    assert levels == list(THINKING_TOKENS)[:6]
