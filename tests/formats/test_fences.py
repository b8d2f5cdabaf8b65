"""JSON out of a code fence."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.fences import FenceStripper, stripped


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('\n```\n{"a": 1}\n```\n', '{"a": 1}'),
        ('```JSON\r\n{"a": "```"}\r\n```', '{"a": "```"}'),
        ("`code`", "`code`"),
        ("```", "```"),
        ("", ""),
        ("```json\n{", "{"),
    ],
)
def test_a_fence_goes_and_nothing_else(text: str, bare: str) -> None:
    assert stripped(text).strip() == bare


@given(
    st.lists(st.sampled_from(["```", "`", "json", "\n", " ", "{", "x", "\r\n"]), max_size=12),
    st.data(),
)
def test_any_cutting_gives_the_same(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    places = [0, *cuts, len(text)]
    stripper = FenceStripper()
    out = "".join(stripper.push(text[a:b]) for a, b in itertools.pairwise(places))
    assert out + stripper.flush() == stripped(text)
