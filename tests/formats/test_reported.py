"""Names of dropped fields never carry a caller's text."""

from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.reported import UNKNOWN, reported


def test_known_names_are_told_once() -> None:
    assert reported(["top_k", "prediction", "top_k"]) == ("top_k", "prediction")


@given(st.lists(st.text()))
def test_other_names_become_one_word(names: list[str]) -> None:
    odd = [f"x-{name}" for name in names]
    assert reported(odd) == ((UNKNOWN,) if odd else ())
