"""Names of functions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.gemini.names import legal, renamed


@pytest.mark.parametrize("name", ["f", "_x", "a.b:c-d", "A" * 128])
def test_a_legal_name_stays(name: str) -> None:
    assert legal(name) == name


@given(st.text(min_size=1, max_size=200))
def test_every_name_becomes_legal_and_the_way_back_is_known(name: str) -> None:
    new = legal(name)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", new)
    assert renamed([name]).get(new, new) == name


def test_names_that_read_alike_stay_apart() -> None:
    assert legal("a b") != legal("a/b")
    assert legal("a b") == legal("a b")
